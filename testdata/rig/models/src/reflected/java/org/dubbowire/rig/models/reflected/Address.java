package org.dubbowire.rig.models.reflected;

import java.io.Serializable;

/** All fields have one type: nothing but other bodies tells their order. */
public class Address implements Serializable {
    private String street;
    private String city;
    private String country;
}
