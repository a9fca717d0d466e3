package org.dubbowire.rig.models;

import java.util.HashSet;

public final class Tags extends HashSet<Integer> {
    private String owner;
}
