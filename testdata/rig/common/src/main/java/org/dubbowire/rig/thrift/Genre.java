package org.dubbowire.rig.thrift;

import org.apache.thrift.TEnum;

public enum Genre implements TEnum {
    FICTION(1), SCIENCE(2), POETRY(700);

    private final int value;

    Genre(int value) {
        this.value = value;
    }

    @Override
    public int getValue() {
        return value;
    }
}
