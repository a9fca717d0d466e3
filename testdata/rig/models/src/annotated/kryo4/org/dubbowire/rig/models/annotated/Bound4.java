package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.serializers.CollectionSerializer.BindCollection;
import com.esotericsoftware.kryo.serializers.DefaultSerializers;
import com.esotericsoftware.kryo.serializers.FieldSerializer.Bind;
import com.esotericsoftware.kryo.serializers.MapSerializer;
import java.io.Serializable;
import java.util.Date;
import java.util.List;
import java.util.Map;

public class Bound4 implements Serializable {
    @Bind(DefaultSerializers.StringSerializer.class)
    private String text;
    @Bind(DefaultSerializers.LongSerializer.class)
    private Long count;
    @Bind(DefaultSerializers.IntSerializer.class)
    private int number;
    @Bind(DefaultSerializers.DateSerializer.class)
    private Date date;
    @Bind(MapSerializer.class)
    private Map<String, Integer> map;
    @BindCollection(elementSerializer = DefaultSerializers.LongSerializer.class, elementClass = Long.class, elementsCanBeNull = false)
    private List<Long> present;
}
