package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.DefaultSerializer;
import com.esotericsoftware.kryo.serializers.CompatibleFieldSerializer;
import java.io.Serializable;
import java.util.List;
import java.util.Map;

@DefaultSerializer(CompatibleFieldSerializer.class)
public class EvolvingBox<T> implements Serializable {
    private T value;
    private List<T> list;
    private Map<String, T> map;
    private EvolvingBox<T> next;
    private List<List<T>> lists;
}
