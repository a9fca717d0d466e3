package org.dubbowire.rig.edge;

import java.io.Serializable;
import lombok.Getter;
import lombok.Setter;

/** Every primitive and its box. */
@Getter
@Setter
public class Primitives implements Serializable {
    private static final long serialVersionUID = 1L;
    private boolean z;
    private byte b;
    private short s;
    private char c;
    private int i;
    private long l;
    private float f;
    private double d;
    private Boolean boxZ;
    private Byte boxB;
    private Short boxS;
    private Character boxC;
    private Integer boxI;
    private Long boxL;
    private Float boxF;
    private Double boxD;
}
