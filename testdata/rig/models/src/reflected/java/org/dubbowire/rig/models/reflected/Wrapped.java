package org.dubbowire.rig.models.reflected;

import java.io.Serializable;
import java.util.List;

/** Exceptions as values. */
public class Wrapped implements Serializable {
    private Failure failure;
    private IllegalStateException state;
    private String text;
}
