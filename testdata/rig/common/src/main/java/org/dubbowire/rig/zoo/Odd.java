package org.dubbowire.rig.zoo;

import java.io.Serializable;
import java.util.List;
import java.util.Map;
import lombok.Getter;
import lombok.Setter;

/** Names and shapes that readers may trip over. */
public final class Odd {
    private Odd() {
    }

    public static class Nothing implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    /** As an enum constant is on the wire of Hessian2. */
    @Getter
    @Setter
    public static class Name implements Serializable {
        private static final long serialVersionUID = 2L;
        private String name;
    }

    @Getter
    @Setter
    public static class Value implements Serializable {
        private static final long serialVersionUID = 3L;
        private String value;
    }

    @Getter
    @Setter
    public static class OneInt implements Serializable {
        private static final long serialVersionUID = 4L;
        private int name;
    }

    @Getter
    @Setter
    public static class Ordinal implements Serializable {
        private static final long serialVersionUID = 5L;
        private String name;
        private int ordinal;
    }

    /** Names that tools use for themselves. */
    @Getter
    @Setter
    public static class Fields implements Serializable {
        private static final long serialVersionUID = 6L;
        private String _class;
        private String type;
        private String value;
        private String name;
        private String id;
        private int size;
        private int length;
        private long[] ref;
        private String 名字;
        private int _under_score;
        private String aB;
        private String URL;
        private boolean isOpen;
        private Boolean hasValue;
        private String detailMessage;
        private Object stackTrace;
        private String empty;
    }

    /** Names with a dollar, which some libraries leave out. */
    public static class Dollars implements Serializable {
        private static final long serialVersionUID = 7L;
        public String $ref;
        public String $;
        public int price$;
        public String __;
        public Map<String, String> $map;
    }

    /** More than 15 and more than 31 fields. */
    @Getter
    @Setter
    public static class Wide implements Serializable {
        private static final long serialVersionUID = 8L;
        private int a0, a1, a2, a3, a4, a5, a6, a7, a8, a9;
        private long b0, b1, b2, b3, b4, b5, b6, b7, b8, b9;
        private String c0, c1, c2, c3, c4, c5, c6, c7, c8, c9;
        private Double d0, d1, d2, d3, d4, d5, d6, d7, d8, d9;
        private boolean e0, e1, e2, e3, e4, e5, e6, e7, e8, e9;
        private Integer f0, f1, f2, f3, f4, f5, f6, f7, f8, f9;
    }

    /** Is not static: has a reference to what is around it. */
    @Getter
    @Setter
    public static class Outer implements Serializable {
        private static final long serialVersionUID = 9L;
        private String label;
        private Inner inner;

        public Inner make(String text) {
            inner = new Inner();
            inner.text = text;
            return inner;
        }

        @Getter
        @Setter
        public class Inner implements Serializable {
            private static final long serialVersionUID = 10L;
            private String text;
        }
    }

    @Getter
    @Setter
    public static class AnInsuranceCompanyCustomerRelationshipManagementDataTransferObjectBase implements Serializable {
        private static final long serialVersionUID = 11L;
        private String text;
        private List<AnInsuranceCompanyCustomerRelationshipManagementDataTransferObjectBase> children;
    }
}
