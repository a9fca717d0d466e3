package org.dubbowire.rig.models;

import java.io.Serializable;

/** Without a constructor that takes nothing. */
public final class Money implements Serializable {
    private static final long serialVersionUID = 1L;
    private final String currency;
    private final long cents;
    private final Color color;

    public Money(String currency, long cents, Color color) {
        this.currency = currency;
        this.cents = cents;
        this.color = color;
    }
}
