package org.dubbowire.rig.models;

public class Ring extends Circle {
    private double inner;
    private Circle hole;
}
