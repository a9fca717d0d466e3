package org.dubbowire.rig.models.reflected;

import org.apache.avro.reflect.Nullable;

public class Failure extends Exception {
    private int code;
    @Nullable
    private String detail;

    public Failure(String message, int code, String detail) {
        super(message);
        this.code = code;
        this.detail = detail;
    }
}
