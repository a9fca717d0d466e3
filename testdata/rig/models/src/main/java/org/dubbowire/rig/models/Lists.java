package org.dubbowire.rig.models;

import java.util.List;
import java.util.Map;

/** Passes its type variable on to the superclass. */
public class Lists<X> extends Pair<List<X>, Map<String, X>> {
    private X first;
}
