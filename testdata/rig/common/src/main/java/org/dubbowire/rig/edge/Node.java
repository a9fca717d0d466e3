package org.dubbowire.rig.edge;

import java.io.Serializable;
import java.util.*;
import lombok.Getter;
import lombok.Setter;

/** References: shared and cyclic. */
@Getter
@Setter
public class Node implements Serializable {
    private static final long serialVersionUID = 1L;
    private int id;
    private String name;
    private Node parent;
    private Node self;
    private List<Node> children;
    private Map<String, Node> byName;

    public Node() {
    }

    public Node(int id, String name) {
        this.id = id;
        this.name = name;
    }
}
