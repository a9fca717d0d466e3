package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.serializers.CollectionSerializer.BindCollection;
import com.esotericsoftware.kryo.serializers.DefaultSerializers;
import com.esotericsoftware.kryo.serializers.FieldSerializer;
import com.esotericsoftware.kryo.serializers.MapSerializer.BindMap;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Collections and maps whose fields say how elements are written. */
public class Bound implements Serializable {
    @BindCollection(elementSerializer = DefaultSerializers.StringSerializer.class, elementClass = String.class)
    private List<String> texts;
    @BindCollection(elementSerializer = DefaultSerializers.LongSerializer.class, elementClass = Long.class, elementsCanBeNull = true)
    private Collection<Long> longs;
    @BindCollection(elementSerializer = DefaultSerializers.StringSerializer.class, elementClass = String.class)
    private ArrayList<String> list;
    @BindCollection(elementClass = Entry.class)
    private Set<Entry> entries;
    @BindCollection
    private List<Object> any;
    @BindMap(keySerializer = DefaultSerializers.StringSerializer.class, keyClass = String.class, valueSerializer = DefaultSerializers.LongSerializer.class, valueClass = Long.class)
    private Map<String, Long> counts;
    @BindMap(keySerializer = DefaultSerializers.IntSerializer.class, keyClass = Integer.class, keysCanBeNull = false)
    private Map<Integer, Entry> numbered;
    @BindMap(valueSerializer = DefaultSerializers.StringSerializer.class, valueClass = String.class)
    private Map<Mode, String> named;
    @FieldSerializer.Optional("rig")
    private String optional;
    private String last;
}
