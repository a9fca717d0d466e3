package org.dubbowire.rig.edge;

/** An enum whose constants are classes of their own. */
public enum Op {
    PLUS("+") {
        @Override
        public int apply(int a, int b) {
            return a + b;
        }
    },
    TIMES("*") {
        @Override
        public int apply(int a, int b) {
            return a * b;
        }
    };

    private final String symbol;

    Op(String symbol) {
        this.symbol = symbol;
    }

    public String symbol() {
        return symbol;
    }

    public abstract int apply(int a, int b);
}
