package org.dubbowire.rig.run;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.*;
import java.util.*;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import org.dubbowire.rig.zoo.Chat;
import org.dubbowire.rig.zoo.Cover;
import org.dubbowire.rig.zoo.Depot;
import org.dubbowire.rig.zoo.Kinds;
import org.dubbowire.rig.zoo.Odd;
import org.dubbowire.rig.zoo.Shop;

/** Makes values of a declared type, the same ones for the same seed. */
final class Filler {
    private static final String[] ALPHABETS = {
        "abcdefghijklmnopqrstuvwxyz ABC 0123456789_-.,:;/\\\"'<>&{}[]", "aé ÿñ¿ü§z", "中文字符串编码，全角。", "x😀𠀀👍y", "\0\b\t\n\r\u001f\u007f\u0080\u2028\ufeff\uffff", "a\ud83d中\ude00"};
    private static final String[] ZONES = {"UTC", "Asia/Shanghai", "Europe/Paris", "America/New_York", "Asia/Kolkata", "+05:45", "Z", "-11:30"};
    private static final Class<?>[] BEANS = {Shop.Line.class, Shop.Card.class, Shop.Voucher.class, Depot.Place.class, Chat.Text.class, Odd.Name.class, Odd.Nothing.class, q.T.class,
        Cover.Level2.class};
    private final Random random;
    private final Class<?>[] beans;
    private final Map<Class<?>, Class<?>[]> kinds;
    private final Map<Class<?>, Supplier<Object>> simple = new HashMap<>();
    private final List<Object> made = new ArrayList<>();
    private int budget;
    private String nullable;

    Filler(long seed) {
        this(seed, BEANS, null);
    }

    /**
     * For other models: beans are what Object may hold, kinds what a field of an interface or superclass may hold. Final fields are
     * filled, too, and no constructor is needed.
     */
    Filler(long seed, Class<?>[] beans, Map<Class<?>, Class<?>[]> kinds) {
        random = new Random(seed);
        this.beans = beans;
        this.kinds = kinds;
        simple.put(String.class, () -> text(random.nextInt(12) == 0 ? 2 : random.nextInt(3) == 0 ? 1 : 0));
        simple.put(Boolean.class, random::nextBoolean);
        simple.put(Byte.class, () -> (byte) number());
        simple.put(Short.class, () -> (short) number());
        simple.put(Character.class, this::letter);
        simple.put(Integer.class, () -> (int) number());
        simple.put(Long.class, this::number);
        simple.put(Float.class, () -> (float) real());
        simple.put(Double.class, this::real);
        simple.put(BigDecimal.class, () -> new BigDecimal(big(), random.nextInt(3) == 0 ? random.nextInt(80) - 40 : random.nextInt(5)));
        simple.put(BigInteger.class, this::big);
        simple.put(Date.class, () -> new Date(millis()));
        simple.put(java.sql.Date.class, () -> new java.sql.Date(millis()));
        simple.put(Time.class, () -> new Time(millis()));
        simple.put(Timestamp.class, this::stamp);
        simple.put(LocalDate.class, () -> local().toLocalDate());
        simple.put(LocalTime.class, () -> local().toLocalTime());
        simple.put(LocalDateTime.class, this::local);
        simple.put(Instant.class, () -> local().toInstant(ZoneOffset.UTC));
        simple.put(ZonedDateTime.class, () -> local().atZone(zone()));
        simple.put(OffsetDateTime.class, () -> local().atOffset(offset()));
        simple.put(OffsetTime.class, () -> local().toLocalTime().atOffset(offset()));
        simple.put(Duration.class, () -> Duration.ofSeconds(number() >> 20, random.nextInt(1_000_000_000)));
        simple.put(Period.class, () -> Period.of(random.nextInt(9) - 4, random.nextInt(30), random.nextInt(400) - 200));
        simple.put(Year.class, () -> Year.of(random.nextInt(4000) - 500));
        simple.put(YearMonth.class, () -> YearMonth.from(local()));
        simple.put(MonthDay.class, () -> MonthDay.from(local()));
        simple.put(ZoneId.class, this::zone);
        simple.put(ZoneOffset.class, this::offset);
        simple.put(UUID.class, () -> new UUID(number(), random.nextLong()));
        simple.put(Locale.class, () -> pick(Locale.ROOT, Locale.CHINA, Locale.ENGLISH, new Locale("de", "AT"), Locale.forLanguageTag("zh-Hant-TW")));
        simple.put(Calendar.class, this::calendar);
        simple.put(Number.class, () -> value(pick(Integer.class, Long.class, Double.class, BigDecimal.class, Short.class), 3));
        simple.put(CharSequence.class, () -> text(0));
        simple.put(Comparable.class, () -> value(pick(Integer.class, String.class, Shop.State.class, Date.class), 3));
        simple.put(java.io.Serializable.class, () -> value(pick(Long.class, String.class, Shop.Channel.class, byte[].class, Depot.Place.class), 3));
    }

    /** What is made of that class from now on. */
    void also(Class<?> type, Supplier<Object> value) {
        simple.put(type, value);
    }

    /** From now on only fields with an annotation of that name are null. */
    void onlyNull(String annotation) {
        nullable = annotation;
    }

    private boolean mayBeNull(Field f) {
        return java.util.Arrays.stream(f.getAnnotations()).anyMatch(a -> a.annotationType().getSimpleName().equals(nullable));
    }

    /** A value of that type; every call begins with the same patience. */
    Object make(Type type) {
        budget = 120;
        made.clear();
        return value(type, 0);
    }

    /** A value of that class that is never null. */
    Object fresh(Class<?> c) {
        return fresh(c, 4);
    }

    /** The same, whatever else is made of that class. */
    Object plain(Class<?> c) {
        return bean(c, new Type[0], 1);
    }

    /** Now and then null, now and then an object that is there already. */
    private Object value(Type type, int depth) {
        if (type instanceof Class<?> c && c.isPrimitive()) {
            return fresh(box(c), depth);
        }
        if (nullable == null && depth > 0 && random.nextInt(9) == 0) {
            return null;
        }
        if (type instanceof Class<?> c && !simple.containsKey(c) && random.nextInt(8) == 0) {
            for (Object o : made) {
                if (c.isInstance(o) && c != Object.class) {
                    return o;
                }
            }
        }
        Object v = fresh(type, depth);
        if (v != null && made.size() < 30) {
            made.add(v);
        }
        return v;
    }

    private Object fresh(Type type, int depth) {
        if (type instanceof ParameterizedType p) {
            Class<?> c = (Class<?>) p.getRawType();
            if (simple.containsKey(c)) {
                return simple.get(c).get();
            }
            Object container = container(c, p.getActualTypeArguments(), depth);
            return container != null ? container : bean(c, p.getActualTypeArguments(), depth);
        }
        if (type instanceof WildcardType || type instanceof TypeVariable) {
            return value(Integer.class, depth);
        }
        if (type instanceof GenericArrayType a) {
            return array((Class<?>) ((ParameterizedType) a.getGenericComponentType()).getRawType(), depth);
        }
        Class<?> c = (Class<?>) type;
        Supplier<Object> supplier = simple.get(c);
        if (supplier != null) {
            return supplier.get();
        }
        if (c == Object.class) {
            return anything(depth);
        }
        if (c.isArray()) {
            return array(c.getComponentType(), depth);
        }
        if (c.isEnum()) {
            return pick(c.getEnumConstants());
        }
        Object container = container(c, new Type[] {String.class, String.class}, depth);
        return container != null ? container : bean(c, new Type[0], depth);
    }

    private Object anything(int depth) {
        return switch (random.nextInt(depth > 3 ? 8 : 13)) {
            case 0 -> value(Integer.class, depth);
            case 1 -> value(Long.class, depth);
            case 2 -> value(Double.class, depth);
            case 3, 4 -> value(String.class, depth);
            case 5 -> value(Boolean.class, depth);
            case 6 -> value(BigDecimal.class, depth);
            case 7 -> value(kinds == null ? Shop.Channel.class : pick(kinds.get(Enum.class)), depth);
            case 8 -> value(Date.class, depth);
            case 9 -> container(List.class, new Type[] {Object.class}, depth + 1);
            case 10 -> container(Map.class, new Type[] {String.class, Object.class}, depth + 1);
            case 11 -> value(pick(int[].class, byte[].class, String[].class, beans[0].arrayType()), depth);
            default -> value(pick(beans), depth);
        };
    }

    private Object array(Class<?> component, int depth) {
        int length = length(depth, component.isPrimitive() ? 40 : 4);
        if (component == byte.class) {
            return bytes(length);
        }
        Object array = Array.newInstance(component, length);
        for (int i = 0; i < length; i++) {
            Array.set(array, i, value(component, depth + 1));
        }
        return array;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private Object container(Class<?> type, Type[] arguments, int depth) {
        if (type == EnumMap.class) {
            EnumMap map = new EnumMap((Class) arguments[0]);
            for (Object constant : ((Class<?>) arguments[0]).getEnumConstants()) {
                if (random.nextBoolean()) {
                    map.put((Enum) constant, value(arguments[1], depth + 1));
                }
            }
            return map;
        }
        if (type == EnumSet.class) {
            EnumSet set = EnumSet.noneOf((Class) arguments[0]);
            for (Object constant : ((Class<?>) arguments[0]).getEnumConstants()) {
                if (random.nextBoolean()) {
                    set.add((Enum) constant);
                }
            }
            return set;
        }
        Object empty = empty(type);
        fill(empty, arguments, depth);
        return empty;
    }

    /** A collection of the application's own: the type arguments stand in its superclass. */
    private void elements(Object empty, Class<?> c, int depth) {
        Type above = c;
        while (!(above instanceof ParameterizedType)) {
            above = ((Class<?>) above).getGenericSuperclass();
        }
        fill(empty, ((ParameterizedType) above).getActualTypeArguments(), depth);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private void fill(Object empty, Type[] arguments, int depth) {
        if (empty instanceof Map map) {
            boolean nulls = !(empty instanceof ConcurrentMap || empty instanceof Hashtable);
            for (int n = length(depth, 5); n > 0; n--) {
                Object key = value(arguments[0], 0);
                Object v = value(arguments[1], depth + 1);
                if (key != null && (nulls || v != null)) {
                    map.put(key, v);
                }
            }
        } else if (empty instanceof Collection c) {
            for (int n = length(depth, 6); n > 0; n--) {
                Object v = value(arguments[0], c instanceof Queue && !(c instanceof LinkedList) || c instanceof SortedSet ? 0 : depth + 1);
                if (v != null || c instanceof List || c instanceof HashSet) {
                    c.add(v);
                }
            }
        }
    }

    private Object empty(Class<?> type) {
        if (type == List.class || type == Collection.class || type == Iterable.class) {
            return random.nextInt(3) == 0 ? new LinkedList<>() : new ArrayList<>();
        } else if (type == Set.class) {
            return random.nextBoolean() ? new HashSet<>() : new LinkedHashSet<>();
        } else if (type == SortedSet.class) {
            return new TreeSet<>();
        } else if (type == Queue.class || type == Deque.class) {
            return random.nextBoolean() ? new ArrayDeque<>() : new LinkedList<>();
        } else if (type == Map.class) {
            return random.nextBoolean() ? new HashMap<>() : new LinkedHashMap<>();
        } else if (type == SortedMap.class) {
            return new TreeMap<>();
        } else if (type == ConcurrentMap.class) {
            return new ConcurrentHashMap<>();
        } else if (type.getName().startsWith("java.util.")) {
            return instance(type);
        }
        return null;
    }

    /** Fills the fields, also those of classes above; T stands for what the use of the class says. */
    private Object bean(Class<?> c, Type[] arguments, int depth) {
        Kinds annotation = c.getAnnotation(Kinds.class);
        if (annotation != null) {
            return bean(pick(annotation.value()), arguments, depth);
        }
        if (kinds != null && kinds.containsKey(c)) {
            Class<?> kind = pick(kinds.get(c));
            if (kind != c) {
                return value(kind, depth);
            }
        }
        if (--budget < 0 && depth > 1 || depth > 6) {
            return null;
        }
        Map<String, Type> variables = new HashMap<>();
        for (int i = 0; i < arguments.length && i < c.getTypeParameters().length; i++) {
            variables.put(c.getTypeParameters()[i].getName(), arguments[i]);
        }
        if (kinds != null && arguments.length == 0) {
            for (TypeVariable<?> v : c.getTypeParameters()) {
                variables.put(v.getName(), v.getBounds()[0] instanceof Class<?> b && kinds.containsKey(b) ? kinds.get(b)[0] : String.class);
            }
        }
        if (c.isRecord()) {
            return record(c, depth);
        }
        Object bean = instance(c);
        if (kinds != null && (bean instanceof Collection || bean instanceof Map)) {
            elements(bean, c, depth);
        }
        fields(bean, c, variables, depth);
        return bean;
    }

    void fields(Object bean, Class<?> c) {
        fields(bean, c, new HashMap<>(), 3);
    }

    private void fields(Object bean, Class<?> c, Map<String, Type> variables, int depth) {
        for (Class<?> at = c; at != null && !at.getName().startsWith("java."); at = at.getSuperclass()) {
            for (Field f : at.getDeclaredFields()) {
                if (Modifier.isStatic(f.getModifiers()) || Modifier.isFinal(f.getModifiers()) && kinds == null || Modifier.isTransient(f.getModifiers())) {
                    continue;
                }
                try {
                    f.setAccessible(true);
                    boolean none = nullable != null && !f.getType().isPrimitive() && mayBeNull(f) && (depth > 2 || random.nextInt(3) == 0);
                    f.set(bean, none ? null : value(resolved(f.getGenericType(), variables), depth + 1));
                } catch (IllegalAccessException e) {
                    throw new IllegalStateException(e);
                }
            }
            if (kinds != null && resolved(at.getGenericSuperclass(), variables) instanceof ParameterizedType above) {
                variables.clear(); // those of the class above
                for (int i = 0; i < above.getActualTypeArguments().length; i++) {
                    variables.put(at.getSuperclass().getTypeParameters()[i].getName(), above.getActualTypeArguments()[i]);
                }
            }
        }
    }

    private Object record(Class<?> c, int depth) {
        Constructor<?> constructor = c.getDeclaredConstructors()[0];
        Object[] values = new Object[constructor.getParameterCount()];
        for (int i = 0; i < values.length; i++) {
            values[i] = value(constructor.getGenericParameterTypes()[i], depth + 1);
        }
        try {
            return constructor.newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private Object instance(Class<?> c) {
        try {
            Constructor<?> constructor;
            try {
                constructor = c.getDeclaredConstructor();
            } catch (NoSuchMethodException e) {
                if (kinds == null) {
                    throw e;
                }
                Class<?> above = Throwable.class.isAssignableFrom(c) ? Exception.class : Object.class;
                constructor = sun.reflect.ReflectionFactory.getReflectionFactory().newConstructorForSerialization(c, above.getDeclaredConstructor());
            }
            if (kinds != null) {
                constructor.setAccessible(true);
            }
            return constructor.newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** List of T, or T itself. */
    private static Type resolved(Type type, Map<String, Type> variables) {
        if (type instanceof TypeVariable<?> v) {
            return variables.getOrDefault(v.getName(), String.class);
        }
        if (type instanceof GenericArrayType a && resolved(a.getGenericComponentType(), variables) instanceof Class<?> component) {
            return component.arrayType();
        }
        if (!(type instanceof ParameterizedType p)) {
            return type;
        }
        Type[] arguments = p.getActualTypeArguments().clone();
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = resolved(arguments[i], variables);
        }
        return new ParameterizedType() {
            @Override
            public Type[] getActualTypeArguments() {
                return arguments;
            }

            @Override
            public Type getRawType() {
                return p.getRawType();
            }

            @Override
            public Type getOwnerType() {
                return p.getOwnerType();
            }
        };
    }

    /** All widths are as likely, and so are the values beside a power of two. */
    private long number() {
        if (random.nextInt(6) == 0) {
            return (1L << random.nextInt(64)) - random.nextInt(3) + 1;
        }
        return random.nextLong() >> random.nextInt(64);
    }

    private double real() {
        return switch (random.nextInt(9)) {
            case 0 -> 0;
            case 1 -> random.nextInt(300) - 150;
            case 2 -> (random.nextInt(70000) - 35000) / 100.0;
            case 3 -> random.nextInt();
            case 4 -> random.nextInt() / 1000.0;
            case 5 -> random.nextFloat();
            case 6 -> Double.longBitsToDouble(random.nextLong() & 0x7fdfffffffffffffL);
            default -> random.nextGaussian() * 1000;
        };
    }

    private BigInteger big() {
        return random.nextInt(8) == 0 ? BigInteger.ZERO : new BigInteger(1 + random.nextInt(random.nextBoolean() ? 60 : 260), random).subtract(BigInteger.valueOf(random.nextInt(1000)));
    }

    private long millis() {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt() / 3 * 60_000L; // from the year 609 on
            case 1 -> random.nextInt() * 1000L;
            default -> 1_600_000_000_000L + random.nextInt() * 100L;
        };
    }

    private Timestamp stamp() {
        Timestamp stamp = new Timestamp(millis());
        if (random.nextBoolean()) {
            stamp.setNanos(random.nextInt(1_000_000_000));
        }
        return stamp;
    }

    private Calendar calendar() {
        Calendar calendar = new GregorianCalendar(TimeZone.getTimeZone(pick("UTC", "Asia/Tokyo")));
        calendar.setTimeInMillis(millis());
        return calendar;
    }

    private LocalDateTime local() {
        int nanos = pick(0, 0, 500_000_000, 123_000_000, 1, 123_456_000, random.nextInt(1_000_000_000));
        LocalDateTime t = LocalDateTime.ofEpochSecond(random.nextInt() * 20L / 60 * (random.nextBoolean() ? 60 : 1), nanos, ZoneOffset.UTC);
        return random.nextInt(12) == 0 ? t.withYear(pick(-44, 9999, 12345)) : t;
    }

    private ZoneId zone() {
        return ZoneId.of(pick(ZONES));
    }

    private ZoneOffset offset() {
        return ZoneOffset.ofTotalSeconds((random.nextInt(36 * 4) - 72) * 900);
    }

    private char letter() {
        String alphabet = pick(ALPHABETS);
        return alphabet.charAt(random.nextInt(alphabet.length()));
    }

    /** strange: 0 for letters, 1 for those of other languages, 2 for what is hardly a text. */
    private String text(int strange) {
        String letters = strange == 0 ? ALPHABETS[0] : strange == 1 ? pick(ALPHABETS[1], ALPHABETS[2], ALPHABETS[3]) : pick(ALPHABETS[4], ALPHABETS[5]);
        int length = random.nextInt(12) == 0 ? pick(0, 30, 31, 32, 33, 63, 64, 127, 128, 255, 256, 257) : random.nextInt(14);
        return text(letters, length);
    }

    String text(String letters, int length) {
        int[] points = letters.codePoints().toArray();
        StringBuilder b = new StringBuilder(length);
        for (int at = random.nextInt(points.length); b.length() < length; at = Zoo.LARGE ? random.nextInt(points.length) : (at + 1) % points.length) {
            b.appendCodePoint(points[at]); // in small captures in order: they pack better
        }
        return b.toString();
    }

    byte[] bytes(int length) {
        byte[] b = new byte[length];
        random.nextBytes(b);
        return b;
    }

    private int length(int depth, int most) {
        if (depth == 0 && random.nextInt(6) == 0) {
            return pick(0, 7, 8, 9, 16, 17);
        }
        return depth > 4 ? 0 : random.nextInt(Math.max(1, most - depth));
    }

    @SafeVarargs
    private <V> V pick(V... of) {
        return of[random.nextInt(of.length)];
    }

    private static Class<?> box(Class<?> c) {
        return java.lang.invoke.MethodType.methodType(c).wrap().returnType();
    }
}
