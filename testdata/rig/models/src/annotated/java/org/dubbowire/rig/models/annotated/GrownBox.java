package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.DefaultSerializer;
import com.esotericsoftware.kryo.serializers.VersionFieldSerializer;
import com.esotericsoftware.kryo.serializers.VersionFieldSerializer.Since;
import java.io.Serializable;
import java.util.List;
import java.util.Map;

@DefaultSerializer(VersionFieldSerializer.class)
public class GrownBox<T> implements Serializable {
    private T value;
    private List<T> list;
    @Since(200)
    private Map<String, T> map;
}
