package org.dubbowire.rig.models.skew;

/** A field moves to the superclass. */
public class FieldMoved extends Above {
    private static final long serialVersionUID = 1L;
    private String name;
    private long value;
}
