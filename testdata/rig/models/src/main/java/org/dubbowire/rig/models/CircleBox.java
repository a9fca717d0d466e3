package org.dubbowire.rig.models;

/** A generic superclass with a type that is not final. */
public final class CircleBox extends Box<Circle> {
    private Pair<Circle, Square> pair;
}
