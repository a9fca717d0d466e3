package org.dubbowire.rig.models.reflected;

import java.io.Serializable;
import java.util.Map;
import java.util.Set;
import org.apache.avro.reflect.Nullable;

public class Shapes implements Serializable {
    private Shape shape;
    @Nullable
    private Shape other;
    private Shape[] array;
    private Set<Shape> set;
    private Map<String, Shape> named;
    private Map<Integer, Shape> numbered;
}
