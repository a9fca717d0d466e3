package org.dubbowire.rig.zoo;

import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamField;
import java.io.Serializable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.TreeMap;
import lombok.Getter;
import lombok.Setter;

/** Classes that write themselves, and collections of an application's own. */
public final class Own {
    private Own() {
    }

    /** Fields, then data of its own. */
    @Getter
    @Setter
    public static class Extended implements Serializable {
        private static final long serialVersionUID = 1L;
        private String text;
        private int number;
        private transient List<String> hidden = new ArrayList<>();

        private void writeObject(ObjectOutputStream out) throws IOException {
            out.defaultWriteObject();
            out.writeInt(hidden.size());
            for (String s : hidden) {
                out.writeUTF(s);
            }
            out.writeObject(hidden);
            out.writeLong(7);
        }

        private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
            in.defaultReadObject();
            hidden = new ArrayList<>();
            for (int n = in.readInt(); n > 0; n--) {
                hidden.add(in.readUTF());
            }
            in.readObject();
            in.readLong();
        }
    }

    /** No fields at all, only blocks: one of them longer than 255 bytes. */
    public static class Blocks implements Serializable {
        private static final long serialVersionUID = 2L;
        private transient byte[] data = new byte[0];

        public Blocks() {
        }

        public Blocks(int size) {
            data = new byte[size];
            for (int i = 0; i < size; i++) {
                data[i] = (byte) (i * 7);
            }
        }

        private void writeObject(ObjectOutputStream out) throws IOException {
            out.writeInt(data.length);
            out.write(data);
        }

        private void readObject(ObjectInputStream in) throws IOException {
            data = new byte[in.readInt()];
            in.readFully(data);
        }
    }

    /** Writes named fields that it does not have. */
    public static class Put implements Serializable {
        private static final long serialVersionUID = 3L;
        private static final ObjectStreamField[] serialPersistentFields = {
            new ObjectStreamField("left", int.class), new ObjectStreamField("right", String.class)};
        private transient int a = 5;
        private transient String b = "put";

        private void writeObject(ObjectOutputStream out) throws IOException {
            ObjectOutputStream.PutField fields = out.putFields();
            fields.put("left", a);
            fields.put("right", b);
            out.writeFields();
        }

        private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
            ObjectInputStream.GetField fields = in.readFields();
            a = fields.get("left", 0);
            b = (String) fields.get("right", null);
        }
    }

    /** Is another object on the wire. */
    @Getter
    @Setter
    public static class Replaced implements Serializable {
        private static final long serialVersionUID = 4L;
        private String text = "before";

        private Object writeReplace() {
            Stand stand = new Stand();
            stand.setShort(text.length());
            return stand;
        }
    }

    /** Stands for Replaced. */
    public static class Stand implements Serializable {
        private static final long serialVersionUID = 5L;
        private int length;

        public int getShort() {
            return length;
        }

        public void setShort(int v) {
            length = v;
        }

        private Object readResolve() {
            Replaced replaced = new Replaced();
            replaced.setText("after " + length);
            return replaced;
        }
    }

    public static class External implements Externalizable {
        private static final long serialVersionUID = 6L;
        private String text = "";
        private Object inner;

        public External() {
        }

        public External(String text, Object inner) {
            this.text = text;
            this.inner = inner;
        }

        public String getText() {
            return text;
        }

        @Override
        public void writeExternal(ObjectOutput out) throws IOException {
            out.writeUTF(text);
            out.writeObject(inner);
            out.writeDouble(0.5);
        }

        @Override
        public void readExternal(ObjectInput in) throws IOException, ClassNotFoundException {
            text = in.readUTF();
            inner = in.readObject();
            in.readDouble();
        }
    }

    @Getter
    @Setter
    public static class Items extends ArrayList<String> {
        private static final long serialVersionUID = 7L;
        private String title;
        private int limit;
    }

    @Getter
    @Setter
    public static class Tags extends HashSet<String> {
        private static final long serialVersionUID = 8L;
        private String owner;
    }

    @Getter
    @Setter
    public static class Dictionary extends HashMap<String, Object> {
        private static final long serialVersionUID = 9L;
        private String language;
        private int entries;
    }

    @Getter
    @Setter
    public static class Index extends TreeMap<String, Integer> {
        private static final long serialVersionUID = 10L;
        private String unit;
    }

    public static class Cache extends LinkedHashMap<Integer, String> {
        private static final long serialVersionUID = 11L;
    }

    /** Sorts from the end. */
    public static class Backwards implements Comparator<String>, Serializable {
        private static final long serialVersionUID = 12L;
        private int weight = 3;

        @Override
        public int compare(String a, String b) {
            return b.compareTo(a);
        }
    }

    /** For proxies as values. */
    public interface Greeter {
        String greet(String name);
    }

    public static class Handler implements InvocationHandler, Serializable {
        private static final long serialVersionUID = 13L;
        private String greeting = "hello ";

        @Override
        public Object invoke(Object proxy, Method method, Object[] args) {
            return switch (method.getName()) {
                case "hashCode" -> 1;
                case "equals" -> proxy == args[0];
                case "toString" -> "proxy";
                default -> greeting + args[0];
            };
        }
    }
}
