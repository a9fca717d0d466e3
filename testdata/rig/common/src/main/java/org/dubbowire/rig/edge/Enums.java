package org.dubbowire.rig.edge;

import java.io.Serializable;
import java.util.*;
import lombok.Getter;
import lombok.Setter;

/** Enums, also with constant bodies, beside a bean with the one field that enums have, too. */
@Getter
@Setter
public class Enums implements Serializable {
    private static final long serialVersionUID = 1L;
    private Color color;
    private Color none;
    private Op op;
    private Color[] array;
    private List<Color> list;
    private Map<Color, String> map;
    private Map<Color, Integer> enumMap;
    private Set<Color> enumSet;
    private Set<Op> ops;
    private OnlyName label;
}
