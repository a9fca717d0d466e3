package org.dubbowire.rig.models;

/** Without a constructor that takes nothing. */
public class RefusedLater extends Refused {
    private long when;

    public RefusedLater(String message, long when) {
        super(message, null);
        this.when = when;
    }
}
