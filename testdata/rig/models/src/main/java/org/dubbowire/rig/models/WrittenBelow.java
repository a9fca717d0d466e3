package org.dubbowire.rig.models;

/** A subclass of one that writes itself. */
public class WrittenBelow extends Written {
    private Color color;
    private boolean flag;
    private Circle circle;
}
