package org.dubbowire.rig.edge;

/** A plain enum. */
public enum Color { RED, GREEN, BLUE }
