package org.dubbowire.rig.models;

import java.io.Serializable;
import java.util.List;

public class Box<T> implements Serializable {
    protected T content;
    protected List<T> more;
    private int size;
}
