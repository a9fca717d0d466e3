package org.dubbowire.rig.models;

import java.io.Serializable;
import org.nustaq.serialization.annotations.Version;

/** FST writes fields of a later version after the others. */
public class Versioned implements Serializable {
    private String text;
    private int number;
    @Version(1)
    private String second;
    @Version(1)
    private boolean flag;
    @Version(2)
    private Square third;
}
