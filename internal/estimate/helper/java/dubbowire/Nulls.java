package dubbowire;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;

/** Finds the null that a serialization without nulls has met, in the order in which it writes. */
final class Nulls {
    private static final int DEEPEST = 100, MOST = 100_000; // objects
    private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());

    private Nulls() {
    }

    /** Why a message cannot be written; null if it has no null. */
    static String first(Message m) {
        if (m.response) {
            return m.objects.length == 0 || m.objects[0] == null ? "a result that is null" : new Nulls().in(m.objects[0], "the result", 0);
        }
        Nulls nulls = new Nulls();
        for (int i = 0; i < m.objects.length; i++) {
            String found = m.objects[i] == null ? "null in argument " + (i + 1) : nulls.in(m.objects[i], "argument " + (i + 1), 0);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private String in(Object o, String name, int depth) {
        if (depth > DEEPEST || seen.size() > MOST || !seen.add(o)) {
            return null;
        }
        if (o instanceof Collection || o instanceof Map) {
            for (Object e : o instanceof Map ? ((Map<?, ?>) o).values() : (Collection<?>) o) {
                String found = e == null ? "a null in " + name : in(e, name, depth + 1);
                if (found != null) {
                    return found;
                }
            }
            return null;
        }
        if (o instanceof Object[]) {
            for (int i = 0; i < Array.getLength(o); i++) {
                Object e = Array.get(o, i);
                String found = e == null ? "a null in " + name : in(e, name, depth + 1);
                if (found != null) {
                    return found;
                }
            }
            return null;
        }
        if (o.getClass().getName().startsWith("java.") || o instanceof Enum) {
            return null;
        }
        return fields(o, o.getClass(), depth);
    }

    private String fields(Object o, Class<?> c, int depth) {
        if (c == null || c.getName().startsWith("java.")) {
            return null;
        }
        String found = fields(o, c.getSuperclass(), depth);
        for (Field f : found == null ? c.getDeclaredFields() : new Field[0]) {
            if (Modifier.isStatic(f.getModifiers()) || Modifier.isTransient(f.getModifiers()) || f.getType().isPrimitive()) {
                continue;
            }
            String name = c.getSimpleName() + "." + f.getName();
            try {
                f.setAccessible(true);
                Object value = f.get(o);
                found = value == null ? "null in " + name : in(value, name, depth + 1);
            } catch (ReflectiveOperationException e) {
                found = null;
            }
            if (found != null) {
                break;
            }
        }
        return found;
    }
}
