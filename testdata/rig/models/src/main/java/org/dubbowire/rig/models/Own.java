package org.dubbowire.rig.models;

import java.io.Serializable;

/** Collections of the application's own. */
public class Own implements Serializable {
    private Names names;
    private Tags tags;
    private Index index;
    private Sorted sorted;
    private Sequence sequence;
    private int last;
}
