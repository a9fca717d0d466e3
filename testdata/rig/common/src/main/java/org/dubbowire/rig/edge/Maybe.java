package org.dubbowire.rig.edge;

import java.io.Serializable;
import java.util.*;
import lombok.Getter;
import lombok.Setter;

/** Optional is not Serializable: several serializations refuse it. */
@Getter
@Setter
public class Maybe implements Serializable {
    private static final long serialVersionUID = 1L;
    private Optional<String> some;
    private Optional<String> none;
    private OptionalInt number;
}
