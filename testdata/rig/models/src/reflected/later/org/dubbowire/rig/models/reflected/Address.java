package org.dubbowire.rig.models.reflected;

import java.io.Serializable;

/** A field more. */
public class Address implements Serializable {
    private String street;
    private int number;
    private String city;
    private String country;
}
