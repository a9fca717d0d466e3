package org.dubbowire.rig.skew;

import java.io.Serializable;

/** The version of the consumer: the weight is a text. */
public class Shipment implements Serializable {
    private static final long serialVersionUID = 1L;
    private String carrier;
    private boolean express;
    private String weight;
    private Integer zone;

    public static Shipment sample(int id) {
        Shipment s = new Shipment();
        s.carrier = "Carrier " + id;
        s.express = id % 2 == 0;
        s.weight = id + ".5 kg";
        s.zone = id;
        return s;
    }
}
