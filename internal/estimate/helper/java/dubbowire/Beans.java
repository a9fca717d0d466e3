package dubbowire;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Objects of the user's classes: made without a constructor, their fields set by reflection. */
final class Beans {
    private static final Object UNSAFE;
    private static final Method ALLOCATE;

    static {
        Object unsafe = null;
        Method allocate = null;
        try {
            Class<?> c = Class.forName("sun.misc.Unsafe");
            Field f = c.getDeclaredField("theUnsafe");
            f.setAccessible(true);
            unsafe = f.get(null);
            allocate = c.getMethod("allocateInstance", Class.class);
        } catch (ReflectiveOperationException | RuntimeException e) {
            System.err.println("objects cannot be made without their constructor: " + e);
        }
        UNSAFE = unsafe;
        ALLOCATE = allocate;
    }

    private final Map<Class<?>, Shape> shapes = new HashMap<>();

    /** The fields of a class, by name: the one of the class itself before those that it hides. */
    static final class Shape {
        final Class<?> type;
        final Map<String, List<Field>> fields = new LinkedHashMap<>();
        Map<Field, Object> transients; // what the constructor puts there; null if it was not asked
        Constructor<?> record; // the canonical one
        String[] components;

        Shape(Class<?> type) {
            this.type = type;
        }
    }

    static Object allocate(Class<?> t) throws Failure {
        if (t.isInterface() || Modifier.isAbstract(t.getModifiers())) {
            throw new Failure(t.getName() + " is abstract, and the class of the object is not known");
        }
        try {
            return ALLOCATE.invoke(UNSAFE, t);
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw new Failure(t.getName() + " cannot be made: " + Failure.line(e));
        }
    }

    /** With the constructor without arguments, which collections need. */
    static Object construct(Class<?> t) throws Failure {
        try {
            Constructor<?> c = t.getDeclaredConstructor();
            c.setAccessible(true);
            return c.newInstance();
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw new Failure(t.getName() + " cannot be made: " + Failure.line(e));
        }
    }

    Shape shape(Class<?> t) {
        Shape s = shapes.get(t);
        if (s == null) {
            s = new Shape(t);
            for (Class<?> c = t; c != null && c != Object.class; c = c.getSuperclass()) {
                for (Field f : c.getDeclaredFields()) {
                    if (!Modifier.isStatic(f.getModifiers())) {
                        s.fields.computeIfAbsent(f.getName(), k -> new ArrayList<>(1)).add(f);
                    }
                }
            }
            record(s);
            shapes.put(t, s);
        }
        return s;
    }

    /** Records are of later releases of Java than this source. */
    private static void record(Shape s) {
        try {
            if (!(Boolean) Class.class.getMethod("isRecord").invoke(s.type)) {
                return;
            }
            Object[] components = (Object[]) Class.class.getMethod("getRecordComponents").invoke(s.type);
            Class<?>[] types = new Class<?>[components.length];
            s.components = new String[components.length];
            for (int i = 0; i < components.length; i++) {
                types[i] = (Class<?>) components[i].getClass().getMethod("getType").invoke(components[i]);
                s.components[i] = (String) components[i].getClass().getMethod("getName").invoke(components[i]);
            }
            s.record = s.type.getDeclaredConstructor(types);
            s.record.setAccessible(true);
        } catch (ReflectiveOperationException | RuntimeException e) {
            s.record = null;
        }
    }

    /**
     * Serializations that ask getters also write transient fields, which others leave out. One object made by the constructor tells what is in
     * them; texts, numbers and constants are copied from it. Only for classes that an application declares, not for any that a capture names.
     */
    private static void transients(Shape s) {
        s.transients = new LinkedHashMap<>();
        List<Field> wanted = new ArrayList<>();
        for (List<Field> named : s.fields.values()) {
            for (Field f : named) {
                Class<?> t = f.getType();
                if (Modifier.isTransient(f.getModifiers()) && (t.isPrimitive() || t == String.class || t.isEnum() || Number.class.isAssignableFrom(t) || t == Boolean.class)
                    && !f.getDeclaringClass().getName().startsWith("java.")) {
                    wanted.add(f);
                }
            }
        }
        if (wanted.isEmpty() || s.record != null || Modifier.isAbstract(s.type.getModifiers())) {
            return;
        }
        try {
            Object made = construct(s.type);
            for (Field f : wanted) {
                f.setAccessible(true);
                s.transients.put(f, f.get(made));
            }
        } catch (Failure | ReflectiveOperationException | RuntimeException | LinkageError e) {
            s.transients.clear();
        }
    }

    /** Fills an object that has just been allocated; asked is whether its constructor may tell what its transient fields hold. */
    void fill(Object object, Shape shape, Type declared, boolean asked, Node n, Values values) throws Failure {
        if (asked && shape.transients == null) {
            transients(shape);
        }
        if (asked) {
            for (Map.Entry<Field, Object> e : shape.transients.entrySet()) {
                set(object, e.getKey(), e.getValue());
            }
        }
        Map<TypeVariable<?>, Type> open = new HashMap<>();
        for (Type t = declared; t != null && Generics.raw(t) != Object.class; t = Generics.resolve(Generics.raw(t).getGenericSuperclass(), open)) {
            open.putAll(Generics.variables(t));
        }
        Hidden hidden = new Hidden(shape, n);
        Map<String, Object> times = null;
        for (int i = 0; i < n.inner.length; i++) {
            Node in = n.inner[i];
            String name = in.name;
            if (n.kind == Node.MAP && !in.isField()) {
                name = in.followed().text;
                in = ++i < n.inner.length ? n.inner[i] : null;
            }
            if (name == null || in == null) {
                throw new Failure(shape.type.getName() + ": a field without a name");
            }
            Field f = field(shape, name, hidden);
            if (f == null) {
                if (name.equals("#custom") || hasGetter(shape.type, name) || name.startsWith("@")) {
                    continue;
                }
                throw new Failure(shape.type.getName() + " has no field " + name + ": the capture was made with another version of the class").placed();
            }
            try {
                Object value = null;
                // Hessian and Fury do not write times as references. Equal ones in one object are one object: the time at which it was made.
                String time = in.kind == Node.DATE && (values.timesCopied || in.type != null && in.type.contains(".hessian.")) ? in.type + in.text : null;
                if (time != null && times != null) {
                    value = times.get(time);
                }
                if (value == null || !f.getType().isInstance(value)) {
                    value = values.build(in, Generics.resolve(f.getGenericType(), open));
                }
                if (time != null) {
                    times = times == null ? new HashMap<>() : times;
                    times.put(time, value);
                }
                set(object, f, value);
            } catch (Failure failed) {
                throw failed.in(shape.type.getSimpleName() + "." + name);
            }
        }
    }

    static void set(Object object, Field f, Object value) throws Failure {
        try {
            f.setAccessible(true);
            f.set(object, value);
        } catch (IllegalAccessException | RuntimeException e) {
            throw new Failure("field " + f.getDeclaringClass().getSimpleName() + "." + f.getName() + " cannot be set: " + Failure.line(e)).placed();
        }
    }

    /** The field of a name, which may be hidden by another one: the second of that name, or with its class before a #. */
    private static Field field(Shape shape, String name, Hidden hidden) {
        List<Field> named = shape.fields.get(name);
        if (named != null) {
            return named.size() == 1 ? named.get(0) : hidden.next(name, named);
        }
        int at = name.indexOf('#');
        if (at > 0 && shape.fields.containsKey(name.substring(at + 1))) {
            for (Field f : shape.fields.get(name.substring(at + 1))) {
                String owner = f.getDeclaringClass().getName();
                if (owner.equals(name.substring(0, at)) || owner.endsWith("." + name.substring(0, at)) || owner.endsWith("$" + name.substring(0, at))) {
                    return f;
                }
            }
        }
        if (name.isEmpty()) {
            return null;
        }
        // A property of a getter has another first letter than its field at times.
        char first = name.charAt(0);
        named = shape.fields.get((Character.isUpperCase(first) ? Character.toLowerCase(first) : Character.toUpperCase(first)) + name.substring(1));
        if (named == null && (shape.fields.containsKey("is" + Character.toUpperCase(first) + name.substring(1)))) {
            named = shape.fields.get("is" + Character.toUpperCase(first) + name.substring(1)); // boolean isOpen; isOpen() is the property open
        }
        for (Map.Entry<String, List<Field>> e : named != null ? Collections.<String, List<Field>>emptyMap().entrySet() : shape.fields.entrySet()) {
            if (e.getKey().equalsIgnoreCase(name)) { // getURL() is the property url
                named = e.getValue();
            }
        }
        return named == null ? null : named.get(0);
    }

    /**
     * Fields that hide each other have the same name on the wire in some formats. Whether those of the superclass come first is told by
     * the order of the other fields.
     */
    private static final class Hidden {
        private final Map<String, Integer> count = new HashMap<>();
        private Map<String, Integer> seen = new HashMap<>();
        private boolean superclassFirst;

        Hidden(Shape shape, Node n) {
            boolean any = false;
            for (List<Field> named : shape.fields.values()) {
                any |= named.size() > 1;
            }
            if (!any || n.kind != Node.OBJECT) {
                return;
            }
            for (Node in : n.inner) {
                count.merge(String.valueOf(in.name), 1, Integer::sum);
            }
            int without = wrong(shape, n);
            superclassFirst = true;
            superclassFirst = wrong(shape, n) <= without;
        }

        Field next(String name, List<Field> named) {
            int nth = seen.merge(name, 1, Integer::sum) - 1;
            return named.get(superclassFirst ? Math.max(0, count.getOrDefault(name, 1) - 1 - nth) % named.size() : Math.min(nth, named.size() - 1));
        }

        /** How often a field would follow one that it cannot follow. */
        private int wrong(Shape shape, Node n) {
            int wrong = 0, last = -1;
            for (Node in : n.inner) {
                List<Field> named = shape.fields.get(in.name);
                if (named == null || named.size() > 1 && count.get(in.name) < 2) {
                    continue;
                }
                Field f = named.size() == 1 ? named.get(0) : next(in.name, named);
                int depth = 0;
                for (Class<?> c = shape.type; c != f.getDeclaringClass(); c = c.getSuperclass()) {
                    depth++;
                }
                if (last >= 0 && (superclassFirst ? depth > last : depth < last)) {
                    wrong++;
                }
                last = depth;
            }
            seen = new HashMap<>();
            return wrong;
        }
    }

    private static boolean hasGetter(Class<?> t, String name) {
        if (name.isEmpty()) {
            return false;
        }
        String end = Character.toUpperCase(name.charAt(0)) + name.substring(1);
        for (Method m : t.getMethods()) {
            if (m.getParameterTypes().length == 0 && (m.getName().equals("get" + end) || m.getName().equals("is" + end) || m.getName().equals(name))) {
                return true;
            }
        }
        return false;
    }

    /** A record, by its canonical constructor. */
    Object record(Shape shape, Type declared, Node n, Values values) throws Failure {
        Map<TypeVariable<?>, Type> open = Generics.variables(declared);
        Class<?>[] types = shape.record.getParameterTypes();
        Type[] generic = shape.record.getGenericParameterTypes();
        Object[] arguments = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            Node in = n.get(shape.components[i]);
            if (in == null && types[i].isPrimitive()) {
                in = new Node();
                in.kind = types[i] == boolean.class ? Node.BOOL : Node.INT;
            }
            try {
                arguments[i] = in == null ? null : values.build(in, Generics.resolve(generic.length == types.length ? generic[i] : types[i], open));
            } catch (Failure failed) {
                throw failed.in(shape.type.getSimpleName() + "." + shape.components[i]);
            }
        }
        try {
            return shape.record.newInstance(arguments);
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw new Failure(shape.type.getName() + " cannot be made: " + Failure.line(e));
        }
    }
}
