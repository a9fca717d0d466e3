package org.dubbowire.rig.models;

import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;

public class Scalars implements Serializable {
    public static int instances = 3;
    private static final long serialVersionUID = 4L;
    private boolean flag;
    private boolean another;
    private byte tiny;
    private char letter;
    private short small;
    private int number;
    private long large;
    private float real;
    private double exact;
    private Boolean boxedFlag;
    private Byte boxedTiny;
    private Character boxedLetter;
    private Short boxedSmall;
    private Integer boxedNumber;
    private Long boxedLarge;
    private Float boxedReal;
    private Double boxedExact;
    private String text;
    private BigDecimal decimal;
    private BigInteger integer;
    private Number some;
    private CharSequence letters;
    private transient String hidden;
    private transient int hiddenNumber;
    private volatile long counter;
    private final int fixed;
    private final String constant = "constant";

    public Scalars() {
        fixed = 1;
    }
}
