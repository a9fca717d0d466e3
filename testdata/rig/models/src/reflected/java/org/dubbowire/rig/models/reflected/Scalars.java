package org.dubbowire.rig.models.reflected;

import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;

/** Not in the order of the names, in which Avro writes fields since 1.10. */
public class Scalars implements Serializable {
    private static final long serialVersionUID = 1L;
    private boolean zero;
    private byte tiny;
    private short small;
    private char letter;
    private int number;
    private long large;
    private float real;
    private double exact;
    private Boolean boxedZero;
    private Byte boxedTiny;
    private Short boxedSmall;
    private Character boxedLetter;
    private Integer boxedNumber;
    private Long boxedLarge;
    private Float boxedReal;
    private Double boxedExact;
    private String text;
    private CharSequence letters;
    private BigDecimal decimal;
    private BigInteger big;
    private Mode mode;
    private transient String hidden;
    private volatile int counter;
    private final int last = 3;
}
