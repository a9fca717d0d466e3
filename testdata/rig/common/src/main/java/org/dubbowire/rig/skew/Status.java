package org.dubbowire.rig.skew;

/** The version of the provider. */
public enum Status {
    CREATED, PAID, SENT
}
