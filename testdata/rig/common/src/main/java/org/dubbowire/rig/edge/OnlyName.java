package org.dubbowire.rig.edge;

import java.io.Serializable;
import lombok.Getter;
import lombok.Setter;

/** Looks like an enum on a wire that writes enums as an object with a name. */
@Getter
@Setter
public class OnlyName implements Serializable {
    private static final long serialVersionUID = 1L;
    private String name;
}
