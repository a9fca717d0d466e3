package org.dubbowire.rig.zoo;

import java.io.Serializable;
import java.util.List;

/** Records: their fields are final, and set by the constructor only. */
public final class Records {
    private Records() {
    }

    public record Point(int x, int y) implements Serializable {
    }

    public record Named(String name) implements Serializable {
    }

    public record Route(String title, Point from, Point to, List<Point> over, Shop.State state) implements Serializable {
    }

    public record None() implements Serializable {
    }
}
