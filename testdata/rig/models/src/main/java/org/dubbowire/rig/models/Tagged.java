package org.dubbowire.rig.models;

import com.esotericsoftware.kryo.DefaultSerializer;
import com.esotericsoftware.kryo.serializers.TaggedFieldSerializer;
import com.esotericsoftware.kryo.serializers.TaggedFieldSerializer.Tag;
import java.io.Serializable;

@DefaultSerializer(TaggedFieldSerializer.class)
public class Tagged implements Serializable {
    @Tag(3)
    private String text;
    @Tag(1)
    private int number;
    @Tag(2)
    private Circle circle;
    private String untagged;
}
