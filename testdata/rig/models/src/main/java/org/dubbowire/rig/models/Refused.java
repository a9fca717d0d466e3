package org.dubbowire.rig.models;

import java.util.List;

public class Refused extends Exception {
    private int code;
    private Color color;
    private List<String> reasons;
    private Square square;

    public Refused() {
    }

    public Refused(String message, Throwable cause) {
        super(message, cause);
    }
}
