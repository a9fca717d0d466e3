package org.dubbowire.rig.models;

public class Circle implements Shape {
    protected double radius;
    private Color color;

    @Override
    public double area() {
        return radius * radius * Math.PI;
    }
}
