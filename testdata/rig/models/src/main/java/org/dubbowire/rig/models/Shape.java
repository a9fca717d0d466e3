package org.dubbowire.rig.models;

import java.io.Serializable;

public interface Shape extends Serializable {
    double area();
}
