package org.dubbowire.rig.models.reflected;

import java.io.Serializable;

public class Coordinates implements Serializable {
    private int latitude;
    private int longitude;

    @Override
    public String toString() {
        return latitude + ";" + longitude;
    }
}
