package dubbowire;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationHandler;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * The closed list of classes. A name of the capture is looked up in the entries of the user's jars and among value types of the JDK
 * before any class is loaded by it; loading initializes nothing.
 */
final class Classes {
    static final String IMMUTABLE = "java.util.CollSer";
    private static final int MOST = 20_000; // names that are remembered
    private static final String[] PRIMITIVES = {"boolean", "byte", "short", "char", "int", "long", "float", "double", "void"};
    private static final Class<?>[] PRIMITIVE = {boolean.class, byte.class, short.class, char.class, int.class, long.class, float.class,
        double.class, void.class};

    private static final Set<String> VALUES = names(
        "java.lang.", "Object Boolean Byte Short Character Integer Long Float Double Void String StringBuilder StringBuffer Number CharSequence Comparable Iterable "
            + "Enum StackTraceElement",
        "java.io.", "File Serializable",
        "java.math.", "BigDecimal BigInteger RoundingMode",
        "java.net.", "URI URL InetAddress Inet4Address Inet6Address",
        "java.sql.", "Date Time Timestamp",
        "java.time.", "LocalDate LocalTime LocalDateTime Instant ZonedDateTime OffsetDateTime OffsetTime Duration Period Year YearMonth MonthDay DayOfWeek Month "
            + "ZoneId ZoneOffset ZoneRegion",
        "java.time.temporal.", "ChronoUnit ChronoField",
        "java.util.", "Date Calendar GregorianCalendar TimeZone SimpleTimeZone Locale Currency UUID BitSet Optional OptionalInt OptionalLong OptionalDouble "
            + "Collection List Set SortedSet NavigableSet Queue Deque Map SortedMap NavigableMap Map$Entry RandomAccess AbstractCollection AbstractList AbstractSet AbstractMap "
            + "ArrayList LinkedList Vector Stack ArrayDeque PriorityQueue HashSet LinkedHashSet TreeSet HashMap LinkedHashMap TreeMap Hashtable Properties "
            + "IdentityHashMap WeakHashMap EnumMap EnumSet RegularEnumSet JumboEnumSet AbstractMap$SimpleEntry AbstractMap$SimpleImmutableEntry "
            + "Arrays$ArrayList SubList RandomAccessSubList ArrayList$SubList AbstractList$SubList AbstractList$RandomAccessSubList "
            + "HashMap$Values HashMap$KeySet LinkedHashMap$LinkedValues LinkedHashMap$LinkedKeySet TreeMap$Values TreeMap$KeySet "
            + "ImmutableCollections$List12 ImmutableCollections$ListN ImmutableCollections$SubList ImmutableCollections$Set12 ImmutableCollections$SetN "
            + "ImmutableCollections$Map1 ImmutableCollections$MapN "
            + "Collections$EmptyList Collections$EmptySet Collections$EmptyMap Collections$SingletonList Collections$SingletonSet Collections$SingletonMap "
            + "Collections$CopiesList Collections$SetFromMap "
            + "Collections$UnmodifiableCollection Collections$UnmodifiableList Collections$UnmodifiableRandomAccessList Collections$UnmodifiableSet "
            + "Collections$UnmodifiableSortedSet Collections$UnmodifiableNavigableSet Collections$UnmodifiableMap Collections$UnmodifiableSortedMap "
            + "Collections$UnmodifiableNavigableMap Collections$SynchronizedCollection Collections$SynchronizedList Collections$SynchronizedRandomAccessList "
            + "Collections$SynchronizedSet Collections$SynchronizedSortedSet Collections$SynchronizedNavigableSet Collections$SynchronizedMap "
            + "Collections$SynchronizedSortedMap Collections$SynchronizedNavigableMap",
        "java.util.concurrent.", "ConcurrentMap ConcurrentNavigableMap ConcurrentHashMap ConcurrentSkipListMap ConcurrentSkipListSet CopyOnWriteArrayList "
            + "CopyOnWriteArraySet ConcurrentLinkedQueue ConcurrentLinkedDeque BlockingQueue BlockingDeque LinkedBlockingQueue LinkedBlockingDeque "
            + "PriorityBlockingQueue ConcurrentHashMap$KeySetView TimeUnit",
        "java.util.concurrent.atomic.", "AtomicBoolean AtomicInteger AtomicLong AtomicReference AtomicIntegerArray AtomicLongArray",
        "com.google.protobuf.", "Any BoolValue BytesValue DoubleValue Duration Empty FieldMask FloatValue Int32Value Int64Value ListValue StringValue Struct "
            + "Timestamp UInt32Value UInt64Value Value",
        "sun.util.calendar.", "ZoneInfo");

    private static final Set<String> EXCEPTIONS = names(
        "java.lang.", "Throwable Exception RuntimeException Error ArithmeticException ArrayIndexOutOfBoundsException ArrayStoreException ClassCastException "
            + "ClassNotFoundException CloneNotSupportedException IllegalAccessException IllegalArgumentException IllegalMonitorStateException IllegalStateException "
            + "IndexOutOfBoundsException InterruptedException NegativeArraySizeException NoSuchFieldException NoSuchMethodException NullPointerException "
            + "NumberFormatException ReflectiveOperationException SecurityException StringIndexOutOfBoundsException UnsupportedOperationException AssertionError "
            + "LinkageError NoClassDefFoundError NoSuchMethodError StackOverflowError OutOfMemoryError",
        "java.io.", "IOException EOFException FileNotFoundException InvalidClassException NotSerializableException UncheckedIOException UnsupportedEncodingException",
        "java.lang.reflect.", "InvocationTargetException UndeclaredThrowableException",
        "java.net.", "ConnectException MalformedURLException NoRouteToHostException SocketException SocketTimeoutException URISyntaxException UnknownHostException",
        "java.sql.", "SQLException SQLIntegrityConstraintViolationException SQLSyntaxErrorException SQLTimeoutException",
        "java.text.", "ParseException",
        "java.time.", "DateTimeException",
        "java.time.format.", "DateTimeParseException",
        "java.util.", "ConcurrentModificationException EmptyStackException InputMismatchException MissingResourceException NoSuchElementException",
        "java.util.concurrent.", "CancellationException CompletionException ExecutionException RejectedExecutionException TimeoutException",
        "org.apache.dubbo.rpc.", "RpcException StatusRpcException",
        "org.apache.dubbo.rpc.service.", "GenericException",
        "org.apache.dubbo.remoting.", "RemotingException TimeoutException ExecutionException",
        "com.alibaba.dubbo.rpc.", "RpcException",
        "com.alibaba.dubbo.rpc.service.", "GenericException",
        "com.alibaba.dubbo.remoting.", "RemotingException TimeoutException ExecutionException");

    /** Classes of Dubbo that hold values as a user's do. */
    private static final Set<String> PLAIN = names(
        "org.apache.dubbo.common.beanutil.", "JavaBeanDescriptor",
        "com.alibaba.dubbo.common.beanutil.", "JavaBeanDescriptor");

    /** Classes with which Hessian replaces a value on the wire, by their name without package and Handle; and others that stand for another one. */
    private static final Map<String, String> STANDS_FOR = new HashMap<>();

    static {
        for (String time : ("LocalDate LocalTime LocalDateTime Instant ZonedDateTime OffsetDateTime OffsetTime Duration Period Year YearMonth MonthDay ZoneId "
            + "ZoneOffset").split(" ")) {
            STANDS_FOR.put(time, "java.time." + time);
        }
        for (String number : "Byte Short Float".split(" ")) {
            STANDS_FOR.put(number, "java.lang." + number);
        }
        STANDS_FOR.put("Locale", "java.util.Locale");
        STANDS_FOR.put("Calendar", "java.util.Calendar");
        STANDS_FOR.put("EnumSet", "java.util.EnumSet");
        STANDS_FOR.put("BitSet", "java.util.BitSet");
        STANDS_FOR.put("InetAddress", "java.net.InetAddress");
    }

    private static Set<String> names(String... packages) {
        Set<String> all = new HashSet<>();
        for (int i = 0; i < packages.length; i += 2) {
            for (String name : packages[i + 1].split(" ")) {
                all.add(packages[i] + name);
            }
        }
        return all;
    }

    private final ClassLoader loader = Classes.class.getClassLoader();
    private final Set<String> entries = new HashSet<>();
    private final Map<String, Object> known = new HashMap<>(); // a Class or the cause why there is none

    /** The classes of these jars and folders may be built. */
    Classes(String[] classPath) throws IOException {
        for (String place : classPath) {
            File file = new File(place);
            if (file.isDirectory()) {
                list(file, "");
                continue;
            }
            try (ZipFile jar = new ZipFile(file)) {
                for (Enumeration<? extends ZipEntry> all = jar.entries(); all.hasMoreElements();) {
                    add(all.nextElement().getName());
                }
            }
        }
    }

    private void list(File folder, String prefix) {
        File[] inside = folder.listFiles();
        for (File file : inside == null ? new File[0] : inside) {
            if (file.isDirectory()) {
                list(file, prefix + file.getName() + "/");
            } else {
                add(prefix + file.getName());
            }
        }
    }

    private void add(String entry) {
        if (entry.endsWith(".class") && !entry.startsWith("java/") && !entry.startsWith("META-INF/")) {
            entries.add(entry.substring(0, entry.length() - 6).replace('/', '.'));
        }
    }

    /** Whether it came with the user's jars, or is built as if it had. */
    boolean ours(Class<?> c) {
        return entries.contains(c.getName()) || PLAIN.contains(c.getName());
    }

    /** Whether a class of a name may be loaded. */
    boolean has(String name) {
        try {
            find(name);
            return true;
        } catch (Failure e) {
            return false;
        }
    }

    /** The class of a name in source form, loaded but not initialized. */
    Class<?> find(String name) throws Failure {
        Object found = known.get(name);
        if (found == null) {
            found = look(name);
            if (known.size() < MOST) {
                known.put(name, found);
            }
        }
        if (found instanceof Class) {
            return (Class<?>) found;
        }
        throw new Failure((String) found);
    }

    private Object look(String name) {
        int dimensions = 0;
        String element = name;
        for (; element.endsWith("[]"); dimensions++) {
            element = element.substring(0, element.length() - 2);
        }
        if (dimensions > 16) {
            return "an array of " + dimensions + " dimensions";
        }
        Class<?> c;
        for (; element.startsWith("["); dimensions++) { // fastjson2: [String
            element = element.substring(1);
        }
        int primitive = Arrays.asList(PRIMITIVES).indexOf(element);
        if (primitive < 0 && dimensions > 0 && element.length() == 1 && "ZBSCIJFD".contains(element)) {
            primitive = "ZBSCIJFD".indexOf(element);
        }
        if (primitive >= 0) {
            c = PRIMITIVE[primitive];
        } else {
            String real = standsFor(element);
            if (real.indexOf('.') < 0 && !entries.contains(real)) {
                real = unpacked(real);
            }
            boolean ours = entries.contains(real);
            if (!ours && !VALUES.contains(real) && !EXCEPTIONS.contains(real) && !PLAIN.contains(real)) {
                if (real.equals("java.lang.Class")) {
                    return "a Class is never built";
                }
                return "class " + cut(element) + " is neither in the jars (--classpath) nor a value type of the JDK";
            }
            if (ours && !VALUES.contains(real) && !EXCEPTIONS.contains(real) && loader.getParent().getResource(real.replace('.', '/') + ".class") != null) {
                return "class " + cut(element) + " is the JDK's, whatever the jars have";
            }
            try {
                c = Class.forName(real, false, loader);
            } catch (ClassNotFoundException | LinkageError e) {
                return "class " + cut(element) + " cannot be loaded: " + Failure.line(e);
            }
            if (ours && (ClassLoader.class.isAssignableFrom(c) || Thread.class.isAssignableFrom(c) || InvocationHandler.class.isAssignableFrom(c)
                || Comparator.class.isAssignableFrom(c) && !c.isEnum())) {
                return "class " + cut(element) + " is never built: it acts rather than holds values";
            }
        }
        return dimensions == 0 ? c : Array.newInstance(c, new int[dimensions]).getClass();
    }

    private static String standsFor(String name) {
        if (name.contains(".hessian.")) {
            String simple = name.substring(name.lastIndexOf('.') + 1);
            int handle = simple.indexOf("Handle");
            String real = handle > 0 ? STANDS_FOR.get(simple.substring(0, handle)) : null;
            return real == null ? name : real;
        }
        return name.equals("java.util.EnumSet$SerializationProxy") ? "java.util.EnumSet" : name;
    }

    private static String cut(String name) {
        return name.length() > 120 ? name.substring(0, 120) + "…" : name;
    }

    /** Names that fastjson2 has for classes of the JDK: without their package, or of one letter. */
    private String unpacked(String name) {
        switch (name) {
            case "M": return "java.util.HashMap";
            case "LM": return "java.util.LinkedHashMap";
            case "TM": return "java.util.TreeMap";
            case "A": return "java.util.ArrayList";
            case "O": return "java.lang.Object";
            default:
        }
        for (String place : new String[] {"java.util.", "java.util.Collections$", "java.util.concurrent.", "java.util.concurrent.atomic.", "java.lang.", "java.math.",
            "java.time."}) {
            if (VALUES.contains(place + name)) {
                return place + name;
            }
        }
        return name;
    }

    /** The class that a node names; null if it names none, or one that is only a form of writing others. */
    Class<?> of(Node n) throws Failure {
        if (n.type == null || n.type.isEmpty() || n.type.equals("java.time.Ser")) {
            return null;
        }
        if (n.type.equals(IMMUTABLE)) { // what List.of, Set.of and Map.of are written as
            Node tag = n.get("tag");
            long kind = tag != null ? tag.number & 0xff : n.kind == Node.MAP ? 3 : 1;
            return find("java.util.ImmutableCollections$" + (kind == 3 ? "MapN" : kind == 2 ? "SetN" : "ListN"));
        }
        Class<?> c = find(n.type);
        return c.isPrimitive() && c != void.class ? Array.get(Array.newInstance(c, 1), 0).getClass() : c;
    }
}
