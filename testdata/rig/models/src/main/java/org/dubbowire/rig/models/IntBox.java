package org.dubbowire.rig.models;

/** A generic superclass with a final type. */
public class IntBox extends Box<Integer> {
    private String unit;
}
