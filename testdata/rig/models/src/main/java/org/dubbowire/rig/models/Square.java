package org.dubbowire.rig.models;

public final class Square implements Shape {
    private float side;
    private String label;

    @Override
    public double area() {
        return side * side;
    }
}
