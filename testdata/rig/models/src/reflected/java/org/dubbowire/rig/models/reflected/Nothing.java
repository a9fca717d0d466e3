package org.dubbowire.rig.models.reflected;

import java.io.Serializable;

public class Nothing implements Serializable {
}
