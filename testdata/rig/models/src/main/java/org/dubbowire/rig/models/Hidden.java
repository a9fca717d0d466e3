package org.dubbowire.rig.models;

import java.io.Serializable;

/** Its constructor is private. */
public class Hidden implements Serializable {
    private int number;
    private String text;

    private Hidden() {
    }
}
