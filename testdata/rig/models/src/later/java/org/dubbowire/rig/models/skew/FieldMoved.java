package org.dubbowire.rig.models.skew;

public class FieldMoved extends Above {
    private static final long serialVersionUID = 1L;
    private long value;
}
