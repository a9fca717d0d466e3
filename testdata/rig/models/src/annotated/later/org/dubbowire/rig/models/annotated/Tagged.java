package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.DefaultSerializer;
import com.esotericsoftware.kryo.serializers.TaggedFieldSerializer;
import com.esotericsoftware.kryo.serializers.TaggedFieldSerializer.Tag;
import java.util.List;
import java.util.Map;
import org.dubbowire.rig.models.Color;

@DefaultSerializer(TaggedFieldSerializer.class)
public class Tagged extends TagBase {
    @Tag(3)
    private String text;
    @Tag(1)
    private int number;
    @Tag(8)
    private List<Long> longs;
    @Tag(7)
    private List<Entry> entries;
    @Tag(5)
    private Map<String, Integer> counts;
    @Tag(4)
    private Object any;
    @Tag(6)
    private Tagged next;
    @Tag(12)
    private double[] numbers;
    @Tag(11)
    private Color color;
    @Tag(10)
    private boolean flag;
    @Tag(13)
    private Evolving evolving;
    @Deprecated
    @Tag(9)
    private String old;
    private String notTagged;
    @Tag(20)
    private String extra;
}
