package org.dubbowire.rig.models;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

public class Bounded<N extends Number & Comparable<N>, S extends Shape> implements Serializable {
    private N number;
    private S shape;
    private List<N> numbers;
    private Map<String, S> shapes;
    private S[] array;
}
