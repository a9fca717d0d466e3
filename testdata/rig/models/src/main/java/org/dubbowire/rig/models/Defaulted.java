package org.dubbowire.rig.models;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;

/** Writes only what would be written anyway. */
public class Defaulted implements Serializable {
    private String text;
    private boolean flag;
    private Square square;
    private long number;

    private void writeObject(ObjectOutputStream out) throws IOException {
        out.defaultWriteObject();
    }

    private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
        in.defaultReadObject();
    }
}
