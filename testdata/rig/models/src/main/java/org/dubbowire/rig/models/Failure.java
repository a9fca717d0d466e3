package org.dubbowire.rig.models;

import java.io.Serializable;

public class Failure implements Serializable {
    private Throwable cause;
    private Exception exception;
    private Refused refused;
    private Fault fault;
    private String after;
}
