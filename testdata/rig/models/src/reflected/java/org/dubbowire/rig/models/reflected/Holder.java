package org.dubbowire.rig.models.reflected;

import java.io.Serializable;

/** Fields whose objects may be of subclasses, which lose their own fields. */
public class Holder implements Serializable {
    private Base base;
    private Middle middle;
    private Base[] all;
    private Phantom<String> phantom;
}
