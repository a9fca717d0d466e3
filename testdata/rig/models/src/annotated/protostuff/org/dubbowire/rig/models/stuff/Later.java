package org.dubbowire.rig.models.stuff;

import java.util.Set;

/** Hides a field of its superclass, whose place it takes. */
public class Later extends Outdated {
    private Set<Integer> second;
    private Outdated outdated;
    private String end;
}
