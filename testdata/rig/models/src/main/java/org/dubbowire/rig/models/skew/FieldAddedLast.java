package org.dubbowire.rig.models.skew;

import java.io.Serializable;

/** Gets a field after the others. */
public class FieldAddedLast implements Serializable {
    private static final long serialVersionUID = 1L;
    private int number;
    private String text;
}
