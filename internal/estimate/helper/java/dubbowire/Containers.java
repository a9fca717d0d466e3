package dubbowire;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Queue;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;

/** Collections and maps by their class: which class stands for an interface, wrappers, capacities. */
@SuppressWarnings({"unchecked", "rawtypes"})
final class Containers {
    private static final Field THRESHOLD = field(HashMap.class, "threshold"), SET_MAP = field(HashSet.class, "map"),
        SIZE_CONTROL = field(ConcurrentHashMap.class, "sizeCtl");

    private Containers() {
    }

    static Field field(Class<?> c, String name) {
        try {
            Field f = c.getDeclaredField(name);
            f.setAccessible(true);
            return f;
        } catch (ReflectiveOperationException | RuntimeException e) {
            return null; // then capacities are those of the constructor
        }
    }

    /** The class that is built where an interface, or nothing, is declared. */
    static Class<?> usual(Class<?> declared, boolean map) {
        if (map) {
            return ConcurrentNavigableMap.class == declared ? ConcurrentSkipListMap.class : ConcurrentMap.class == declared ? ConcurrentHashMap.class
                : SortedMap.class == declared || NavigableMap.class == declared ? TreeMap.class : declared.isAssignableFrom(HashMap.class) ? HashMap.class : declared;
        }
        return declared.isAssignableFrom(ArrayList.class) ? ArrayList.class : declared.isAssignableFrom(HashSet.class) ? HashSet.class
            : SortedSet.class == declared || NavigableSet.class == declared ? TreeSet.class
            : Queue.class == declared || Deque.class == declared ? LinkedList.class
            : BlockingQueue.class == declared ? LinkedBlockingQueue.class : BlockingDeque.class == declared ? LinkedBlockingDeque.class : declared;
    }

    /** The name of a class of Collections that wraps another one, without Random access; null for other classes. */
    private static String wrapper(String type) {
        if (!type.startsWith("java.util.Collections$Unmodifiable") && !type.startsWith("java.util.Collections$Synchronized")) {
            return null;
        }
        return type.substring("java.util.Collections$".length()).replace("RandomAccess", "");
    }

    static boolean isWrapper(String type) {
        return type != null && wrapper(type) != null;
    }

    /** What a wrapper of that class has inside, where the wire does not say. */
    static Class<?> inside(String type) {
        String w = wrapper(type);
        boolean sorted = w.contains("Sorted") || w.contains("Navigable");
        return w.endsWith("Map") ? sorted ? TreeMap.class : HashMap.class : w.endsWith("Set") ? sorted ? TreeSet.class : HashSet.class : ArrayList.class;
    }

    static Object wrap(String type, Object inside) throws Failure {
        try {
            switch (wrapper(type)) {
                case "UnmodifiableCollection": return Collections.unmodifiableCollection((Collection<?>) inside);
                case "UnmodifiableList": return Collections.unmodifiableList((List<?>) inside);
                case "UnmodifiableSet": return Collections.unmodifiableSet((Set<?>) inside);
                case "UnmodifiableSortedSet": return Collections.unmodifiableSortedSet((SortedSet<?>) inside);
                case "UnmodifiableNavigableSet": return Collections.unmodifiableNavigableSet((NavigableSet<?>) inside);
                case "UnmodifiableMap": return Collections.unmodifiableMap((Map<?, ?>) inside);
                case "UnmodifiableSortedMap": return Collections.unmodifiableSortedMap((SortedMap<?, ?>) inside);
                case "UnmodifiableNavigableMap": return Collections.unmodifiableNavigableMap((NavigableMap<?, ?>) inside);
                case "SynchronizedCollection": return Collections.synchronizedCollection((Collection<?>) inside);
                case "SynchronizedList": return Collections.synchronizedList((List<?>) inside);
                case "SynchronizedSet": return Collections.synchronizedSet((Set<?>) inside);
                case "SynchronizedSortedSet": return Collections.synchronizedSortedSet((SortedSet<?>) inside);
                case "SynchronizedNavigableSet": return Collections.synchronizedNavigableSet((NavigableSet<?>) inside);
                case "SynchronizedMap": return Collections.synchronizedMap((Map<?, ?>) inside);
                case "SynchronizedSortedMap": return Collections.synchronizedSortedMap((SortedMap<?, ?>) inside);
                case "SynchronizedNavigableMap": return Collections.synchronizedNavigableMap((NavigableMap<?, ?>) inside);
                default: throw new Failure("no way to build " + type);
            }
        } catch (ClassCastException e) {
            throw new Failure(type + " around " + inside.getClass().getName());
        }
    }

    /** Collections that are made of their elements at once; null for all others. */
    static Collection<?> complete(Class<?> t, Object[] elements, Class<?> element) throws Failure {
        String name = t.getName();
        switch (name) {
            case "java.util.Arrays$ArrayList":
                return Arrays.asList(array(elements, element));
            case "java.util.Collections$EmptyList": return Collections.emptyList();
            case "java.util.Collections$EmptySet": return Collections.emptySet();
            case "java.util.Collections$SingletonList": return Collections.singletonList(only(elements, name));
            case "java.util.Collections$SingletonSet": return Collections.singleton(only(elements, name));
            case "java.util.Collections$CopiesList": return Collections.nCopies(elements.length, elements.length == 0 ? null : elements[0]);
            case "java.util.HashMap$Values": return filled(new HashMap<>(), elements, false).values();
            case "java.util.LinkedHashMap$LinkedValues": return filled(new LinkedHashMap<>(), elements, false).values();
            case "java.util.TreeMap$Values": return filled(new TreeMap<>(), elements, false).values();
            case "java.util.HashMap$KeySet": return filled(sized(new HashMap<>(), elements), elements, true).keySet();
            case "java.util.LinkedHashMap$LinkedKeySet": return filled(new LinkedHashMap<>(), elements, true).keySet();
            case "java.util.TreeMap$KeySet": return filled(new TreeMap<>(), elements, true).keySet();
            case "java.util.concurrent.ConcurrentHashMap$KeySetView": {
                Set<Object> set = ConcurrentHashMap.newKeySet();
                set.addAll(Arrays.asList(elements));
                return set;
            }
            case "java.util.Collections$SetFromMap": {
                Set<Object> set = Collections.newSetFromMap(new ConcurrentHashMap<>());
                set.addAll(Arrays.asList(elements));
                return set;
            }
            default:
        }
        if (name.startsWith("java.util.ImmutableCollections$")) {
            boolean set = name.contains("$Set");
            if (!set && Arrays.asList(elements).contains(null)) {
                return (Collection<?>) call(call(java.util.stream.Stream.class, null, "of", Object[].class, elements), "toList");
            }
            return (Collection<?>) call(set ? Set.class : List.class, null, "of", Object[].class, elements);
        }
        if (name.endsWith("SubList")) {
            return new ArrayList<>(Arrays.asList(elements)).subList(0, elements.length);
        }
        return null;
    }

    private static Map<Object, Object> filled(Map<Object, Object> map, Object[] elements, boolean keys) {
        for (int i = 0; i < elements.length; i++) {
            map.put(keys ? elements[i] : (Object) i, elements[i]);
        }
        return map;
    }

    /** An array of the element's class as far as it is known; T... of a generic method has that class. */
    private static Object[] array(Object[] elements, Class<?> element) {
        Class<?> c = element;
        if (c == Object.class) {
            for (Object e : elements) {
                c = e == null || c == e.getClass() ? c : c == Object.class ? e.getClass() : null;
                if (c == null) {
                    break;
                }
            }
        }
        if (c == null || c == Object.class) {
            return elements.clone();
        }
        Object[] all = (Object[]) java.lang.reflect.Array.newInstance(c, elements.length);
        System.arraycopy(elements, 0, all, 0, all.length);
        return all;
    }

    private static Object only(Object[] elements, String type) throws Failure {
        if (elements.length != 1) {
            throw new Failure(type + " with " + elements.length + " elements");
        }
        return elements[0];
    }

    /** Maps that are made of their entries at once; null for all others. */
    static Map<?, ?> complete(Class<?> t, Object[] keys, Object[] values) throws Failure {
        switch (t.getName()) {
            case "java.util.Collections$EmptyMap": return Collections.emptyMap();
            case "java.util.Collections$SingletonMap": return Collections.singletonMap(only(keys, t.getName()), values[0]);
            default:
        }
        if (!t.getName().startsWith("java.util.ImmutableCollections$")) {
            return null;
        }
        Map.Entry[] entries = new Map.Entry[keys.length];
        for (int i = 0; i < keys.length; i++) {
            entries[i] = new java.util.AbstractMap.SimpleImmutableEntry<>(keys[i], values[i]);
        }
        if (keys.length == 1) {
            return (Map<?, ?>) call(Map.class, new Class<?>[] {Object.class, Object.class}, "of", keys[0], values[0]);
        }
        return (Map<?, ?>) call(Map.class, null, "ofEntries", Map.Entry[].class, entries);
    }

    private static Object call(Class<?> c, Class<?>[] parameters, String name, Object... rest) throws Failure {
        try {
            Class<?>[] types = parameters == null ? new Class<?>[] {(Class<?>) rest[0]} : parameters;
            Method m = c.getMethod(name, types);
            return parameters == null ? m.invoke(null, new Object[] {rest[1]}) : m.invoke(null, rest);
        } catch (ReflectiveOperationException e) {
            throw new Failure(c.getSimpleName() + "." + name + ": " + Failure.line(e));
        }
    }

    private static Object call(Object on, String name) throws Failure {
        try {
            return java.util.stream.Stream.class.getMethod(name).invoke(on);
        } catch (ReflectiveOperationException e) {
            throw new Failure(name + ": " + Failure.line(e));
        }
    }

    /** Orders of the JDK that hold no values; other comparators are not built. */
    static Comparator<?> comparator(Node said) throws Failure {
        if (said == null || said.kind == Node.NULL) {
            return null;
        }
        switch (String.valueOf(said.type)) {
            case "java.util.Collections$ReverseComparator": return Collections.reverseOrder();
            case "java.lang.String$CaseInsensitiveComparator": return String.CASE_INSENSITIVE_ORDER;
            default: throw new Failure("a comparator is never built: " + said.what());
        }
    }

    /** Whether keys are in the reverse of their natural order. */
    static boolean goDown(Object[] keys) {
        for (int i = 1; keys != null && i < keys.length; i++) {
            if (!(keys[i - 1] instanceof Comparable) || keys[i] == null || keys[i].getClass() != keys[i - 1].getClass()
                || ((Comparable) keys[i - 1]).compareTo(keys[i]) <= 0) {
                return false;
            }
        }
        return keys != null && keys.length > 1;
    }

    /**
     * Gives an empty hash table the capacity at which its order will be the order on the wire, if there is one: first the one it has after as
     * many insertions, then others.
     */
    static <T> T sized(T empty, Object[] keys) {
        try {
            if (empty instanceof HashSet && !(empty instanceof LinkedHashSet) && SET_MAP != null) {
                Object map = SET_MAP.get(empty);
                if (map.getClass() == HashMap.class) {
                    sized(map, keys);
                }
            } else if (empty instanceof HashMap && !(empty instanceof LinkedHashMap) && THRESHOLD != null && keys.length > 1) {
                int capacity = capacity(keys, 16);
                if (capacity > 0) {
                    THRESHOLD.setInt(empty, capacity); // of a table that is not there yet
                }
            } else if (empty instanceof ConcurrentHashMap && SIZE_CONTROL != null && keys.length > 1) {
                int capacity = capacity(keys, 16);
                if (capacity > 0) {
                    SIZE_CONTROL.setInt(empty, capacity);
                }
            }
        } catch (IllegalAccessException e) {
            return empty;
        }
        return empty;
    }

    private static int capacity(Object[] keys, int first) {
        int natural = first;
        while (keys.length > natural * 0.75 && natural < 1 << 29) {
            natural *= 2;
        }
        int[] hashes = new int[keys.length];
        for (int i = 0; i < keys.length; i++) {
            int h = keys[i] == null ? 0 : keys[i].hashCode();
            hashes[i] = h ^ h >>> 16;
        }
        if (rises(hashes, natural)) {
            return natural;
        }
        for (int c = natural; c > 1 && keys.length <= c / 2 * 0.75; c /= 2) {
            if (rises(hashes, c / 2)) {
                return c / 2;
            }
        }
        for (int c = natural * 2, end = (int) Math.min(1 << 22, natural * 64L); c <= end; c *= 2) {
            if (rises(hashes, c)) {
                return c;
            }
        }
        return 0;
    }

    private static boolean rises(int[] hashes, int capacity) {
        for (int i = 1; i < hashes.length; i++) {
            if ((hashes[i] & capacity - 1) < (hashes[i - 1] & capacity - 1)) {
                return false;
            }
        }
        return true;
    }

    /** Fills a map in the order on the wire; a Hashtable goes from its last bucket to the first, the last entry of each first. */
    static void fill(Map<Object, Object> map, Object[] keys, Object[] values) {
        if (map.getClass() == Hashtable.class) {
            for (int i = keys.length - 1; i >= 0; i--) {
                map.put(keys[i], values[i]);
            }
            return;
        }
        for (int i = 0; i < keys.length; i++) {
            map.put(keys[i], values[i]);
        }
    }
}
