package org.dubbowire.rig.run;

import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URL;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.Month;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.*;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.dubbowire.rig.zoo.Chat;
import org.dubbowire.rig.zoo.Cover;
import org.dubbowire.rig.zoo.Depot;
import org.dubbowire.rig.zoo.Faults;
import org.dubbowire.rig.zoo.Odd;
import org.dubbowire.rig.zoo.Own;
import org.dubbowire.rig.zoo.Records;
import org.dubbowire.rig.zoo.Shop;

/** Values one by one, for a parameter of type Object: where one cannot be written, the others are. */
final class Animals {
    private final Filler filler;
    private final List<Animal> all = new ArrayList<>();

    private final boolean alone;

    /** alone: each of them also without others around it. */
    Animals(long seed, boolean alone) {
        filler = new Filler(seed + 1);
        this.alone = alone;
    }

    /** Made when it is sent: some fail while they are made. */
    record Animal(String name, Callable<Object> maker) {
    }

    private void add(String name, Callable<Object> maker) {
        if (alone) {
            all.add(new Animal(name, maker));
        }
        // Behind another value and twice, so that references have something to lead to.
        all.add(new Animal(name + ", among others", () -> {
            Object v = maker.call();
            Shop.Line line = new Shop.Line();
            line.setSku("before " + name);
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("line", line);
            map.put("value", v);
            map.put("again", v);
            map.put("line again", line);
            return map;
        }));
    }

    List<Animal> all() {
        lists();
        maps();
        times();
        jdk();
        own();
        for (Class<?> c : List.of(Byte.class, Short.class, Character.class, Integer.class, Long.class, Float.class, Double.class, Boolean.class, String.class, int[].class,
            long[][].class, char[].class, Shop.Order.class, Shop.Voucher.class, Shop.State.class, Depot.Grid.class, Depot.Stock.class, Depot.Racks.class, Cover.Policy.class,
            Cover.Level3.class, Cover.Sums.class, Cover.Dates.class, Chat.Message.class, Odd.Fields.class, Odd.Dollars.class, Odd.Wide.class, Odd.Ordinal.class, Odd.OneInt.class,
            Odd.Value.class, Odd.Nothing.class, q.T.class)) {
            add(c.getSimpleName(), () -> filler.make(c));
        }
        return all;
    }

    private void lists() {
        List<String> abc = List.of("a", "b", "c");
        add("List.of()", List::of);
        add("List.of(1)", () -> List.of("one"));
        add("List.of(3)", () -> abc);
        add("Set.of", () -> Set.of(1, 2, 3));
        add("Set.of(1)", () -> Set.of("s"));
        add("List.copyOf", () -> List.copyOf(new ArrayList<>(abc)));
        add("toList", () -> abc.stream().map(String::toUpperCase).toList());
        add("asList", () -> Arrays.asList("x", null, 5));
        add("asList of beans", () -> Arrays.asList((Object[]) new Shop.Line[] {new Shop.Line()}));
        add("subList", () -> new ArrayList<>(abc).subList(1, 3));
        add("unmodifiableList", () -> Collections.unmodifiableList(new LinkedList<>(abc)));
        add("unmodifiableCollection", () -> Collections.unmodifiableCollection(new ArrayList<>(abc)));
        add("unmodifiableSet", () -> Collections.unmodifiableSet(new TreeSet<>(abc)));
        add("synchronizedList", () -> Collections.synchronizedList(new ArrayList<>(abc)));
        add("synchronizedSet", () -> Collections.synchronizedSet(new HashSet<>(abc)));
        add("checkedList", () -> Collections.checkedList(new ArrayList<>(abc), String.class));
        add("singleton", () -> Collections.singleton(5L));
        add("singletonList", () -> Collections.singletonList(Shop.State.paid));
        add("emptyList", Collections::emptyList);
        add("emptySet", Collections::emptySet);
        add("nCopies", () -> Collections.nCopies(4, "copy"));
        add("newSetFromMap", () -> {
            Set<String> set = Collections.newSetFromMap(new ConcurrentHashMap<>());
            set.addAll(abc);
            return set;
        });
        add("keySet", () -> new LinkedHashMap<>(Map.of("k", 1)).keySet());
        add("values", () -> new HashMap<>(Map.of("k", 1)).values());
        add("entrySet", () -> new HashMap<>(Map.of("k", 1)).entrySet());
        // Once only: they are used up.
        all.add(new Animal("iterator", () -> new ArrayList<>(abc).iterator()));
        all.add(new Animal("enumeration", () -> Collections.enumeration(new ArrayList<>(abc))));
        add("EnumSet", () -> EnumSet.of(Shop.State.NEW, Shop.State.$x));
        add("EnumSet.none", () -> EnumSet.noneOf(Shop.Channel.class));
        add("TreeSet reverse", () -> {
            TreeSet<String> set = new TreeSet<>(Collections.reverseOrder());
            set.addAll(abc);
            return set;
        });
        add("TreeSet own order", () -> {
            TreeSet<String> set = new TreeSet<>(new Own.Backwards());
            set.addAll(abc);
            return set;
        });
        add("PriorityQueue", () -> new PriorityQueue<>(List.of(5, 3, 9)));
        add("PriorityQueue own order", () -> {
            PriorityQueue<String> queue = new PriorityQueue<>(3, new Own.Backwards());
            queue.addAll(abc);
            return queue;
        });
        add("ArrayDeque", () -> new ArrayDeque<>(List.of(1, 2)));
        add("LinkedBlockingQueue", () -> new LinkedBlockingQueue<>(abc));
        add("ConcurrentLinkedQueue", () -> new ConcurrentLinkedQueue<>(abc));
        add("ConcurrentLinkedDeque", () -> new ConcurrentLinkedDeque<>(abc));
        add("CopyOnWriteArrayList", () -> new CopyOnWriteArrayList<>(abc));
        add("CopyOnWriteArraySet", () -> new CopyOnWriteArraySet<>(abc));
        add("Vector", () -> new Vector<>(abc));
        add("Stack", () -> {
            Stack<Object> stack = new Stack<>();
            stack.push("bottom");
            stack.push(new Odd.Nothing());
            return stack;
        });
        add("LinkedHashSet", () -> new LinkedHashSet<>(Arrays.asList(1, "two", null, Shop.Channel.WEB)));
        add("list of lists", () -> new ArrayList<>(List.of(new ArrayList<>(), new LinkedList<>(abc), new ArrayList<>(List.of(new ArrayList<>(abc))))));
        add("Line[]", () -> new Shop.Line[] {new Shop.Line(), null});
        add("Payment[]", () -> new Shop.Payment[] {new Shop.Card(), new Shop.Voucher()});
        add("Content[][]", () -> new Chat.Content[][] {{new Chat.Text()}, {}, null});
        add("State[]", () -> new Shop.State[] {Shop.State.paid, Shop.State.paid, Shop.State.NEW});
        add("List[]", () -> new List<?>[] {new ArrayList<>(abc), new LinkedList<>()});
        add("Map[]", () -> new Map<?, ?>[] {new HashMap<>(Map.of("a", 1))});
        add("Date[]", () -> new Date[] {new Date(1), null});
        add("Number[]", () -> new Number[] {1, 2L, 3.5});
        add("Class[]", () -> new Class<?>[] {String.class, int.class, Shop.Line[].class});
        add("Object[][]", () -> new Object[][] {{1, "a"}, {}, {null}});
        add("String[][][]", () -> new String[][][] {{{"a"}, {"b", null}}, {}});
        add("empty arrays", () -> new Object[] {new int[0], new String[0], new byte[0], new Shop.Line[0], new boolean[0][0]});
    }

    private void maps() {
        add("Map.of()", Map::of);
        add("Map.of(1)", () -> Map.of("k", "v"));
        add("Map.of(3)", () -> Map.of("a", 1, "b", 2, "c", 3));
        add("Map.entry", () -> Map.entry("k", "v"));
        add("SimpleEntry", () -> new AbstractMap.SimpleEntry<>("k", 5));
        add("unmodifiableMap", () -> Collections.unmodifiableMap(new TreeMap<>(Map.of("a", 1))));
        add("synchronizedMap", () -> Collections.synchronizedMap(new HashMap<>(Map.of("a", 1))));
        add("singletonMap", () -> Collections.singletonMap(1, "one"));
        add("emptyMap", Collections::emptyMap);
        add("TreeMap reverse", () -> {
            Map<String, Integer> map = new TreeMap<>(Collections.reverseOrder());
            map.put("a", 1);
            map.put("b", 2);
            return map;
        });
        add("TreeMap own order", () -> {
            Map<String, Integer> map = new TreeMap<>(new Own.Backwards());
            map.put("a", 1);
            map.put("b", 2);
            return map;
        });
        add("headMap", () -> new TreeMap<>(Map.of("a", 1, "b", 2)).headMap("b"));
        add("descendingMap", () -> new TreeMap<>(Map.of("a", 1, "b", 2)).descendingMap());
        add("EnumMap", () -> new EnumMap<>(Map.of(Shop.State.paid, new ArrayList<>(List.of(1)))));
        add("EnumMap empty", () -> new EnumMap<>(Shop.State.class));
        add("LinkedHashMap by access", () -> {
            Map<String, Integer> map = new LinkedHashMap<>(8, 0.5f, true);
            map.put("a", 1);
            return map;
        });
        add("ConcurrentHashMap", () -> new ConcurrentHashMap<>(Map.of(1, "one")));
        add("ConcurrentSkipListMap", () -> new ConcurrentSkipListMap<>(Map.of("k", 1)));
        add("IdentityHashMap", () -> new IdentityHashMap<>(Map.of("i", 1)));
        add("WeakHashMap", () -> new WeakHashMap<>(Map.of("w", 1)));
        add("Hashtable", () -> new Hashtable<>(Map.of("h", 1)));
        add("Properties", () -> {
            Properties defaults = new Properties();
            defaults.setProperty("hidden", "default");
            Properties properties = new Properties(defaults);
            properties.setProperty("p", "q");
            return properties;
        });
        add("keys of all kinds", () -> {
            Map<Object, Object> map = new LinkedHashMap<>();
            map.put(1, "int");
            map.put(2L, "long"); // 1L would be the same key in a format without widths
            map.put((short) 3, "short");
            map.put(1.5, "double");
            map.put('c', "char");
            map.put(true, "boolean");
            map.put(null, "null");
            map.put(Shop.State.paid, "enum");
            map.put(new Date(5000), "date");
            map.put(new java.math.BigDecimal("1.50"), "decimal");
            map.put(UUID.fromString("00000000-0000-0001-0000-000000000002"), "uuid");
            map.put(new ArrayList<>(List.of(1)), "list");
            return map;
        });
        add("keys that mean something", () -> {
            Map<String, Object> map = new LinkedHashMap<>();
            for (String key : List.of("class", "@type", "@class", "$ref", "@ref", "value", "name", "", ".", "a[0]", "#0", "\"", "\n", "@map")) {
                map.put(key, "of " + key);
            }
            return map;
        });
        add("class with a name", () -> new LinkedHashMap<>(Map.of("class", "com.acme.Nobody")));
        add("map of maps", () -> new HashMap<>(Map.of("m", new TreeMap<>(Map.of(1, new HashMap<>())))));
        add("map with beans as keys", () -> new LinkedHashMap<>(Map.of(filler.make(Depot.Place.class), filler.make(Depot.Place.class))));
    }

    private void times() {
        LocalDateTime local = LocalDateTime.of(2021, 3, 4, 5, 6, 7, 890_000_000);
        add("LocalDate", () -> LocalDate.of(-1, 2, 3));
        add("LocalTime", () -> LocalTime.of(5, 0));
        add("LocalTime nano", () -> LocalTime.of(5, 6, 7, 8));
        add("LocalDateTime", () -> local);
        add("Instant", () -> Instant.ofEpochSecond(-5, 6));
        add("ZonedDateTime", () -> local.atZone(ZoneId.of("America/New_York")));
        add("ZonedDateTime offset", () -> local.atZone(ZoneOffset.ofHours(2)));
        add("OffsetDateTime", () -> OffsetDateTime.of(local, ZoneOffset.ofHoursMinutesSeconds(1, 2, 3)));
        add("OffsetTime", () -> OffsetTime.of(5, 6, 0, 0, ZoneOffset.UTC));
        add("Duration", () -> Duration.ofMillis(-1500));
        add("Period", () -> Period.of(0, 1, 20));
        add("Year", () -> Year.of(5));
        add("YearMonth", () -> YearMonth.of(2024, 2));
        add("MonthDay", () -> MonthDay.of(2, 29));
        add("DayOfWeek", () -> DayOfWeek.SUNDAY);
        add("Month", () -> Month.MAY);
        add("ZoneId", () -> ZoneId.of("Asia/Kolkata"));
        add("ZoneId fixed", () -> ZoneId.of("UTC+8"));
        add("ZoneOffset", () -> ZoneOffset.ofHoursMinutes(5, 45));
        add("times", () -> filler.make(Cover.Times.class));
        add("term", () -> filler.make(Cover.Term.class));
        add("clock", () -> filler.make(Cover.Clock.class));
        add("Calendar", () -> filler.make(Calendar.class));
        add("Date", () -> new Date(-1));
        add("sql.Date", () -> new java.sql.Date(86_400_000L * 365));
        add("sql.Time", () -> new java.sql.Time(3_600_000));
        add("Timestamp", () -> filler.make(java.sql.Timestamp.class));
        add("TimeZone", () -> TimeZone.getTimeZone("Asia/Tokyo"));
        add("TimeUnit", () -> TimeUnit.SECONDS);
    }

    private void jdk() {
        add("UUID", () -> filler.make(UUID.class));
        add("Locale", () -> Locale.forLanguageTag("zh-Hant-TW"));
        add("Locale.ROOT", () -> Locale.ROOT);
        add("Currency", () -> Currency.getInstance("JPY"));
        add("URI", () -> URI.create("http://user@host:8080/path?q=ä#f"));
        add("URL", () -> new URL("http://localhost:8080/path?q=1#f"));
        add("Class", () -> Shop.Order.class);
        add("Class primitive", () -> long.class);
        add("Class array", () -> int[][].class);
        add("Class enum with body", () -> Shop.State.paid.getClass());
        add("Optional", () -> Optional.of("there"));
        add("Optional.empty", Optional::empty);
        add("OptionalLong", () -> OptionalLong.of(5));
        add("AtomicBoolean", () -> new AtomicBoolean(true));
        add("AtomicInteger", () -> new AtomicInteger(-7));
        add("AtomicLong", () -> new AtomicLong(1L << 50));
        add("AtomicReference", () -> new AtomicReference<>("referred"));
        add("AtomicIntegerArray", () -> new AtomicIntegerArray(new int[] {1, 2}));
        add("LongAdder", () -> {
            LongAdder adder = new LongAdder();
            adder.add(5);
            return adder;
        });
        add("StringBuilder", () -> new StringBuilder("builder 中"));
        add("StringBuffer", () -> new StringBuffer("buffer"));
        add("BitSet", () -> BitSet.valueOf(new long[] {5, 1L << 40}));
        add("BigDecimal", () -> new java.math.BigDecimal("-123456789012345678901234567890.001"));
        add("BigDecimal zero", () -> new java.math.BigDecimal("0.000"));
        add("BigDecimal exponent", () -> new java.math.BigDecimal("1E+40"));
        add("BigInteger", () -> new java.math.BigInteger("-123456789012345678901234567890"));
        add("BigInteger small", () -> java.math.BigInteger.TEN);
        add("MathContext", () -> java.math.MathContext.DECIMAL32);
        add("RoundingMode", () -> java.math.RoundingMode.HALF_UP);
        add("Inet4Address", () -> InetAddress.getByAddress("named", new byte[] {10, 0, 0, 1}));
        add("Inet6Address", () -> InetAddress.getByAddress(new byte[] {32, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
        add("InetSocketAddress", () -> new InetSocketAddress(InetAddress.getByAddress(new byte[] {10, 0, 0, 1}), 80));
        add("File", () -> new java.io.File("/tmp/file"));
        add("Charset name", () -> java.nio.charset.StandardCharsets.UTF_8.name());
        add("Object", Object::new);
        add("Float", () -> 0.1f);
        add("Float odd", () -> 1.17549435E-38f);
        add("NaN", () -> Double.NaN);
        add("-0.0", () -> -0.0);
        add("Float infinity", () -> Float.NEGATIVE_INFINITY);
        add("Throwable", () -> new Faults.Rejected("as a value").initCause(new IllegalStateException("cause")));
        add("Throwable quiet", () -> new Faults.Quiet("as a value"));
    }

    private void own() {
        add("Extended", () -> {
            Own.Extended v = new Own.Extended();
            v.setText("text");
            v.setHidden(new ArrayList<>(List.of("h1", "h2")));
            return v;
        });
        add("Blocks", () -> new Own.Blocks(10));
        add("Blocks long", () -> new Own.Blocks(1100));
        add("Put", Own.Put::new);
        add("Replaced", Own.Replaced::new);
        add("External", () -> new Own.External("text", new ArrayList<>(List.of(1, "two"))));
        add("External in External", () -> new Own.External("outer", new Own.External("inner", null)));
        add("Items", () -> {
            Own.Items v = new Own.Items();
            v.setTitle("title");
            v.setLimit(5);
            v.add("first");
            return v;
        });
        add("Tags", () -> {
            Own.Tags v = new Own.Tags();
            v.setOwner("owner");
            v.add("tag");
            return v;
        });
        add("Dictionary", () -> {
            Own.Dictionary v = new Own.Dictionary();
            v.setLanguage("en");
            v.put("word", 1);
            v.put("bean", new Odd.Nothing());
            return v;
        });
        add("Index", () -> {
            Own.Index v = new Own.Index();
            v.setUnit("page");
            v.put("entry", 12);
            return v;
        });
        add("Cache", () -> {
            Own.Cache v = new Own.Cache();
            v.put(1, "cached");
            return v;
        });
        add("Backwards", Own.Backwards::new);
        add("Proxy", () -> Proxy.newProxyInstance(Own.class.getClassLoader(), new Class<?>[] {Own.Greeter.class}, new Own.Handler()));
        add("Inner", () -> {
            Odd.Outer outer = new Odd.Outer();
            outer.setLabel("around");
            return outer.make("inside");
        });
        add("Point", () -> new Records.Point(1, -2));
        add("Named", () -> new Records.Named("RED"));
        add("Record None", Records.None::new);
        add("Route", () -> new Records.Route("way", new Records.Point(0, 0), null, new ArrayList<>(List.of(new Records.Point(5, 6))), Shop.State.Shipped_2));
        add("Name RED", () -> {
            Odd.Name name = new Odd.Name();
            name.setName("RED");
            return name;
        });
        add("names and enums", () -> {
            Odd.Name one = new Odd.Name();
            one.setName("ONE");
            Odd.Name same = new Odd.Name();
            same.setName("ONE");
            return new ArrayList<>(List.of(one, Shop.Channel.WEB, same, Shop.Channel.WEB, Chat.Mood.happy, Chat.Mood.Sad, Chat.Mood.happy));
        });
        add("default long name", () -> filler.make(Odd.AnInsuranceCompanyCustomerRelationshipManagementDataTransferObjectBase.class));
    }
}
