package org.dubbowire.rig.models.reflected;

import java.io.Serializable;
import org.apache.avro.reflect.Stringable;

@Stringable
public class Point implements Serializable {
    private int latitude;
    private int longitude;

    @Override
    public String toString() {
        return latitude + ";" + longitude;
    }
}
