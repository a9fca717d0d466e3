package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.DefaultSerializer;
import com.esotericsoftware.kryo.serializers.TaggedFieldSerializer;
import com.esotericsoftware.kryo.serializers.TaggedFieldSerializer.Tag;
import java.util.List;
import org.dubbowire.rig.models.Square;

@DefaultSerializer(TaggedFieldSerializer.class)
public class Annexed extends TagBase {
    @Tag(1)
    private String text;
    @Tag(value = 4, annexed = true)
    private String longer;
    @Tag(value = 3, annexed = true)
    private int number;
    @Tag(value = 2, annexed = true)
    private List<Square> squares;
    @Tag(value = 6, annexed = true)
    private Annexed next;
    @Tag(value = 7, annexed = true)
    private Evolving evolving;
    @Tag(8)
    private Object last;
}
