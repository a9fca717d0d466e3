package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.NotNull;
import java.io.Serializable;
import org.dubbowire.rig.models.Circle;

/** Kryo 5 does not have this annotation. */
public class NotNull4 implements Serializable {
    @NotNull
    private Circle circle;
    @NotNull
    private String text;
    private int number;
}
