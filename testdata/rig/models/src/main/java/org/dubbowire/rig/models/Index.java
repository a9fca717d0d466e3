package org.dubbowire.rig.models;

import java.util.HashMap;

public class Index extends HashMap<String, Circle> {
    private int entries;
    private String language;
}
