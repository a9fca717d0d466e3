package org.dubbowire.rig.models;

import java.io.Serializable;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;

/** Views and small collections of the JDK. */
public class Wrappers implements Serializable {
    public Collection<Integer> collection;
    public List<String> list;
    public List<Circle> circles;
    public Set<String> set;
    public SortedSet<Integer> sortedSet;
    public Map<String, Square> map;
    public SortedMap<String, Integer> sortedMap;
    public Object any;
}
