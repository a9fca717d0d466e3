package org.dubbowire.rig.models;

public final class Fault extends RuntimeException {
    public Fault(String message) {
        super(message);
    }
}
