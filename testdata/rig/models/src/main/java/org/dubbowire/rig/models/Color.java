package org.dubbowire.rig.models;

public enum Color {
    RED, GREEN, BLUE
}
