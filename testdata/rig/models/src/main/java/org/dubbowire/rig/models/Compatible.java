package org.dubbowire.rig.models;

import com.esotericsoftware.kryo.DefaultSerializer;
import com.esotericsoftware.kryo.serializers.CompatibleFieldSerializer;
import java.io.Serializable;

@DefaultSerializer(CompatibleFieldSerializer.class)
public class Compatible implements Serializable {
    private String text;
    private int number;
    private Square square;
    private Object any;
}
