package org.dubbowire.rig.models.skew;

import java.io.Serializable;
import java.util.List;

public class FieldAddedLast implements Serializable {
    private static final long serialVersionUID = 1L;
    private int number;
    private String text;
    private List<String> values;
}
