package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.DefaultSerializer;
import com.esotericsoftware.kryo.serializers.CompatibleFieldSerializer;
import java.io.Serializable;

@DefaultSerializer(CompatibleFieldSerializer.class)
public class EvolvingBase implements Serializable {
    private String zeroth;
    protected int any_;
}
