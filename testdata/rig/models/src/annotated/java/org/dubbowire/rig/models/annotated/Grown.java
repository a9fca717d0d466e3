package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.DefaultSerializer;
import com.esotericsoftware.kryo.serializers.VersionFieldSerializer;
import com.esotericsoftware.kryo.serializers.VersionFieldSerializer.Since;
import java.io.Serializable;
import java.util.List;
import org.dubbowire.rig.models.Square;

@DefaultSerializer(VersionFieldSerializer.class)
public class Grown implements Serializable {
    private String text;
    private int number;
    @Since(1)
    private String added;
    @Since(3)
    private List<Long> longs;
    @Since(2)
    private Square square;
    private Grown next;
}
