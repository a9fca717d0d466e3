package org.dubbowire.rig.models.reflected;

import java.io.Serializable;
import org.apache.avro.reflect.Nullable;

public class Tree implements Serializable {
    @Nullable
    private Tree left;
    private int value;
    @Nullable
    private Tree right;
}
