package org.dubbowire.rig.models.skew;

public enum State {
    NEW, PAID, PACKED, SENT, RETURNED
}
