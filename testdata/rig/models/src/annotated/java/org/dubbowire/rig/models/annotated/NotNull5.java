package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.serializers.FieldSerializer.NotNull;
import java.io.Serializable;
import org.dubbowire.rig.models.Circle;

/** Kryo 4 does not have this annotation. */
public class NotNull5 implements Serializable {
    @NotNull
    private Circle circle;
    @NotNull
    private String text;
    private int number;
}
