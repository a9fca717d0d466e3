package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.DefaultSerializer;
import com.esotericsoftware.kryo.serializers.JavaSerializer;
import java.io.Serializable;

@DefaultSerializer(JavaSerializer.class)
public class JavaWritten implements Serializable {
    private static final long serialVersionUID = 3L;
    private String text;
    private int number;
    private Entry entry;
}
