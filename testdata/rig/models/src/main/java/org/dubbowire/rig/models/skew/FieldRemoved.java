package org.dubbowire.rig.models.skew;

import java.io.Serializable;
import org.dubbowire.rig.models.Color;

public class FieldRemoved implements Serializable {
    private static final long serialVersionUID = 1L;
    private Color color;
    private long count;
    private String gone;
    private String text;
}
