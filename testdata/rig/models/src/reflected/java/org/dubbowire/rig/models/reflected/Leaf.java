package org.dubbowire.rig.models.reflected;

import java.util.List;

public class Leaf extends Middle {
    private List<Integer> leaves;
    private boolean done;
}
