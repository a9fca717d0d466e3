package org.dubbowire.rig.models.skew;

import java.io.Serializable;

public class FieldAdded implements Serializable {
    private static final long serialVersionUID = 1L;
    private String name;
    private String note;
    private int number;
    private String text;
}
