package org.dubbowire.rig.models;

import java.util.TreeMap;

public class Sorted extends TreeMap<String, Integer> {
    private String unit;
}
