package org.dubbowire.rig.models;

import java.io.Serializable;
import java.util.List;

public abstract class Base implements Serializable {
    private int id;
    private String name;
    protected List<String> tags;
    private boolean active;
}
