package org.dubbowire.rig.edge;

import lombok.Getter;
import lombok.Setter;

/** A class with superclasses. */
@Getter
@Setter
public class Derived extends Base {
    private static final long serialVersionUID = 1L;
    private String title;
    private Double ratio;
}
