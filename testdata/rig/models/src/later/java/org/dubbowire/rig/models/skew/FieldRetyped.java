package org.dubbowire.rig.models.skew;

import java.io.Serializable;

public class FieldRetyped implements Serializable {
    private static final long serialVersionUID = 1L;
    private long amount;
    private int code;
    private Long count;
    private String[] texts;
}
