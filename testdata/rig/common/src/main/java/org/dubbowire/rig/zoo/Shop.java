package org.dubbowire.rig.zoo;

import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import lombok.Getter;
import lombok.Setter;

/** Orders: abstract and generic types, enums of all kinds as fields, keys and elements. */
public final class Shop {
    private Shop() {
    }

    /** Constants with fields, with bodies, and not all in capitals. */
    public enum State {
        NEW(1),
        paid(2) {
            @Override
            public boolean done() {
                return true;
            }
        },
        Shipped_2(30),
        已取消(400) {
            @Override
            public boolean done() {
                return true;
            }
        },
        $x(5);

        private final int code;

        State(int code) {
            this.code = code;
        }

        public int code() {
            return code;
        }

        public boolean done() {
            return false;
        }
    }

    /** A plain one. */
    public enum Channel {
        WEB, APP, PHONE
    }

    @Getter
    @Setter
    public static class Line implements Serializable {
        private static final long serialVersionUID = 1L;
        private String sku;
        private int quantity;
        private BigDecimal price;
        private State state;
        private Line bundledWith;
    }

    @Kinds({Card.class, Transfer.class, Voucher.class})
    @Getter
    @Setter
    public abstract static class Payment implements Serializable {
        private static final long serialVersionUID = 1L;
        private String reference;
        private BigDecimal amount;
        private Date due;
    }

    @Getter
    @Setter
    public static class Card extends Payment {
        private static final long serialVersionUID = 2L;
        private char[] digits;
        private short year;
        private byte month;
    }

    @Getter
    @Setter
    public static class Transfer extends Payment {
        private static final long serialVersionUID = 3L;
        private String iban;
        private BigInteger sequence;
    }

    /** Adds no field of its own. */
    public static class Voucher extends Payment {
        private static final long serialVersionUID = 4L;
    }

    @Getter
    @Setter
    public static class Order implements Serializable {
        private static final long serialVersionUID = 5L;
        private long id;
        private Long parentId;
        private State state;
        private Channel channel;
        private String note;
        private List<Line> lines;
        private Payment payment;
        private List<Payment> refunds;
        private Map<State, List<Line>> byState;
        private Map<String, BigDecimal> totals;
        private Set<Channel> channels;
        private SortedMap<Integer, String> history;
        private Date created;
        private double weight;
        private float discount;
        private boolean gift;
        private Boolean insured;
        private byte[] signature;
        private State[] states;
        private Line[] array;
        private Payment[] payments;
    }

    /** Generic, twice nested in use. */
    @Getter
    @Setter
    public static class Page<T> implements Serializable {
        private static final long serialVersionUID = 6L;
        private int number;
        private long total;
        private List<T> items;
        private T first;
        private Map<String, T> named;
    }
}
