package org.dubbowire.rig.models.skew;

import java.io.Serializable;
import java.util.List;

public class FieldRetyped implements Serializable {
    private static final long serialVersionUID = 1L;
    private int amount;
    private String code;
    private Integer count;
    private List<String> texts;
}
