package org.dubbowire.rig.models.skew;

import java.io.Serializable;

public final class MadeFinal implements Serializable {
    private static final long serialVersionUID = 1L;
    private int number;
    private String text;
}
