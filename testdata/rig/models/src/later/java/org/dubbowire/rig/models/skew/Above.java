package org.dubbowire.rig.models.skew;

import java.io.Serializable;

public class Above implements Serializable {
    private static final long serialVersionUID = 1L;
    private int id;
    private boolean active;
    private String name;
}
