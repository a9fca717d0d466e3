package org.dubbowire.rig.models.stuff;

import io.protostuff.Exclude;
import java.io.Serializable;
import java.util.List;

/** Fields that are not written, with a number and without. */
public class Outdated implements Serializable {
    private static final int CONSTANT = 1;
    private String first;
    @Deprecated
    private String deprecated;
    private int second;
    @Exclude
    private int excluded;
    private transient long lost;
    private List<String> third;
    @Deprecated
    private int deprecatedToo;
    private Mode last;
}
