package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.DefaultSerializer;
import com.esotericsoftware.kryo.serializers.CollectionSerializer;
import java.util.ArrayList;

@DefaultSerializer(CollectionSerializer.class)
public class Texts extends ArrayList<String> {
}
