package org.dubbowire.rig.models;

import java.io.Serializable;

/** There is one of them. */
public class Single implements Serializable {
    public static final Single INSTANCE = new Single();
    private String text = "single";

    private Object readResolve() {
        return INSTANCE;
    }
}
