package org.dubbowire.rig.skew;

import java.io.Serializable;
import java.math.BigDecimal;

/** The version of the provider, with a shelf. */
public class Product implements Serializable {
    private static final long serialVersionUID = 1L;
    private String label;
    private BigDecimal price;
    private int stock;
    private Long shelf;
    private String sku;

    public static Product sample(int id) {
        Product p = new Product();
        p.label = "Product " + id;
        p.price = new BigDecimal(id + ".95");
        p.stock = 1000 * id;
        p.shelf = 100L + id;
        p.sku = "SKU-" + id;
        return p;
    }
}
