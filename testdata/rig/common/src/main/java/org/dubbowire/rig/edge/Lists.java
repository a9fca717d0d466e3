package org.dubbowire.rig.edge;

import java.io.Serializable;
import java.util.*;
import lombok.Getter;
import lombok.Setter;

/** Ordinary collections. */
@Getter
@Setter
public class Lists implements Serializable {
    private static final long serialVersionUID = 1L;
    private List<String> arrayList;
    private List<Integer> linkedList;
    private List<Object> mixed;
    private Set<String> hashSet;
    private Set<String> linkedSet;
    private SortedSet<Integer> treeSet;
    private List<String> empty;
    private List<Node> nodes;
    private List<List<Integer>> nested;
    private Collection<Long> collection;
    private Vector<String> vector;
}
