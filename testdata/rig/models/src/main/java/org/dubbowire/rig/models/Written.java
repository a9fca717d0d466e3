package org.dubbowire.rig.models;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;

/** Its fields, then data of its own. */
public class Written implements Serializable {
    private static final long serialVersionUID = 2L;
    private String text;
    private int number;
    private transient int hidden;

    private void writeObject(ObjectOutputStream out) throws IOException {
        out.defaultWriteObject();
        out.writeInt(hidden);
        out.writeObject("of its own");
        out.writeUTF("utf");
    }

    private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
        in.defaultReadObject();
        hidden = in.readInt();
        in.readObject();
        in.readUTF();
    }
}
