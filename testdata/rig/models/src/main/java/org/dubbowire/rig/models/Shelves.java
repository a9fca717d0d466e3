package org.dubbowire.rig.models;

import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Collections that are keys and values of maps; of no method, only of fury's tests. */
public class Shelves implements Serializable {
    private Map<String, List<Integer>> shelves;
    private Map<Set<String>, Long> labels;
    private Map<Long, Map<String, Integer>> nested;
}
