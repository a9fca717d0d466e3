package p;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Set;
import org.apache.dubbo.common.serialize.support.SerializationOptimizer;

/** Optimizers as people write them; the tests say what each returns. */
class Optimizers {
    static class Added implements SerializationOptimizer {
        public Collection<Class<?>> getSerializableClasses() {
            List<Class<?>> classes = new LinkedList<>();
            classes.add(Model.class);
            classes.add(Model.Color.class);
            classes.add(Model[].class);
            classes.add(int.class);
            classes.add(Model.Bottom.class);
            return classes;
        }
    }

    static class Listed implements SerializationOptimizer {
        public List<Class<?>> getSerializableClasses() { // with a bridge that returns a Collection
            return Collections.unmodifiableList(Arrays.asList(Model.Point.class, Model.class));
        }
    }

    static class Constant implements SerializationOptimizer {
        private static final List<Class<?>> CLASSES = new ArrayList<>(List.of(Model.class, Model.Color.class));

        static {
            CLASSES.add(Model.Point.class);
            Collections.addAll(CLASSES, Model.Raw.class, String.class);
        }

        public Collection<Class<?>> getSerializableClasses() { return CLASSES; }
    }

    static class Field implements SerializationOptimizer {
        private final Set<Class<?>> classes = new LinkedHashSet<>(16);
        private final Object other = new Object();

        Field() {
            classes.add(Model.Raw.class);
            classes.addAll(Arrays.asList(Model.class, Model.Base.class));
        }

        public Collection<Class<?>> getSerializableClasses() { return classes; }
    }

    static class Null implements SerializationOptimizer {
        public Collection<Class<?>> getSerializableClasses() { return null; }
    }

    static class Unordered implements SerializationOptimizer {
        public Collection<Class<?>> getSerializableClasses() {
            Set<Class<?>> classes = new HashSet<>();
            classes.add(Model.class);
            classes.add(Model.Color.class);
            return classes;
        }
    }

    static class Loop implements SerializationOptimizer {
        public Collection<Class<?>> getSerializableClasses() {
            List<Class<?>> classes = new ArrayList<>();
            for (Class<?> c : Model.class.getDeclaredClasses()) {
                classes.add(c);
            }
            return classes;
        }
    }

    static class Elsewhere implements SerializationOptimizer {
        public Collection<Class<?>> getSerializableClasses() {
            List<Class<?>> classes = new ArrayList<>();
            classes.add(Model.class);
            more(classes);
            classes.addAll(others(1L, Model.Raw.class));
            return classes;
        }

        static void more(List<Class<?>> classes) { classes.add(Model.Color.class); }

        private List<Class<?>> others(long n, Class<?> first) { return Arrays.asList(first, Model.Base.class); }
    }

    static class Outside implements SerializationOptimizer {
        public Collection<Class<?>> getSerializableClasses() {
            List<Class<?>> classes = new ArrayList<>();
            classes.add(Model.class);
            Elsewhere.more(classes);
            return classes;
        }
    }

    static class ByName implements SerializationOptimizer {
        public Collection<Class<?>> getSerializableClasses() {
            try {
                return Arrays.asList(Model.class, Class.forName("p.Model$Color"));
            } catch (ClassNotFoundException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static class Removed implements SerializationOptimizer {
        private static final List<Class<?>> CLASSES = new ArrayList<>(Arrays.asList(Model.class, Model.Color.class));

        static {
            if (System.currentTimeMillis() > 0) {
                CLASSES.remove(0);
            }
        }

        public Collection<Class<?>> getSerializableClasses() { return CLASSES; }
    }

    abstract static class Abstract implements SerializationOptimizer {}

    static class Inherited extends Listed {}
}
