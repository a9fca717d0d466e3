package org.dubbowire.rig.models.reflected;

import java.io.Serializable;
import org.apache.avro.reflect.Union;

@Union({Circle.class, Square.class, Group.class})
public interface Shape extends Serializable {
}
