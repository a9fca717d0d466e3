package org.dubbowire.rig.edge;

import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.ObjectOutputStream;
import java.io.Serializable;

/** Classes that write themselves. */
public final class Custom {
    private Custom() {
    }

    /** Has writeObject and readObject with data beside the fields. */
    public static class Written implements Serializable {
        private static final long serialVersionUID = 1L;
        private String text = "field";
        private transient int extra = 7;

        public String getText() {
            return text;
        }

        public void setText(String text) {
            this.text = text;
        }

        private void writeObject(ObjectOutputStream out) throws IOException {
            out.defaultWriteObject();
            out.writeInt(extra);
            out.writeObject("beside the fields");
        }

        private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
            in.defaultReadObject();
            extra = in.readInt();
            in.readObject();
        }
    }

    /** Externalizable. */
    public static class External implements Externalizable {
        private String text = "external";
        private long number = 42;

        public String getText() {
            return text;
        }

        public void setText(String text) {
            this.text = text;
        }

        @Override
        public void writeExternal(ObjectOutput out) throws IOException {
            out.writeUTF(text);
            out.writeLong(number);
        }

        @Override
        public void readExternal(ObjectInput in) throws IOException {
            text = in.readUTF();
            number = in.readLong();
        }
    }
}
