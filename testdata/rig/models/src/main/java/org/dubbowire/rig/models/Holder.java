package org.dubbowire.rig.models;

import java.io.Serializable;

/** Fields whose types say little. */
@SuppressWarnings("rawtypes")
public class Holder implements Serializable {
    private Object any;
    private Serializable serial;
    private Comparable comparable;
    private Number number;
    private CharSequence letters;
    private Shape shape;
    private Base base;
    private Square square;
    private Circle circle;
    private Op op;
    private Color color;
    private Level level;
    private Enum<?> constant;
}
