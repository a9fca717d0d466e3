package org.dubbowire.rig.models.annotated;

import java.io.Serializable;

public class Entry implements Serializable {
    private String name;
    private long amount;
    private Mode mode;
}
