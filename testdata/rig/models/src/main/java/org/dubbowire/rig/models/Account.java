package org.dubbowire.rig.models;

import java.io.Serializable;
import java.util.List;

/** Without a constructor that takes nothing, and not final; what it holds goes the same way. */
public class Account implements Serializable {
    private final int number;
    private List<Money> moves;
    private Money balance;
    private Circle circle;
    private int[] limits;

    public Account(int number) {
        this.number = number;
    }
}
