package org.dubbowire.rig.models.skew;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

public class ConstantAdded implements Serializable {
    private static final long serialVersionUID = 1L;
    private State state;
    private List<State> states;
    private Map<State, Integer> counts;
    private String text;
}
