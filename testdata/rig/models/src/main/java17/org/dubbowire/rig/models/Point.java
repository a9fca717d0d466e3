package org.dubbowire.rig.models;

import java.io.Serializable;
import java.util.List;

/** A record. */
public record Point(int x, String name, List<Color> colors, Circle circle) implements Serializable {
}
