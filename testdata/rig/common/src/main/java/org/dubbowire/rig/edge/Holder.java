package org.dubbowire.rig.edge;

import java.io.Serializable;
import java.util.*;
import lombok.Getter;
import lombok.Setter;

/** Generic and untyped fields. */
@Getter
@Setter
public class Holder<T> implements Serializable {
    private static final long serialVersionUID = 1L;
    private T value;
    private Object any;
    private List<T> list;
    private Comparable<?> comparable;
}
