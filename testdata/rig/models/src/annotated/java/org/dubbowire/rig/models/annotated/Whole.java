package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.DefaultSerializer;
import com.esotericsoftware.kryo.serializers.FieldSerializer;
import java.io.Serializable;

@DefaultSerializer(FieldSerializer.class)
public final class Whole implements Serializable {
    private String text;
    private Object any;
}
