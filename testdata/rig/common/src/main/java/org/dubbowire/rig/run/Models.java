package org.dubbowire.rig.run;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.net.URI;
import java.net.URL;
import java.util.*;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.dubbowire.rig.models.*;

/** Random graphs of the classes in org.dubbowire.rig.models. */
final class Models {
    /** In the order in which an application registers them. */
    static final List<Class<?>> REGISTERED = List.of(Scalars.class, Color.class, Op.class, Square.class, Circle.class, Node.class, Box.class, Pair.class, Leaf.class, Holder.class,
        Money.class, Containers.class, LinkedHashMap.class, Names.class, Square[].class, External.class, Written.class, Refused.class);
    private static final Class<?>[] ANY = {Square.class, Circle.class, Ring.class, Money.class, Node.class, Leaf.class, Pair.class, IntBox.class, Flags.class, Outer.Nested.class,
        Names.class, Hidden.class, Replaced.class, Written.class, Point.class};
    private static final Map<Class<?>, Class<?>[]> KINDS = Map.of(
        Shape.class, new Class<?>[] {Square.class, Circle.class, Ring.class, Op.class},
        Circle.class, new Class<?>[] {Circle.class, Circle.class, Ring.class},
        Base.class, new Class<?>[] {Middle.class, Leaf.class},
        Middle.class, new Class<?>[] {Middle.class, Leaf.class},
        Written.class, new Class<?>[] {Written.class, Written.class, WrittenBelow.class},
        Enum.class, new Class<?>[] {Color.class, Op.class, Level.class},
        Number.class, new Class<?>[] {Integer.class, Long.class, Double.class, java.math.BigDecimal.class, Short.class});

    private final Random random;
    private final Filler filler;
    private final Method[] methods;
    private final Class<?> service;
    private final boolean reflected;

    /** service: the interface whose methods the values are sent with. */
    Models(long seed, Class<?> service) {
        this.service = service;
        methods = service.getMethods();
        random = new Random(seed + 1);
        reflected = service.getPackageName().endsWith(".reflected");
        if (reflected) {
            filler = new Filler(seed, classes(service, "Address", "Tree", "Leaf", "Circle"), reflectedKinds(service));
            filler.onlyNull("Nullable");
            filler.also(classes(service, "Failure")[0], () -> failure());
            filler.also(IllegalStateException.class, () -> new IllegalStateException(random.nextBoolean() ? null : "state"));
        } else {
            filler = new Filler(seed, service.getPackageName().endsWith(".annotated") ? classes(service, "Entry", "Tagged", "Evolving", "Grown") : ANY, KINDS);
        }
        Arrays.sort(methods, Comparator.comparing(Method::getName));
        filler.also(Comparable.class, () -> pick(5, "comparable", Color.BLUE, Op.PLUS, 7L));
        filler.also(java.io.Serializable.class, () -> pick(9L, "serializable", Level.HIGH, new byte[] {1, 2}, filler.fresh(Square.class)));
        filler.also(Throwable.class, () -> throwable());
        filler.also(Exception.class, () -> refused());
        filler.also(Refused.class, () -> refused());
        filler.also(Fault.class, () -> new Fault("fault"));
        filler.also(Single.class, () -> Single.INSTANCE);
        filler.also(Outer.class, this::outer);
        filler.also(Functions.class, this::functions);
        filler.also(Wrappers.class, this::wrappers);
        filler.also(URI.class, () -> URI.create("dubbo://host:20880/path?a=" + random.nextInt(9)));
        filler.also(URL.class, () -> url());
        filler.also(Currency.class, () -> Currency.getInstance(pick("CNY", "EUR")));
        filler.also(BitSet.class, () -> BitSet.valueOf(new long[] {random.nextLong() >>> random.nextInt(60)}));
        filler.also(Pattern.class, () -> Pattern.compile(pick("a+b", "[0-9]*"), pick(0, Pattern.CASE_INSENSITIVE)));
        filler.also(StringBuilder.class, () -> new StringBuilder("builder").append(random.nextInt(100)));
        filler.also(StringBuffer.class, () -> new StringBuffer("buffer").append(random.nextInt(100)));
        filler.also(Class.class, () -> pick(String.class, int.class, Square.class, int[].class, List.class, Color.class));
        filler.also(AtomicBoolean.class, () -> new AtomicBoolean(random.nextBoolean()));
        filler.also(AtomicInteger.class, () -> new AtomicInteger(random.nextInt(300)));
        filler.also(AtomicLong.class, () -> new AtomicLong(random.nextLong()));
        filler.also(AtomicReference.class, () -> new AtomicReference<>("referenced"));
        filler.also(TimeZone.class, () -> TimeZone.getTimeZone(pick("UTC", "Asia/Tokyo", "Europe/Paris")));
        if (service.getPackageName().endsWith(".stuff")) {
            filler.also(EnumMap.class, () -> numbers(service));
            filler.also(EnumSet.class, () -> constants(service));
            filler.also(AbstractMap.class, () -> pick(new HashMap<>(Map.of("a", 1)), new TreeMap<>(Map.of("b", 2, "c", 3)), new java.util.concurrent.ConcurrentHashMap<>()));
        }
        filler.also(OptionalInt.class, () -> random.nextBoolean() ? OptionalInt.empty() : OptionalInt.of(random.nextInt()));
        filler.also(OptionalLong.class, () -> random.nextBoolean() ? OptionalLong.empty() : OptionalLong.of(random.nextLong()));
        filler.also(OptionalDouble.class, () -> random.nextBoolean() ? OptionalDouble.empty() : OptionalDouble.of(random.nextInt() / 8.0));
    }

    /** Classes that have annotations of a library: only the class path of their dialects has them. */
    private static Class<?>[] classes(Class<?> service, String... names) {
        try {
            Class<?>[] classes = new Class<?>[names.length];
            for (int i = 0; i < classes.length; i++) {
                classes[i] = Class.forName(service.getPackageName() + "." + names[i]);
            }
            return classes;
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Map<Class<?>, Class<?>[]> reflectedKinds(Class<?> service) {
        Map<Class<?>, Class<?>[]> kinds = new HashMap<>();
        kinds.put(classes(service, "Shape")[0], classes(service, "Circle", "Square", "Group"));
        kinds.put(classes(service, "Base")[0], classes(service, "Base", "Middle", "Leaf"));
        kinds.put(classes(service, "Middle")[0], classes(service, "Middle", "Leaf"));
        kinds.put(Enum.class, classes(service, "Mode"));
        kinds.put(Number.class, KINDS.get(Number.class));
        return kinds;
    }

    private Throwable failure() {
        try {
            return (Throwable) classes(service, "Failure")[0].getConstructor(String.class, int.class, String.class)
                .newInstance(random.nextBoolean() ? null : "failure " + random.nextInt(50), random.nextInt(3000), random.nextBoolean() ? null : "detail");
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private EnumMap numbers(Class<?> service) {
        EnumMap map = new EnumMap(mode(service));
        for (Object constant : mode(service).getEnumConstants()) {
            if (random.nextBoolean()) {
                map.put((Enum) constant, random.nextInt());
            }
        }
        return map;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private EnumSet constants(Class<?> service) {
        EnumSet set = EnumSet.noneOf(mode(service));
        for (Object constant : mode(service).getEnumConstants()) {
            if (random.nextBoolean()) {
                set.add(constant);
            }
        }
        return set;
    }

    @SuppressWarnings("rawtypes")
    private static Class<? extends Enum> mode(Class<?> service) {
        try {
            return Class.forName(service.getPackageName() + ".Mode").asSubclass(Enum.class);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    Method method() {
        return methods[random.nextInt(methods.length)];
    }

    /** Null only for a type that is no class of the models, and now and then for Avro, where nothing tells a null. */
    Object value(Type type) {
        if (reflected && type != int.class && random.nextInt(7) == 0) {
            return null;
        }
        return filler.make(type);
    }

    Throwable throwable() {
        if (reflected) {
            return random.nextBoolean() ? failure() : new IllegalStateException(random.nextBoolean() ? null : "state " + random.nextInt(9));
        }
        return pick(refused(), new Fault("over"), new IllegalStateException("state"), new RefusedLater("later", random.nextInt(5000)), new Fault(null));
    }

    private Refused refused() {
        Refused refused = random.nextInt(3) == 0 ? new RefusedLater("later", random.nextLong()) : new Refused("refused", random.nextBoolean() ? null : new IllegalArgumentException("argument"));
        refused.setStackTrace(new StackTraceElement[] {new StackTraceElement("org.dubbowire.rig.models.Refused", "method", "Refused.java", random.nextInt(200)),
            new StackTraceElement("Main", "main", null, -2)});
        filler.fields(refused, Refused.class);
        return refused;
    }

    private Outer outer() {
        Outer outer = (Outer) filler.plain(Outer.class);
        if (random.nextBoolean()) {
            outer.keep(outer.shape(random.nextInt(50), random.nextBoolean()));
        }
        return outer;
    }

    private Functions functions() {
        Functions functions = (Functions) filler.plain(Functions.class);
        if (random.nextInt(3) == 0) {
            functions.set(random.nextInt(50), "proxy " + random.nextInt(9));
        }
        return functions;
    }

    private static URL url() {
        try {
            return new URL("http://example.com:8080/path?query#anchor");
        } catch (java.net.MalformedURLException e) {
            throw new IllegalStateException(e);
        }
    }

    private Wrappers wrappers() {
        Wrappers w = new Wrappers();
        List<String> texts = new ArrayList<>(List.of("a", "b", "text " + random.nextInt(9)));
        List<Circle> circles = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            circles.add((Circle) filler.fresh(Circle.class));
        }
        SortedSet<Integer> numbers = new TreeSet<>(List.of(3, random.nextInt(), 5));
        Map<String, Square> squares = new HashMap<>();
        squares.put("square", (Square) filler.fresh(Square.class));
        SortedMap<String, Integer> counts = new TreeMap<>(Map.of("one", 1, "two", random.nextInt()));
        w.collection = pick(null, Collections.unmodifiableCollection(numbers), Collections.synchronizedCollection(numbers), Collections.singleton(4));
        w.list = pick(null, Collections.unmodifiableList(texts), Collections.unmodifiableList(new LinkedList<>(texts)), Collections.synchronizedList(texts), Arrays.asList("x", "y"),
            Collections.emptyList(), Collections.singletonList("single"), Collections.nCopies(3, "copy"), List.of("of", "list"), List.of(),
            Collections.checkedList(texts, String.class), new ArrayList<>(texts).subList(1, 2));
        w.circles = pick(circles, Collections.unmodifiableList(circles), Arrays.asList(circles.toArray(new Circle[0])), Collections.synchronizedList(circles));
        w.set = pick(null, Collections.emptySet(), Collections.singleton("one"), Collections.unmodifiableSet(new HashSet<>(texts)), Collections.synchronizedSet(new LinkedHashSet<>(texts)), Set.of("of"), new HashMap<>(counts).keySet());
        w.sortedSet = pick(null, numbers, Collections.unmodifiableSortedSet(numbers), Collections.synchronizedSortedSet(numbers));
        w.map = pick(null, squares, Collections.emptyMap(), Collections.singletonMap("one", (Square) filler.fresh(Square.class)), Collections.unmodifiableMap(squares), Collections.synchronizedMap(squares), Map.of(), Map.of("one", (Square) filler.fresh(Square.class)));
        w.sortedMap = pick(null, counts, Collections.unmodifiableSortedMap(counts), Collections.synchronizedSortedMap(counts), new TreeMap<>(Collections.reverseOrder()));
        w.any = pick(null, texts, circles, squares, w.list, w.map);
        return w;
    }

    @SafeVarargs
    private <V> V pick(V... of) {
        return of[random.nextInt(of.length)];
    }
}
