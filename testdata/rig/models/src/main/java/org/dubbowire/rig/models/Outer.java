package org.dubbowire.rig.models;

import java.io.Serializable;

public class Outer implements Serializable {
    private String name;
    private Inner inner;
    private Nested nested;
    private Shape local;

    public class Inner implements Serializable {
        private int depth;
        private Inner deeper;
    }

    public static class Nested implements Serializable {
        private String text;

        public static final class Further implements Serializable {
            private int number;
        }

        private Further further;
    }

    /** A local class, and an anonymous one, with what they capture. */
    public Shape shape(final int size, boolean anonymous) {
        if (anonymous) {
            return new Shape() {
                private int sides = size + 1;

                @Override
                public double area() {
                    return size * sides;
                }
            };
        }
        class Local implements Shape {
            private String title = name;

            @Override
            public double area() {
                return size;
            }
        }
        return new Local();
    }

    public void keep(Shape shape) {
        local = shape;
    }
}
