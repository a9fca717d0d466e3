package dubbowire;

import java.lang.reflect.Array;
import java.lang.reflect.Type;
import java.util.AbstractMap;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicReference;

/** Makes objects of nodes. The declared type, with its generic arguments, decides where the wire leaves it open. */
@SuppressWarnings({"unchecked", "rawtypes"})
final class Values {
    private static final int MOST_COPIES = 1 << 16;
    private static final String OBJECT = "java.lang.Object";
    private final Classes classes;
    private final Beans beans = new Beans();
    boolean timesCopied; // in the message
    private final Messages messages = new Messages();

    Values(Classes classes) {
        this.classes = classes;
    }

    Object build(Node n, Type declared) throws Failure {
        Class<?> want = Generics.raw(declared);
        if (n.kind == Node.REF) {
            return shared(n.target, declared, want);
        }
        Object value = make(n, declared, want);
        n.value = value;
        n.built = true;
        return value;
    }

    /** An object that stood on the wire before. */
    private Object shared(Node target, Type declared, Class<?> want) throws Failure {
        Node n = target.followed();
        if (n.value == null) {
            if (n.built || n.kind == Node.NULL) {
                return nothing(want);
            }
            if (n.isScalar()) {
                return make(n, declared, want); // it was a part of a value that was built at once
            }
            throw new Failure("a cycle through " + n.what() + ", which is complete when it is made");
        }
        if (boxed(want).isInstance(n.value)) {
            return n.value;
        }
        if (n.isScalar()) {
            return make(n, declared, want);
        }
        throw new Failure(n.value.getClass().getName() + " where " + want.getName() + " is declared");
    }

    private static Class<?> boxed(Class<?> c) {
        return c.isPrimitive() ? Array.get(Array.newInstance(c, 1), 0).getClass() : c;
    }

    private static Object nothing(Class<?> want) throws Failure {
        if (want.isPrimitive() && want != void.class) {
            throw new Failure("null where " + want + " is declared");
        }
        return null;
    }

    private Object make(Node n, Type declared, Class<?> want) throws Failure {
        if (n.kind == Node.UNWRITTEN) {
            return any(want);
        }
        if (want == Optional.class) {
            return optional(n, declared);
        }
        if (n.kind == Node.NULL) {
            return want.getName().startsWith("java.util.Optional") ? Scalars.build(want, n) : nothing(want);
        }
        if (Messages.is(want)) {
            return declared instanceof Messages.Declared ? messages.build(n, (Messages.Declared) declared) : messages.build(n, want);
        }
        Class<?> type = type(n, want);
        if (type == Class.class || type == Object.class && n.kind == Node.OBJECT && "java.lang.Class".equals(n.type)) {
            throw new Failure("a Class is never built");
        }
        if (type == Object.class && n.kind == Node.OBJECT && OBJECT.equals(n.type)) {
            return new Object();
        }
        Object scalar = type.isArray() ? Scalars.OTHER : Scalars.build(type, n);
        if (scalar != Scalars.OTHER) {
            return scalar;
        }
        if (type.isArray()) {
            return array(n, declared, type);
        }
        if (Containers.isWrapper(type.getName())) {
            if (n.kind == Node.OBJECT) { // with what it wraps as a field
                Node content = n.get("c", "m");
                if (content == null) {
                    throw new Failure(type.getName() + " without its content");
                }
                return Containers.wrap(type.getName(), build(content, container(content, declared)));
            }
            Class<?> inside = Containers.inside(type.getName());
            Object content = Map.class.isAssignableFrom(inside) ? map(n, declared, inside, type) : collection(n, declared, inside, type);
            return n.value != null ? n.value : Containers.isWrapper(content.getClass().getName()) ? content : Containers.wrap(type.getName(), content);
        }
        if (Collection.class.isAssignableFrom(type)) {
            return collection(n, declared, type, null);
        }
        if (Map.class.isAssignableFrom(type)) {
            return map(n, declared, type, null);
        }
        return object(n, declared, type);
    }

    /** Values of classes of the JDK of which no object can be allocated. */
    private static final Object[] EXAMPLES = {0, java.time.ZoneOffset.UTC, new java.util.SimpleTimeZone(0, "UTC"), new java.util.GregorianCalendar(), Object.class};

    /** Any value of a class, for a serialization that writes nothing of it. */
    private static Object any(Class<?> want) throws Failure {
        Class<?> c = Map.class.isAssignableFrom(want) ? Containers.usual(want, true) : Containers.usual(want, false);
        if (c == Object.class) {
            return new Object();
        }
        for (Object example : EXAMPLES) {
            if (c.isInstance(example)) {
                return example;
            }
        }
        boolean allocated = c.getName().startsWith("java.") && !c.isEnum() && !c.isInterface() && !java.lang.reflect.Modifier.isAbstract(c.getModifiers());
        return allocated ? Beans.allocate(c) : null;
    }

    /** The class to build: the one on the wire if it fits what is declared, else the declared one or what stands for it. */
    private Class<?> type(Node n, Class<?> want) throws Failure {
        Class<?> said = n.kind == Node.ENUM && n.type == null ? null : classes.of(n);
        if (said != null && Classes.IMMUTABLE.equals(n.type) && java.util.Set.class.isAssignableFrom(want)) {
            said = classes.find("java.util.ImmutableCollections$SetN");
        }
        boolean value = said != null && (said.isEnum() || said.getName().startsWith("java.") && !Collection.class.isAssignableFrom(said)
            && !Map.class.isAssignableFrom(said));
        if (said != null && boxed(want).isAssignableFrom(said) && !said.isInterface() && !(said.getName().equals(OBJECT) && n.kind != Node.OBJECT)) {
            return said;
        }
        if (said != null && !value && !said.isInterface() && !(want.isArray() && said.isArray())) {
            throw new Failure(said.getName() + " where " + want.getName() + " is declared");
        }
        if (said != null && value && want.isAssignableFrom(said)) {
            return said;
        }
        Class<?> natural = Scalars.natural(n);
        if (natural != null) {
            if (Collection.class.isAssignableFrom(want)) {
                return Containers.usual(want, false);
            }
            return want != natural && want.isAssignableFrom(natural) ? natural : want;
        }
        if (want.isArray()) {
            return want;
        }
        switch (n.kind) {
            case Node.LIST:
                return Containers.usual(want, false);
            case Node.MAP:
                return Containers.usual(want, true);
            case Node.OBJECT:
                return want.isInterface() || want == Object.class ? Containers.usual(want, true) : want;
            default:
                return want;
        }
    }

    private Object optional(Node n, Type declared) throws Failure {
        Type inside = Generics.argument(declared, Optional.class, 0);
        Node value = n.kind == Node.OBJECT && "java.util.Optional".equals(n.type) ? n.get("value") : n;
        if (value == null || value.kind == Node.NULL) {
            return Optional.empty();
        }
        return Optional.of(value == n ? make(n, inside, Generics.raw(inside)) : build(value, inside));
    }

    /** What a wrapper's content is declared as: a collection or a map with the same arguments. */
    private static Type container(Node content, Type declared) {
        if (content.followed().kind == Node.MAP) {
            return Generics.made(Map.class, Generics.argument(declared, Map.class, 0), Generics.argument(declared, Map.class, 1));
        }
        return Generics.made(Collection.class, Generics.argument(declared, Collection.class, 0));
    }

    private Object array(Node n, Type declared, Class<?> type) throws Failure {
        Class<?> component = type.getComponentType();
        Type element = Generics.raw(declared).isArray() ? Generics.component(declared) : component;
        if (!Generics.raw(element).isAssignableFrom(component) || Generics.raw(element) == Object.class) {
            element = component;
        }
        if (n.kind == Node.BYTES && component == byte.class) {
            return n.bytes;
        }
        if ((n.kind == Node.STRING || n.kind == Node.CHAR) && component == char.class) {
            return n.text.toCharArray();
        }
        if (n.kind == Node.STRING && component == byte.class) { // as JSON has them
            try {
                return java.util.Base64.getMimeDecoder().decode(n.text);
            } catch (IllegalArgumentException e) {
                throw new Failure("a text that is no Base64 where bytes are declared");
            }
        }
        if (n.kind == Node.BYTES && component == Byte.class) {
            Byte[] all = new Byte[n.bytes.length];
            for (int i = 0; i < all.length; i++) {
                all[i] = n.bytes[i];
            }
            return all;
        }
        if (n.kind != Node.LIST) {
            throw new Failure(n.what() + " where an array is declared");
        }
        Object array = Array.newInstance(component, elementCount(n));
        n.value = array;
        int at = 0;
        for (Node in : n.inner) {
            if (!in.isField()) {
                Array.set(array, at++, build(in, element));
            }
        }
        return array;
    }

    private static int elementCount(Node n) {
        int count = 0;
        for (Node in : n.inner) {
            count += in.isField() ? 0 : 1;
        }
        return count;
    }

    private Object[] elements(Node n, Type element) throws Failure {
        if (n.kind == Node.BYTES) {
            Object[] all = new Object[n.bytes.length];
            for (int i = 0; i < all.length; i++) {
                all[i] = n.bytes[i];
            }
            return all;
        }
        if (n.kind == Node.OBJECT && Classes.IMMUTABLE.equals(n.type)) {
            return new Object[0]; // Hessian does not write its elements
        }
        Node[] held = n.kind == Node.OBJECT ? held(n) : null;
        if (held != null) {
            Object[] all = new Object[held.length];
            for (int i = 0; i < all.length; i++) {
                all[i] = i > 0 && held[i] == held[i - 1] ? all[i - 1] : build(held[i], element); // copies of one are one
            }
            return all;
        }
        if (n.kind != Node.LIST) {
            throw new Failure(n.what() + " where a collection is declared");
        }
        Object[] all = new Object[elementCount(n)];
        int at = 0;
        for (Node in : n.inner) {
            if (!in.isField()) {
                all[at++] = build(in, element);
            }
        }
        return all;
    }

    /** The elements of a collection of the JDK that was written by its private fields; keys and values of a map. Null of others. */
    private static Node[] held(Node n) {
        switch (String.valueOf(n.type)) {
            case "java.util.Collections$SingletonList": case "java.util.Collections$SingletonSet":
                return present(n, "element");
            case "java.util.Collections$SingletonMap":
                return present(n, "k", "v");
            case "java.util.ImmutableCollections$Map1":
                return present(n, "k0", "v0");
            case "java.util.ImmutableCollections$List12": case "java.util.ImmutableCollections$Set12":
                return present(n, "e0", "e1");
            case "java.util.ImmutableCollections$ListN": {
                Node elements = n.get("elements");
                return elements != null && elements.kind == Node.LIST ? elements.inner : null;
            }
            case "java.util.Collections$CopiesList": {
                Node count = n.get("n"), element = n.get("element");
                if (count == null || element == null || count.number < 0 || count.number > MOST_COPIES) {
                    return null;
                }
                Node[] all = new Node[(int) count.number];
                java.util.Arrays.fill(all, element);
                return all;
            }
            default:
                return null;
        }
    }

    /** The fields that are there: the second element of a collection of one is an Object. */
    private static Node[] present(Node n, String... names) {
        Node[] all = new Node[names.length];
        int count = 0;
        for (String name : names) {
            Node field = n.get(name);
            if (field != null && !(name.equals("e1") && OBJECT.equals(field.type))) {
                all[count++] = field;
            }
        }
        return Arrays.copyOf(all, count);
    }

    private static EnumSet enumSet(Class<?> constants, Object[] elements) throws Failure {
        Class<?> c = elements.length > 0 && elements[0] instanceof Enum ? ((Enum<?>) elements[0]).getDeclaringClass() : constants;
        if (!c.isEnum()) {
            throw new Failure("an empty EnumSet of constants that are not known");
        }
        EnumSet set = EnumSet.noneOf((Class) c);
        set.addAll(Arrays.asList(elements));
        return set;
    }

    private Object collection(Node n, Type declared, Class<?> type, Class<?> wrapper) throws Failure {
        Type element = Generics.argument(Generics.narrowed(type, declared), Collection.class, 0);
        if (element instanceof java.lang.reflect.TypeVariable) {
            element = Generics.argument(declared, Collection.class, 0);
        }
        if (EnumSet.class.isAssignableFrom(type)) {
            Node content = n.kind == Node.OBJECT ? n.get("elements") : n, constants = n.get("elementType"), name = constants == null ? null : constants.get("name", "value");
            Class<?> constant = name == null ? Generics.raw(element) : classes.find(Scalars.string(name));
            return enumSet(constant, elements(content == null ? n : content, constant));
        }
        if (type.getName().startsWith("java.util.") && isComplete(type)) {
            Object made = Containers.complete(type, elements(n, element), Generics.raw(element));
            if (made != null) {
                return made;
            }
        }
        if (type == TreeSet.class || type == ConcurrentSkipListSet.class) {
            Object[] all = elements(n, element); // first: their order tells the comparator
            Collection<Object> sorted = (Collection<Object>) empty(type, n, all);
            sorted.addAll(Arrays.asList(all));
            return wrapper == null ? sorted : Containers.wrap(wrapper.getName(), sorted);
        }
        Collection<Object> made = (Collection<Object>) empty(type, n, null);
        n.value = wrapper == null ? made : Containers.wrap(wrapper.getName(), made);
        Object[] all = elements(n, element);
        for (Object e : all) {
            if (e instanceof java.net.URL && made instanceof java.util.Set) {
                throw new Failure("a URL in a set, whose hash asks for an address");
            }
        }
        Containers.sized(made, all);
        made.addAll(Arrays.asList(all));
        own(made, n, declared);
        return made;
    }

    private static boolean isComplete(Class<?> type) {
        return type.getName().indexOf('$') > 0 || type.getName().endsWith("SubList");
    }

    /** Sorted collections take an order of the JDK with them. Formats that do not write it leave it to the keys, which go down in the reverse order. */
    private Object empty(Class<?> type, Node n, Object[] keys) throws Failure {
        Node comparator = n.get("comparator");
        java.util.Comparator order = comparator != null && isFieldOf(n, comparator) ? Containers.comparator(comparator) : Containers.goDown(keys)
            ? java.util.Collections.reverseOrder() : null;
        if (order != null) {
            switch (type.getName()) {
                case "java.util.TreeSet": return new TreeSet<>(order);
                case "java.util.TreeMap": return new TreeMap<>(order);
                case "java.util.concurrent.ConcurrentSkipListMap": return new ConcurrentSkipListMap<>(order);
                case "java.util.concurrent.ConcurrentSkipListSet": return new ConcurrentSkipListSet<>(order);
                case "java.util.PriorityQueue": return new PriorityQueue<>(order);
                default:
            }
        }
        return Beans.construct(type);
    }

    private static boolean isFieldOf(Node n, Node field) {
        for (Node in : n.inner) {
            if (in.isField() && in.followed() == field) {
                return true;
            }
        }
        return false;
    }

    /** Fields that a user's collection has besides its elements. */
    private void own(Object made, Node n, Type declared) throws Failure {
        if (!classes.ours(made.getClass())) {
            return;
        }
        Beans.Shape shape = beans.shape(made.getClass());
        for (Node in : n.inner) {
            java.util.List<java.lang.reflect.Field> named = in.isField() && in.name != null ? shape.fields.get(in.name) : null;
            if (named != null && classes.ours(named.get(0).getDeclaringClass())) {
                Beans.set(made, named.get(0), build(in, Generics.resolve(named.get(0).getGenericType(), Generics.variables(declared))));
            }
        }
    }

    private Object map(Node n, Type declared, Class<?> type, Class<?> wrapper) throws Failure {
        if (n.kind != Node.MAP && n.kind != Node.OBJECT) {
            throw new Failure(n.what() + " where a map is declared");
        }
        Type seen = Generics.as(declared, Map.class) != null ? declared : type;
        Type key = Generics.argument(seen, Map.class, 0), value = Generics.argument(seen, Map.class, 1);
        if (classes.ours(type)) {
            Type mine = Generics.narrowed(type, declared);
            key = Generics.argument(mine, Map.class, 0);
            value = Generics.argument(mine, Map.class, 1);
        }
        boolean constants = EnumMap.class.isAssignableFrom(type), complete = type.getName().startsWith("java.util.") && type.getName().indexOf('$') > 0;
        Map<Object, Object> made = null;
        boolean sorted = type == TreeMap.class || type == ConcurrentSkipListMap.class;
        if (!constants && !complete && !sorted) {
            made = (Map<Object, Object>) empty(type, n, null);
            n.value = wrapper == null ? made : Containers.wrap(wrapper.getName(), made);
        }
        Object[] keys = new Object[n.inner.length], values = new Object[n.inner.length];
        int count = 0;
        Node[] held = n.kind == Node.OBJECT ? held(n) : null;
        if (held != null && held.length == 2 && keys.length >= 2) {
            keys[0] = build(held[0], key);
            values[count++] = build(held[1], value);
        }
        for (int i = 0; i < n.inner.length && held == null && !(n.kind == Node.OBJECT && Classes.IMMUTABLE.equals(n.type)); i++) {
            Node in = n.inner[i];
            if (n.kind == Node.OBJECT) { // a format that does not tell them apart
                keys[count] = build(Node.text(null, String.valueOf(in.name)), key);
                values[count++] = build(in, value);
            } else if (!in.isField() && i + 1 < n.inner.length) {
                keys[count] = build(in, key);
                if (keys[count] instanceof java.net.URL) {
                    throw new Failure("a URL as a key, whose hash asks for an address");
                }
                values[count++] = build(n.inner[++i], value);
            }
        }
        keys = Arrays.copyOf(keys, count);
        values = Arrays.copyOf(values, count);
        if (constants) {
            Class<?> c = count > 0 && keys[0] instanceof Enum ? ((Enum<?>) keys[0]).getDeclaringClass() : Generics.raw(key);
            Node said = n.get("keyType");
            if (!c.isEnum() && said != null && said.get("name", "value") != null) {
                c = classes.find(Scalars.string(said.get("name", "value")));
            }
            if (!c.isEnum()) {
                throw new Failure("an empty EnumMap of constants that are not known");
            }
            made = new EnumMap((Class) c);
        } else if (complete) {
            Map<?, ?> whole = Containers.complete(type, keys, values);
            if (whole == null) {
                throw new Failure("no way to build " + type.getName());
            }
            return whole;
        }
        if (sorted) {
            made = (Map<Object, Object>) empty(type, n, keys);
        }
        Containers.fill(Containers.sized(made, keys), keys, values);
        own(made, n, declared);
        return made;
    }

    private Object object(Node n, Type declared, Class<?> type) throws Failure {
        if (type == AbstractMap.SimpleEntry.class || type == AbstractMap.SimpleImmutableEntry.class || type == Map.Entry.class) {
            Node k = n.get("key"), v = n.get("value");
            Object key = k == null ? null : build(k, Generics.argument(declared, Map.Entry.class, 0));
            Object value = v == null ? null : build(v, Generics.argument(declared, Map.Entry.class, 1));
            return type == AbstractMap.SimpleImmutableEntry.class ? new AbstractMap.SimpleImmutableEntry<>(key, value) : new AbstractMap.SimpleEntry<>(key, value);
        }
        if (type == AtomicReference.class) {
            AtomicReference<Object> made = new AtomicReference<>();
            n.value = made;
            Node v = n.kind == Node.OBJECT && "java.util.concurrent.atomic.AtomicReference".equals(n.type) ? n.get("value") : n;
            Type inside = Generics.argument(declared, AtomicReference.class, 0);
            made.set(v == null ? null : v == n ? make(n, inside, Generics.raw(inside)) : build(v, inside));
            return made;
        }
        if (type == Optional.class) {
            return optional(n, type);
        }
        Node fields = n;
        if (n.kind == Node.ENUM) { // Hessian writes an object whose one text is its name as it writes constants
            fields = new Node();
            fields.kind = Node.OBJECT;
            fields.inner = new Node[] {Node.text("name", n.text)};
        }
        if (fields.kind != Node.OBJECT && fields.kind != Node.MAP) {
            throw new Failure(n.what() + " where " + type.getName() + " is declared");
        }
        if (type == StackTraceElement.class) {
            return frame(n);
        }
        if (!classes.ours(type) && !Throwable.class.isAssignableFrom(type)) {
            throw new Failure("class " + type.getName() + " is neither in the jars (--classpath) nor a value type that can be built from " + n.what());
        }
        Beans.Shape shape = beans.shape(type);
        Type known = Generics.narrowed(type, declared);
        if (shape.record != null) {
            return beans.record(shape, known, fields, this);
        }
        Object made = Beans.allocate(type);
        n.value = made;
        beans.fill(made, shape, known, classes.ours(Generics.raw(declared)), fields, this);
        if (made instanceof Throwable) {
            complete((Throwable) made, fields);
        }
        return made;
    }

    /** What a Throwable has of its own JDK where the wire says nothing. */
    private static void complete(Throwable made, Node n) throws Failure {
        for (String name : new String[] {"stackTrace", "suppressedExceptions"}) {
            if (n.get(name) == null) {
                try {
                    java.lang.reflect.Field f = Throwable.class.getDeclaredField(name);
                    f.setAccessible(true);
                    Throwable fresh = new Throwable();
                    fresh.setStackTrace(new StackTraceElement[0]);
                    f.set(made, f.get(fresh));
                } catch (ReflectiveOperationException | RuntimeException e) {
                    throw new Failure("a Throwable cannot be made: " + Failure.line(e));
                }
            }
        }
    }

    private static StackTraceElement frame(Node n) throws Failure {
        String[] said = new String[3];
        String[] names = {"declaringClass", "methodName", "fileName"};
        for (int i = 0; i < 3; i++) {
            Node v = n.get(names[i]);
            said[i] = v == null || v.kind == Node.NULL ? i < 2 ? "" : null : Scalars.string(v);
        }
        Node line = n.get("lineNumber");
        StackTraceElement made = new StackTraceElement(said[0], said[1], said[2], line == null ? -1 : (int) line.number);
        for (String name : new String[] {"classLoaderName", "moduleName", "moduleVersion", "format"}) { // since Java 9
            Node v = n.get(name);
            if (v != null && v.kind != Node.NULL) {
                try {
                    java.lang.reflect.Field f = StackTraceElement.class.getDeclaredField(name);
                    f.setAccessible(true);
                    f.set(made, name.equals("format") ? (Object) (byte) v.number : Scalars.string(v));
                } catch (ReflectiveOperationException | RuntimeException e) {
                    return made;
                }
            }
        }
        return made;
    }

    /** Builds it again, as if no serialization had seen it: Hessian writes what a BigInteger remembers. */
    void rebuild(Message m, Signature.Cache signatures) throws Failure {
        for (Node n : m.values) {
            n.forget();
        }
        if (m.attached != null) {
            m.attached.forget();
        }
        build(m, signatures);
    }

    /** Builds what a message carries. */
    void build(Message m, Signature.Cache signatures) throws Failure {
        m.signature = signatures.of(m);
        Type[] types = m.signature.types;
        if (!m.response && types.length != m.values.length) {
            throw new Failure(m.values.length + " arguments of " + types.length + " parameters");
        }
        timesCopied = m.timesCopied;
        m.objects = new Object[m.values.length];
        for (int i = 0; i < m.values.length; i++) {
            Type declared = m.response ? m.isException() ? Throwable.class : m.signature.result : types[i];
            // A callback is not on the wire, and a void method's result is null.
            m.objects[i] = m.values[i].kind == Node.NULL ? Generics.raw(declared).getName().startsWith("java.util.Optional") ? build(m.values[i], declared) : null
                : build(m.values[i], declared);
        }
        m.messages = Messages.in(m);
        m.attachments = m.attached == null ? null
            : (Map<String, Object>) (Map) build(m.attached, Generics.made(Map.class, String.class, Object.class));
    }
}
