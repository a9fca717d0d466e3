package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.serializers.CollectionSerializer.BindCollection;
import com.esotericsoftware.kryo.serializers.CompatibleFieldSerializer;
import com.esotericsoftware.kryo.serializers.DefaultSerializers;
import com.esotericsoftware.kryo.serializers.FieldSerializer;
import com.esotericsoftware.kryo.serializers.FieldSerializer.Bind;
import com.esotericsoftware.kryo.serializers.MapSerializer;
import com.esotericsoftware.kryo.serializers.MapSerializer.BindMap;
import com.esotericsoftware.kryo.serializers.TaggedFieldSerializer;
import com.esotericsoftware.kryo.serializers.VersionFieldSerializer;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.dubbowire.rig.models.Circle;
import org.dubbowire.rig.models.Square;

public class Bound5 implements Serializable {
    @Bind(variableLengthEncoding = false)
    private int fixedInt;
    @Bind(variableLengthEncoding = false)
    private long fixedLong;
    @Bind(optimizePositive = true)
    private int positive;
    @Bind(variableLengthEncoding = false)
    private short fixedShort;
    @Bind(variableLengthEncoding = false)
    private Integer boxed;
    @Bind(canBeNull = false)
    private String present;
    @Bind(canBeNull = false)
    private Circle circle;
    @Bind(serializer = DefaultSerializers.StringSerializer.class)
    private String text;
    @Bind(serializer = DefaultSerializers.LongSerializer.class, canBeNull = false)
    private Long count;
    @Bind(valueClass = Entry.class)
    private Entry entry;
    @Bind(valueClass = Entry.class, serializer = FieldSerializer.class)
    private Entry fields;
    @Bind(valueClass = Entry.class, serializer = CompatibleFieldSerializer.class)
    private Entry compatible;
    @Bind(valueClass = Entry.class, serializer = VersionFieldSerializer.class, canBeNull = false)
    private Entry versioned;
    @Bind(valueClass = TagBase.class, serializer = TaggedFieldSerializer.class)
    private TagBase tagged;
    @Bind(valueClass = ArrayList.class)
    private List<Long> longs;
    @Bind(serializer = MapSerializer.class)
    private Map<String, Long> counts;
    @BindCollection(elementSerializer = FieldSerializer.class, elementClass = Entry.class, elementsCanBeNull = true)
    private List<Entry> entries;
    @BindCollection(elementSerializer = DefaultSerializers.LongSerializer.class, elementClass = Long.class, elementsCanBeNull = false)
    private List<Long> present2;
    @BindCollection(elementsCanBeNull = false)
    private List<Object> present3;
    @Bind(canBeNull = false)
    private Square[] squares;
}
