package org.dubbowire.rig.models.reflected;

public class Square implements Shape {
    private double side;
    private float turn;
}
