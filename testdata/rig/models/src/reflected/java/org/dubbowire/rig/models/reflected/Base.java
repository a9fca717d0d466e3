package org.dubbowire.rig.models.reflected;

import java.io.Serializable;
import org.apache.avro.reflect.Nullable;

public class Base implements Serializable {
    private long id;
    @Nullable
    private String base;
}
