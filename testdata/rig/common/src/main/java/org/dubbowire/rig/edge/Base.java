package org.dubbowire.rig.edge;

import java.io.Serializable;
import lombok.Getter;
import lombok.Setter;

/** Superclass; Derived hides its field name. */
@Getter
@Setter
public class Base implements Serializable {
    private static final long serialVersionUID = 1L;
    private String name;
    private int version;
    private transient String notWritten = "transient";
    protected long created;
}
