package org.dubbowire.rig.models;

import com.esotericsoftware.kryo.NotNull;
import com.esotericsoftware.kryo.serializers.FieldSerializer;
import java.io.Serializable;

/** Kryo's annotations that change the bytes of its FieldSerializer. */
public class Marked implements Serializable {
    @FieldSerializer.Optional("rig")
    private String optional;
    private int number;
    @NotNull
    @FieldSerializer.NotNull
    private String present = "present";
    @NotNull
    @FieldSerializer.NotNull
    private Square square = new Square();
    private String last;
}
