package org.dubbowire.rig.models;

/** Shadows a field twice, with another type. */
public final class Leaf extends Middle {
    private int name;
    private Double value;
    private Color aLast;
    private Middle other;
}
