package org.dubbowire.rig.models.skew;

import java.io.Serializable;

public class FieldRenamed implements Serializable {
    private static final long serialVersionUID = 1L;
    private String place;
    private int number;
    private double price;
}
