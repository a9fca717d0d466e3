package org.dubbowire.rig.models.reflected;

public class Middle extends Base {
    private double rate;
    private String middle;
}
