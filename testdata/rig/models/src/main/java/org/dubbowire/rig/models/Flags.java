package org.dubbowire.rig.models;

import java.io.Serializable;

/** More flags than bits in a byte. */
public class Flags implements Serializable {
    private boolean a;
    private boolean b;
    private boolean c;
    private boolean d;
    private boolean e;
    private boolean f;
    private boolean g;
    private boolean h;
    private boolean i;
    private boolean j;
}
