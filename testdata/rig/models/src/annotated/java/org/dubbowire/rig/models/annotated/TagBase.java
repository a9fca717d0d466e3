package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.DefaultSerializer;
import com.esotericsoftware.kryo.serializers.TaggedFieldSerializer;
import com.esotericsoftware.kryo.serializers.TaggedFieldSerializer.Tag;
import java.io.Serializable;
import org.dubbowire.rig.models.Square;

@DefaultSerializer(TaggedFieldSerializer.class)
public class TagBase implements Serializable {
    @Tag(300)
    private String base;
    @Tag(0)
    private Square square;
    private int notTagged;
}
