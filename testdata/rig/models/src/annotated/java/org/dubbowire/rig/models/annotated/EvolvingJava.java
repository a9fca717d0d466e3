package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.DefaultSerializer;
import com.esotericsoftware.kryo.serializers.CompatibleFieldSerializer;
import java.io.Serializable;
import java.util.List;

/** Kryo 4 writes one Java stream into the chunks of all fields. */
@DefaultSerializer(CompatibleFieldSerializer.class)
public class EvolvingJava implements Serializable {
    private JavaWritten first;
    private int number;
    private List<JavaWritten> more;
}
