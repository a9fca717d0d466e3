package org.dubbowire.rig.skew;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** Both sides have the same version of it, but not of what it holds. */
public class Basket implements Serializable {
    private static final long serialVersionUID = 1L;
    private String currency = "EUR";
    private List<Product> products = new ArrayList<>();
    private Customer owner;
    private Status status = Status.PAID;

    public static Basket sample(int products, boolean owned) {
        Basket b = new Basket();
        for (int i = 0; i < products; i++) {
            b.products.add(Product.sample(i));
        }
        if (owned) {
            b.owner = Customer.sample(7);
        }
        return b;
    }
}
