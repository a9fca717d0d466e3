package dubbowire;

import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;

/** What a method declares: from the service's interface if it is in the jars, else from the descriptor on the wire. */
final class Signature {
    private static final int MOST = 10_000; // methods that are remembered

    String descriptor = "";
    Class<?>[] classes = {};
    Type[] types = {}; // with their generic arguments where the interface is there
    Type result = Object.class;
    Class<?> service; // null if it is not in the jars

    static final class Cache {
        private final Classes classes;
        private final Map<String, Object> known = new HashMap<>();

        Cache(Classes classes) {
            this.classes = classes;
        }

        Signature of(Message m) throws Failure {
            String key = m.service + "\n" + m.method + "\n" + m.descriptor + (m.descriptor == null ? m.response ? -1 : m.values.length : "");
            Object found = known.get(key);
            if (found == null) {
                try {
                    found = find(m);
                } catch (Failure f) {
                    found = f;
                }
                if (known.size() < MOST) {
                    known.put(key, found);
                }
            }
            if (found instanceof Failure) {
                throw (Failure) found;
            }
            return (Signature) found;
        }

        private Signature find(Message m) throws Failure {
            Signature s = new Signature();
            Method method = null;
            if (m.service != null && m.method != null) {
                try {
                    Class<?> service = classes.find(m.service);
                    if (classes.ours(service)) {
                        s.service = service;
                        method = method(service, m);
                    }
                } catch (Failure | LinkageError e) {
                    s.service = null; // then the descriptor has to do
                }
            }
            if (method != null) {
                s.classes = method.getParameterTypes();
                s.types = method.getGenericParameterTypes();
                s.result = later(method.getGenericReturnType());
                s.descriptor = descriptor(s.classes);
                return s;
            }
            Messages.Declared taken = Messages.taken(m.service, m.method), returned = Messages.returned(m.service, m.method);
            if (returned != null) {
                s.result = returned;
            }
            if (m.descriptor == null && taken != null) {
                s.types = new Type[] {taken};
                s.classes = new Class<?>[] {taken.raw()};
                return s;
            }
            if (m.descriptor == null && !m.response && m.values.length > 0) {
                throw new Failure("the types of the parameters of " + m.method + " are not known: its service is not in the jars (--classpath)");
            }
            try {
                s.descriptor = m.descriptor == null ? "" : m.descriptor;
                s.types = parse(s.descriptor);
                s.classes = new Class<?>[s.types.length];
                for (int i = 0; i < s.types.length; i++) {
                    s.classes[i] = Generics.raw(s.types[i]);
                }
            } catch (Failure f) {
                if (!m.response) {
                    throw f; // a response needs only its result
                }
            }
            return s;
        }

        private static Method method(Class<?> service, Message m) {
            List<Method> named = new ArrayList<>();
            for (Method candidate : service.getMethods()) {
                boolean fits = m.descriptor != null ? m.descriptor.equals(descriptor(candidate.getParameterTypes()))
                    : m.response || candidate.getParameterTypes().length == m.values.length;
                if (fits && candidate.getName().equals(m.method) && !candidate.isBridge()) {
                    named.add(candidate);
                }
            }
            Method first = named.isEmpty() ? null : named.get(0);
            for (Method other : named) {
                // An overridden method is listed with each of its declarations.
                if (!descriptor(other.getParameterTypes()).equals(descriptor(first.getParameterTypes()))) {
                    return null;
                }
                if (first.getReturnType().isAssignableFrom(other.getReturnType())) {
                    first = other;
                }
            }
            return first;
        }

        /** What a CompletableFuture will hold. */
        private static Type later(Type result) {
            return Future.class.isAssignableFrom(Generics.raw(result)) ? Generics.argument(result, Generics.raw(result), 0) : result;
        }

        private Type[] parse(String descriptor) throws Failure {
            List<Type> all = new ArrayList<>();
            for (int i = 0; i < descriptor.length();) {
                int dimensions = 0;
                while (i < descriptor.length() && descriptor.charAt(i) == '[' && dimensions < 16) {
                    dimensions++;
                    i++;
                }
                int code = i < descriptor.length() ? "ZBSCIJFDV".indexOf(descriptor.charAt(i)) : -1;
                Class<?> c;
                if (code >= 0) {
                    c = classes.find("boolean byte short char int long float double void".split(" ")[code]);
                    i++;
                } else {
                    int end = descriptor.indexOf(';', i);
                    if (end < 0 || descriptor.charAt(i) != 'L') {
                        throw new Failure("no descriptor of parameters: " + Failure.cut(descriptor));
                    }
                    String name = descriptor.substring(i + 1, end).replace('/', '.');
                    i = end + 1;
                    Messages.Declared message = dimensions == 0 && !classes.has(name) ? Messages.ofClass(name) : null;
                    if (message != null) {
                        all.add(message);
                        continue;
                    }
                    c = classes.find(name);
                }
                all.add(dimensions == 0 ? c : Array.newInstance(c, new int[dimensions]).getClass());
            }
            return all.toArray(new Type[0]);
        }
    }

    static String descriptor(Class<?>[] classes) {
        StringBuilder s = new StringBuilder();
        for (Class<?> c : classes) {
            String array = Array.newInstance(c == void.class ? Object.class : c, 0).getClass().getName();
            s.append(array.substring(1).replace('.', '/'));
        }
        return s.toString();
    }
}
