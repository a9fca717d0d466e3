package org.dubbowire.rig.models.annotated;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

public class All implements Serializable {
    private Tagged tagged;
    private List<Evolving> evolving;
    private Grown grown;
    private TaggedBox<Integer> taggedBox;
    private EvolvingBox<Entry> evolvingBox;
    private GrownBox<Long> grownBox;
    private Bound bound;
    private NotNull4 four;
    private NotNull5 five;
    private JavaWritten java;
    private Texts texts;
    private Mode mode;
    private Whole whole;
    private Map<Mode, Tagged> modes;
    private Evolving[] array;
    private Object any;
    private String last;
}
