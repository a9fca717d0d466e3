package org.dubbowire.rig.models;

/** Constants with fields. */
public enum Level {
    LOW(1), MIDDLE(5), HIGH(9);

    private final int weight;

    Level(int weight) {
        this.weight = weight;
    }

    public int weight() {
        return weight;
    }
}
