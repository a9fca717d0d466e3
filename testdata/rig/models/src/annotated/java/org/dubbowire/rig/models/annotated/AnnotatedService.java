package org.dubbowire.rig.models.annotated;

import java.util.List;
import java.util.Map;

/** Classes with Kryo's annotations, which it writes with other serializers than the one for fields. */
public interface AnnotatedService {
    Tagged tagged(Tagged v, TagBase base);

    TaggedBox<String> taggedBox(TaggedBox<Long> longs, TaggedBox<Entry> entries);

    Evolving evolving(Evolving v, EvolvingBase base);

    EvolvingBox<String> evolvingBox(EvolvingBox<Long> longs, EvolvingBox<Entry> entries);

    Grown grown(Grown v);

    GrownBox<String> grownBox(GrownBox<Long> longs, GrownBox<Entry> entries);

    Bound bound(Bound v);

    NotNull4 notNull(NotNull4 four, NotNull5 five);

    JavaWritten java(JavaWritten v);

    EvolvingJava evolvingJava(EvolvingJava v);

    Texts texts(Texts v, Mode mode);

    Entry entry(Entry v);

    All all(All v);

    List<Tagged> list(List<Evolving> v);

    Map<String, Grown> map(Map<Mode, Tagged> v);

    Evolving[] array(Tagged[] tagged, Grown[] grown);

    Object any(Object v);
}
