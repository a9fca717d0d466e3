package org.dubbowire.rig.run;

import java.util.ArrayList;
import java.util.List;
import org.dubbowire.rig.skew.Basket;
import org.dubbowire.rig.skew.Customer;
import org.dubbowire.rig.skew.Invoice;
import org.dubbowire.rig.skew.Product;
import org.dubbowire.rig.skew.Shipment;
import org.dubbowire.rig.skew.SkewService;
import org.dubbowire.rig.skew.Status;

/** Calls with classes of which the two sides have different versions. Most fail, each in its own way. */
public final class Skew implements Extra {
    @Override
    public String name() {
        return "skew";
    }

    @Override
    public void export() {
        Peer.CURRENT.export(SkewService.class, new Service(), null, null);
    }

    @Override
    public void run() {
        SkewService service = Remote.of(SkewService.class).get();
        for (int id = 4; id <= 6; id++) {
            int n = id;
            Step.run("customer", () -> service.customer(Customer.sample(n)));
            Step.run("product", () -> service.product(Product.sample(n)));
            Step.run("invoice", () -> service.invoice(Invoice.sample(n)));
            Step.run("shipment", () -> service.shipment(Shipment.sample(n)));
            Step.run("describe", () -> service.describe(Customer.sample(n), "shortly", n));
            Step.run("findCustomer", () -> service.findCustomer(n));
            Step.run("findProduct", () -> service.findProduct(n));
            Step.run("findInvoice", () -> service.findInvoice(n));
            Step.run("findShipment", () -> service.findShipment(n));
        }
        for (Status status : Status.values()) {
            Step.run("status", () -> service.status(status));
        }
        for (int i = 0; i < 3; i++) {
            int n = i;
            Step.run("findStatus", () -> service.findStatus(n));
            Step.run("customers", () -> service.customers(customers(n)));
            Step.run("findCustomers", () -> service.findCustomers(n));
            Step.run("basket", () -> service.basket(Basket.sample(n, n == 1)));
        }
    }

    private static List<Customer> customers(int count) {
        List<Customer> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(Customer.sample(i));
        }
        return all;
    }

    private static final class Service implements SkewService {
        @Override
        public Customer customer(Customer customer) {
            return customer;
        }

        @Override
        public Product product(Product product) {
            return product;
        }

        @Override
        public Invoice invoice(Invoice invoice) {
            return invoice;
        }

        @Override
        public Shipment shipment(Shipment shipment) {
            return shipment;
        }

        @Override
        public Status status(Status status) {
            return status;
        }

        @Override
        public String describe(Customer customer, String how, int times) {
            return how + " " + times;
        }

        @Override
        public List<Customer> customers(List<Customer> customers) {
            return customers;
        }

        @Override
        public Customer findCustomer(int id) {
            return Customer.sample(id);
        }

        @Override
        public Product findProduct(int id) {
            return Product.sample(id);
        }

        @Override
        public Invoice findInvoice(int id) {
            return Invoice.sample(id);
        }

        @Override
        public Shipment findShipment(int id) {
            return Shipment.sample(id);
        }

        @Override
        public Status findStatus(int id) {
            return Status.values()[id];
        }

        @Override
        public List<Customer> findCustomers(int count) {
            return Skew.customers(count);
        }

        @Override
        public Basket basket(Basket basket) {
            return basket;
        }
    }
}
