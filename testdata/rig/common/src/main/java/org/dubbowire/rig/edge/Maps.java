package org.dubbowire.rig.edge;

import java.io.Serializable;
import java.util.*;
import lombok.Getter;
import lombok.Setter;

/** Maps, also with keys that are no strings or that need quoting in a path. */
@Getter
@Setter
public class Maps implements Serializable {
    private static final long serialVersionUID = 1L;
    private Map<String, String> hashMap;
    private LinkedHashMap<String, Integer> linked;
    private TreeMap<String, Long> tree;
    private java.util.concurrent.ConcurrentHashMap<String, String> concurrent;
    private Map<Integer, String> intKeys;
    private Map<Long, Node> longKeys;
    private Map<Date, String> dateKeys;
    private Map<String, List<Node>> lists;
    private Map<String, Object> objects;
    private Map<String, String> oddKeys;
    private Hashtable<String, String> table;
    private IdentityHashMap<String, String> identity;
    private Properties properties;
}
