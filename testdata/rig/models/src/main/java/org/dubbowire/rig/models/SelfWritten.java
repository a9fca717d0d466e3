package org.dubbowire.rig.models;

import java.io.Serializable;

/** Classes that have a say in how they are written. */
public class SelfWritten implements Serializable {
    private External external;
    private Written written;
    private WrittenBelow below;
    private Defaulted defaulted;
    private Replaced replaced;
    private Single single;
    private String last;
}
