package org.dubbowire.rig.skew;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** The version of the provider. */
public class Customer implements Serializable {
    private static final long serialVersionUID = 1L;
    private String city;
    private int id;
    private String name;
    private List<String> tags;

    public static Customer sample(int id) {
        Customer c = new Customer();
        c.id = id;
        c.name = "Customer " + id;
        c.city = id % 2 == 0 ? "Köln" : null;
        c.tags = new ArrayList<>(List.of("new", "tag " + id));
        return c;
    }
}
