package org.dubbowire.rig.skew;

import java.io.Serializable;
import java.util.Date;

/** The version of the provider: the amount is an int. */
public class Invoice implements Serializable {
    private static final long serialVersionUID = 1L;
    private int amount;
    private Date due;
    private String number;

    public static Invoice sample(int id) {
        Invoice i = new Invoice();
        i.amount = id * 1000;
        i.due = new Date(1_700_000_000_000L + id * 86_400_000L);
        i.number = "2023-" + id;
        return i;
    }
}
