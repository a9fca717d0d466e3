package org.dubbowire.rig.edge;

import java.io.Serializable;

/** No constructor without arguments: Kryo falls back to Java serialization inside its stream. */
public final class Immutable implements Serializable {
    private static final long serialVersionUID = 1L;
    private final String code;
    private final int level;

    public Immutable(String code, int level) {
        this.code = code;
        this.level = level;
    }

    public String getCode() {
        return code;
    }

    public int getLevel() {
        return level;
    }
}
