package org.dubbowire.rig.models.skew;

import java.io.Serializable;

/** Becomes final. */
public class MadeFinal implements Serializable {
    private static final long serialVersionUID = 1L;
    private int number;
    private String text;
}
