package org.dubbowire.rig.models;

import java.io.Serializable;
import java.util.List;
import org.nustaq.serialization.annotations.Conditional;
import org.nustaq.serialization.annotations.Flat;
import org.nustaq.serialization.annotations.OneOf;
import org.nustaq.serialization.annotations.Predict;

/** FST's annotations that change the bytes. */
@Predict({Circle.class, Square.class})
public class Fast implements Serializable {
    @OneOf({"one", "two", "three"})
    private String chosen;
    @Flat
    private String flat;
    @Flat
    private List<String> flatList;
    @Predict({Circle.class, Square.class})
    private Shape shape;
    @Conditional
    private String conditional;
    private int number;
}
