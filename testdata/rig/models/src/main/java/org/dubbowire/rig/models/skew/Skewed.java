package org.dubbowire.rig.models.skew;

import java.io.Serializable;
import java.util.List;

/** Others inside one that does not change. */
public class Skewed implements Serializable {
    private static final long serialVersionUID = 1L;
    private List<FieldAdded> added;
    private FieldAddedLast last;
    private MadeFinal madeFinal;
    private FieldMoved moved;
    private String name;
}
