package org.dubbowire.rig.models.annotated;

/** Annotations that only Kryo 5 has. */
public interface Kryo5Service extends AnnotatedService {
    Bound5 bound5(Bound5 v);
}
