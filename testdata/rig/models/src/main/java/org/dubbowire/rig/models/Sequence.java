package org.dubbowire.rig.models;

import java.util.LinkedHashMap;

public class Sequence extends LinkedHashMap<Integer, String> {
    private boolean open;
}
