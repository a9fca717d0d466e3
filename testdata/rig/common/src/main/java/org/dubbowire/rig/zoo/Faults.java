package org.dubbowire.rig.zoo;

import java.util.List;
import lombok.Getter;
import lombok.Setter;

/** Exceptions of an application. */
public final class Faults {
    private Faults() {
    }

    @Getter
    @Setter
    public static class Rejected extends Exception {
        private static final long serialVersionUID = 1L;
        private int code;
        private Shop.State state;
        private List<String> reasons;
        private Shop.Line line;

        public Rejected() {
        }

        public Rejected(String message) {
            super(message);
        }
    }

    /** Without fields; its message is made by a method. */
    public static class Denied extends RuntimeException {
        private static final long serialVersionUID = 2L;

        public Denied() {
        }

        public Denied(String message) {
            super(message);
        }
    }

    /** Below another exception of the application. */
    public static class Expired extends Rejected {
        private static final long serialVersionUID = 3L;
        private String expiredAt = "yesterday";

        public Expired() {
        }

        public Expired(String text) {
            super(text);
        }
    }

    /** Has neither a stack trace nor suppressed ones. */
    public static class Quiet extends RuntimeException {
        private static final long serialVersionUID = 4L;

        public Quiet(String message) {
            super(message, null, false, false);
        }
    }

    /** Keeps its message itself. */
    @Getter
    @Setter
    public static class Business extends RuntimeException {
        private static final long serialVersionUID = 5L;
        private String code;
        private String message;

        public Business() {
        }

        public Business(String code, String message) {
            this.code = code;
            this.message = message;
        }

        @Override
        public String getMessage() {
            return message;
        }
    }
}
