package org.dubbowire.rig.models;

public class Middle extends Base {
    private String name;
    private long value;
    private boolean active;
}
