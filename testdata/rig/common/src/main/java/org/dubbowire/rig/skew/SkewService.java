package org.dubbowire.rig.skew;

import java.util.List;

/** Provider and consumer have different versions of the classes of this package: those of the consumer are in testdata/rig/skew. */
public interface SkewService {
    Customer customer(Customer customer);

    Product product(Product product);

    Invoice invoice(Invoice invoice);

    Shipment shipment(Shipment shipment);

    Status status(Status status);

    /** An argument after the one that differs. */
    String describe(Customer customer, String how, int times);

    List<Customer> customers(List<Customer> customers);

    Customer findCustomer(int id);

    Product findProduct(int id);

    Invoice findInvoice(int id);

    Shipment findShipment(int id);

    Status findStatus(int id);

    List<Customer> findCustomers(int count);

    Basket basket(Basket basket);
}
