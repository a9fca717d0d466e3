package org.dubbowire.rig.models.reflected;

import java.util.List;
import org.apache.avro.reflect.Nullable;

public class Group implements Shape {
    private String title;
    private List<Shape> members;
    @Nullable
    private Shape first;
}
