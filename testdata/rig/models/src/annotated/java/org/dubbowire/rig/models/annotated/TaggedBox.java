package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.DefaultSerializer;
import com.esotericsoftware.kryo.serializers.TaggedFieldSerializer;
import com.esotericsoftware.kryo.serializers.TaggedFieldSerializer.Tag;
import java.io.Serializable;
import java.util.List;
import java.util.Map;

@DefaultSerializer(TaggedFieldSerializer.class)
public class TaggedBox<T> implements Serializable {
    @Tag(2)
    private T value;
    @Tag(1)
    private List<T> list;
    @Tag(3)
    private Map<String, T> map;
    @Tag(4)
    private TaggedBox<T> next;
}
