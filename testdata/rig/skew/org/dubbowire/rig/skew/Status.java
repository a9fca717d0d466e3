package org.dubbowire.rig.skew;

/** The version of the consumer, with a constant in between. */
public enum Status {
    CREATED, CONFIRMED, PAID, SENT
}
