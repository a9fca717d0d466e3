package org.dubbowire.rig.models.annotated;

/** Annotations that only Kryo 4 has. */
public interface Kryo4Service extends AnnotatedService {
    Annexed annexed(Annexed v);

    Bound4 bound4(Bound4 v);
}
