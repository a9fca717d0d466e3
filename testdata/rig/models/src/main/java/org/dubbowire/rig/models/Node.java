package org.dubbowire.rig.models;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

/** Graphs with cycles. */
public class Node implements Serializable {
    private String name;
    private Node next;
    private Node parent;
    private List<Node> children;
    private Map<String, Node> byName;
    private Node[] neighbours;
    private Object any;
}
