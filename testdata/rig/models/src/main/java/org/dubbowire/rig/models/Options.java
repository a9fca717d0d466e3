package org.dubbowire.rig.models;

import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** Kryo and FST write them; Java's own serialization does not. */
public class Options implements java.io.Serializable {
    private Optional<String> text;
    private Optional<Square> square;
    private Optional<Circle> circle;
    private OptionalInt number;
    private OptionalLong large;
    private OptionalDouble real;
}
