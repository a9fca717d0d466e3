package org.dubbowire.rig.models.skew;

import java.io.Serializable;

/** Its first field becomes the last one in the order of names. */
public class FieldRenamed implements Serializable {
    private static final long serialVersionUID = 1L;
    private String address;
    private int number;
    private double price;
}
