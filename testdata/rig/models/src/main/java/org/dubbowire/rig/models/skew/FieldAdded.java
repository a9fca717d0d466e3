package org.dubbowire.rig.models.skew;

import java.io.Serializable;

/** Gets a field between the others. */
public class FieldAdded implements Serializable {
    private static final long serialVersionUID = 1L;
    private String name;
    private int number;
    private String text;
}
