package org.dubbowire.rig.skew;

import java.io.Serializable;

/** The version of the provider: the weight is a number. */
public class Shipment implements Serializable {
    private static final long serialVersionUID = 1L;
    private String carrier;
    private boolean express;
    private double weight;
    private Integer zone;

    public static Shipment sample(int id) {
        Shipment s = new Shipment();
        s.carrier = "Carrier " + id;
        s.express = id % 2 == 0;
        s.weight = id * 1.5;
        s.zone = id;
        return s;
    }
}
