package org.dubbowire.rig.models;

/** Constants with bodies are of classes of their own. */
public enum Op implements Shape {
    PLUS {
        @Override
        public double area() {
            return 1;
        }
    },
    MINUS {
        @Override
        public double area() {
            return -1;
        }
    },
    NONE;

    @Override
    public double area() {
        return 0;
    }
}
