package org.dubbowire.rig.models;

import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectOutput;

public class External implements Externalizable {
    private static final long serialVersionUID = 6L;
    private String text;
    private Object inner;
    private int number;

    @Override
    public void writeExternal(ObjectOutput out) throws IOException {
        out.writeUTF(text == null ? "" : text);
        out.writeObject(inner);
        out.writeInt(number);
        out.writeBoolean(true);
        out.writeLong(7);
    }

    @Override
    public void readExternal(ObjectInput in) throws IOException, ClassNotFoundException {
        text = in.readUTF();
        inner = in.readObject();
        number = in.readInt();
        in.readBoolean();
        in.readLong();
    }
}
