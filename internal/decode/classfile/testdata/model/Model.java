package p;

import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamField;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.Callable;
import org.nustaq.serialization.annotations.Predict;
import org.nustaq.serialization.annotations.Version;

/** What the tests of the class file reader read: ../make.sh compiles them. */
public class Model implements Serializable {
    private static final long serialVersionUID = -81985529216486896L;

    int number;
    transient String hidden;
    protected volatile Map<String, List<? super Integer>> generic;
    private final String[][] texts = {{}};
    static int counter;

    /** Without serialVersionUID: everything that it is computed from. */
    public static class Computed extends Model implements Comparable<Computed>, Callable<String> {
        static final Object LOCK = new Object();
        private transient int unseen;
        private static int unseenToo;
        protected long größe;
        int number; // shadows that of Model

        protected Computed(String text) {}

        Computed() {}

        private Computed(int n) {}

        @Override public int compareTo(Computed o) { return 0; }

        @Override public synchronized String call() { return ""; }

        static native double fast(int[] a, Model... b);

        private void unheard() {}
    }

    static class Assigned implements Serializable {
        private static final long serialVersionUID;

        static {
            serialVersionUID = 1234567890123L;
        }
    }

    static class Unknown implements Serializable {
        private static final long serialVersionUID = Long.parseLong("5");
    }

    static class Narrow implements Serializable {
        static final short serialVersionUID = -7;
    }

    /** Generic types three deep, and variables that subclasses bind. */
    public abstract static class Base<T extends Comparable<? super T> & Serializable, U> implements Serializable {
        T value;
        List<U> list;
        Map<T, List<U[]>>[] maps;
        Inner inner;

        class Inner {
            T inOuter;
        }

        class Pair<V> extends Inner {
            V second;
            Map.Entry<V, Base<T, U>.Pair<V>> entry;
        }
    }

    public static class Middle<X> extends Base<String, Map<String, List<X>>> {
        X own;
    }

    public static final class Bottom extends Middle<Integer[]> {
        int number;
    }

    @SuppressWarnings("rawtypes")
    static class Raw extends Base {
        List<?> any;
        Collection<? extends Number> numbers;
    }

    public enum Color { RED, GREEN, BLUE; static final Color DEFAULT = GREEN; }

    public enum Shape {
        ROUND { @Override int sides() { return 0; } },
        SQUARE { @Override int sides() { return 4; } };

        abstract int sides();
    }

    public record Point(int x, long y, List<String> names) implements Serializable {
        static int made;

        private Object writeReplace() { return this; }
    }

    static class Custom implements Serializable {
        private void writeObject(ObjectOutputStream out) throws IOException { out.defaultWriteObject(); }

        private void readObject(ObjectInputStream in) {}

        private void readObjectNoData() {}

        Object readResolve() { return this; }
    }

    static class CustomChild extends Custom {
        void writeObject(ObjectOutputStream out) {} // not private: not called

        private static void readObject(ObjectInputStream in) {}

        private Object writeReplace() { return this; }
    }

    static class CustomGrandchild extends CustomChild {} // inherits readResolve, not the private writeReplace

    static class Covariant extends CustomChild {
        @Override CustomChild readResolve() { return this; } // and a bridge that returns Object
    }

    public static class External implements Externalizable {
        public External() {}

        @Override public void writeExternal(ObjectOutput out) {}

        @Override public void readExternal(ObjectInput in) {}
    }

    static class Persistent implements Serializable {
        private static final ObjectStreamField[] serialPersistentFields = {new ObjectStreamField("other", int.class)};
        int field;
    }

    static class NoDefault {
        final int needed;

        NoDefault(int needed) { this.needed = needed; }
    }

    @Predict({Model.class, int[].class})
    static class Annotated {
        @Version(3) int added;
        @Deprecated int old;
        @Version int first;
    }

    interface Sized extends SortedMap<String, Model>, Serializable {
        int SIZE = 3;

        int length();
    }

    interface Empty extends Serializable {}

    public Object anonymous() {
        class Local implements Serializable {
            int captured = number;
        }
        return new ArrayList<Local>() {
            int more = 1;
        };
    }
}
