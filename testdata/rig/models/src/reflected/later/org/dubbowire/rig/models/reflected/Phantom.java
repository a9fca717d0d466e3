package org.dubbowire.rig.models.reflected;

import java.io.Serializable;

/** A type variable that no field has. */
public class Phantom<T> implements Serializable {
    private String tag;
}
