package org.dubbowire.rig.models;

import java.io.Serializable;

public class Pair<A, B> implements Serializable {
    private A left;
    private B right;
}
