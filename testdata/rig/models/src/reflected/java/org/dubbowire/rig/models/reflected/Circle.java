package org.dubbowire.rig.models.reflected;

public class Circle implements Shape {
    private int radius;
    private String label;
}
