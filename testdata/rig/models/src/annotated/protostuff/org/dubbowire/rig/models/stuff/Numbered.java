package org.dubbowire.rig.models.stuff;

import io.protostuff.Exclude;
import io.protostuff.Tag;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import org.dubbowire.rig.models.Circle;
import org.dubbowire.rig.models.Square;

/** The numbers are not in the order of the fields, and some are large. */
public class Numbered implements Serializable {
    @Tag(5)
    private String text;
    @Tag(1)
    private int number;
    @Exclude
    private String excluded;
    @Tag(200)
    private List<Square> squares;
    @Tag(value = 3, alias = "x")
    private Map<Mode, Circle> perMode;
    @Tag(536870911)
    private Mode mode;
    private transient String lost;
    @Tag(16)
    private double price;
}
