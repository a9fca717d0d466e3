package org.dubbowire.rig.run;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
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
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.dubbowire.rig.edge.Color;
import org.dubbowire.rig.edge.Dates;
import org.dubbowire.rig.edge.Derived;
import org.dubbowire.rig.edge.Enums;
import org.dubbowire.rig.edge.Holder;
import org.dubbowire.rig.edge.Immutables;
import org.dubbowire.rig.edge.Lists;
import org.dubbowire.rig.edge.Maps;
import org.dubbowire.rig.edge.Maybe;
import org.dubbowire.rig.edge.Names;
import org.dubbowire.rig.edge.Node;
import org.dubbowire.rig.edge.Numbers;
import org.dubbowire.rig.edge.OnlyName;
import org.dubbowire.rig.edge.Op;
import org.dubbowire.rig.edge.PrimitiveArrays;
import org.dubbowire.rig.edge.Primitives;
import org.dubbowire.rig.edge.Texts;
import org.dubbowire.rig.edge.Times;

/** Filled objects of the edge set; the same in every run. */
final class Samples {
    private static final long MILLIS = 1574150400123L;
    private static final Instant INSTANT = Instant.ofEpochSecond(1574150400L, 123_456_789);
    private static final LocalDateTime LOCAL = LocalDateTime.of(2019, 11, 19, 16, 0, 1, 500_000_000);

    private Samples() {
    }

    static String repeat(String s, int length) {
        return s.repeat(length / s.length() + 1).substring(0, length);
    }

    static byte[] bytes(int size) {
        byte[] b = new byte[size];
        for (int i = 0; i < size; i++) {
            b[i] = (byte) (i * 31 + i / 256);
        }
        return b;
    }

    static Primitives primitives() {
        Primitives p = new Primitives();
        p.setZ(true);
        p.setB((byte) -5);
        p.setS((short) 12345);
        p.setC('中');
        p.setI(-123456);
        p.setL(9_007_199_254_740_993L); // no double holds it
        p.setF(3.4f);
        p.setD(-2.718281828459045);
        p.setBoxZ(false);
        p.setBoxB((byte) 100);
        p.setBoxS((short) -1);
        p.setBoxC('é');
        p.setBoxI(0);
        p.setBoxL(-1L);
        p.setBoxF(-0.5f);
        p.setBoxD(1e-300);
        return p;
    }

    static PrimitiveArrays arrays() {
        PrimitiveArrays a = new PrimitiveArrays();
        a.setZ(new boolean[] {true, false, true});
        a.setB(bytes(20));
        a.setS(new short[] {1, -1, 32767});
        a.setC(new char[] {'x', 'é', '中'});
        a.setI(new int[] {0, -1, 1 << 30});
        a.setL(new long[] {0, -1, 1L << 60});
        a.setF(new float[] {0f, 1.5f, 0.1f});
        a.setD(new double[] {0, 1.5, 0.1});
        a.setBoxI(new Integer[] {1, 2, 3});
        a.setBoxL(new Long[] {1L, null});
        a.setBoxD(new Double[] {0.5});
        a.setI2(new int[][] {{1}, {2, 3}});
        a.setL2(new long[][] {{1L, -1L}, {}});
        a.setStrings(new String[] {"a", "", "b"});
        a.setStrings2(new String[][] {{"x"}, {"y", "z"}});
        a.setObjects(new Object[] {1, "s", 2.5});
        a.setNodes(new Node[] {new Node(1, "in an array"), null});
        return a;
    }

    static Numbers numbers() {
        Numbers n = new Numbers();
        n.setPrice(new BigDecimal("12345678901234567890.0123456789"));
        n.setExponent(new BigDecimal("1E+30"));
        n.setZero(new BigDecimal("0.00"));
        n.setBig(new BigInteger("123456789012345678901234567890"));
        n.setNegative(BigInteger.TWO.pow(64).negate());
        n.setCounter(new AtomicInteger(5));
        n.setLongCounter(new AtomicLong(1L << 40));
        n.setNumber(17L);
        return n;
    }

    static Dates dates() {
        Dates d = new Dates();
        d.setDate(new Date(MILLIS));
        d.setEpoch(new Date(0));
        d.setMinute(new Date(60_000L * 1_000_000));
        Timestamp timestamp = new Timestamp(MILLIS);
        timestamp.setNanos(123_456_789);
        d.setTimestamp(timestamp);
        d.setSqlDate(new java.sql.Date(1574121600000L));
        d.setSqlTime(new Time(3_600_000));
        Calendar calendar = new GregorianCalendar(TimeZone.getTimeZone("UTC"));
        calendar.setTimeInMillis(MILLIS);
        d.setCalendar(calendar);
        return d;
    }

    static Map<String, Object> timeValues() {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("LocalDate", LocalDate.of(1968, 12, 8));
        m.put("LocalTime", LocalTime.of(23, 59, 59, 1));
        m.put("LocalDateTime", LOCAL);
        m.put("Instant", INSTANT);
        m.put("ZonedDateTime", ZonedDateTime.of(LOCAL, ZoneId.of("Asia/Shanghai")));
        m.put("OffsetDateTime", OffsetDateTime.of(LOCAL, ZoneOffset.ofHoursMinutes(-3, -30)));
        m.put("OffsetTime", OffsetTime.of(1, 2, 3, 4, ZoneOffset.UTC));
        m.put("Duration", Duration.ofSeconds(90, 5));
        m.put("Period", Period.of(1, 2, 3));
        m.put("Year", Year.of(2024));
        m.put("YearMonth", YearMonth.of(2024, 2));
        m.put("MonthDay", MonthDay.of(2, 29));
        m.put("DayOfWeek", java.time.DayOfWeek.FRIDAY);
        m.put("ZoneId", ZoneId.of("Europe/Paris"));
        m.put("ZoneOffset", ZoneOffset.ofHours(8));
        return m;
    }

    static Times times() {
        Map<String, Object> m = timeValues();
        Times t = new Times();
        t.setLocalDate((LocalDate) m.get("LocalDate"));
        t.setLocalTime((LocalTime) m.get("LocalTime"));
        t.setLocalDateTime((LocalDateTime) m.get("LocalDateTime"));
        t.setInstant((Instant) m.get("Instant"));
        t.setZonedDateTime((ZonedDateTime) m.get("ZonedDateTime"));
        t.setOffsetDateTime((OffsetDateTime) m.get("OffsetDateTime"));
        t.setOffsetTime((OffsetTime) m.get("OffsetTime"));
        t.setDuration((Duration) m.get("Duration"));
        t.setPeriod((Period) m.get("Period"));
        t.setYear((Year) m.get("Year"));
        t.setYearMonth((YearMonth) m.get("YearMonth"));
        t.setMonthDay((MonthDay) m.get("MonthDay"));
        t.setDayOfWeek((java.time.DayOfWeek) m.get("DayOfWeek"));
        t.setZoneId((ZoneId) m.get("ZoneId"));
        t.setZoneOffset((ZoneOffset) m.get("ZoneOffset"));
        return t;
    }

    /** Values that travel where the interface says Object. */
    static Map<String, Object> values() {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("null", null);
        m.put("Boolean", Boolean.TRUE);
        m.put("Byte", (byte) 1);
        m.put("Short", (short) 1);
        m.put("Character", 'c');
        m.put("Integer", 1);
        m.put("Long", 1L);
        m.put("Float", 0.1f);
        m.put("Double", 0.1);
        m.put("String", "text");
        m.put("bytes", bytes(10));
        m.put("chars", new char[] {'a', '中'});
        m.put("BigDecimal", new BigDecimal("-0.001"));
        m.put("BigInteger", BigInteger.TEN.pow(20));
        m.put("Date", new Date(MILLIS));
        m.put("Timestamp", new Timestamp(MILLIS));
        m.put("sql.Date", new java.sql.Date(MILLIS));
        m.put("sql.Time", new Time(MILLIS));
        m.put("Calendar", dates().getCalendar());
        m.put("UUID", new UUID(0x0123456789abcdefL, 0xfedcba9876543210L));
        m.put("Locale", Locale.SIMPLIFIED_CHINESE);
        m.put("Class", Node.class);
        m.put("enum", Color.BLUE);
        m.put("enum with body", Op.TIMES);
        m.put("bean", new Node(1, "where Object stands"));
        m.put("Object", new Object[0]);
        return m;
    }

    static Names names() {
        Names n = new Names();
        n.setUuid(new UUID(1, 2));
        n.setLocale(Locale.CANADA_FRENCH);
        n.setLanguage(Locale.ENGLISH);
        n.setType(Node.class);
        n.setPrimitive(int.class);
        n.setBuilder(new StringBuilder("builder"));
        n.setCurrency(Currency.getInstance("CNY"));
        n.setUri(URI.create("dubbo://127.0.0.1:20880/a?b=c"));
        n.setZone(TimeZone.getTimeZone("Asia/Shanghai"));
        return n;
    }

    static OnlyName onlyName(String name) {
        OnlyName o = new OnlyName();
        o.setName(name);
        return o;
    }

    static Enums enums() {
        Enums e = new Enums();
        e.setColor(Color.GREEN);
        e.setOp(Op.PLUS);
        e.setArray(new Color[] {Color.RED, null, Color.RED});
        e.setList(new ArrayList<>(List.of(Color.BLUE, Color.BLUE)));
        e.setMap(new LinkedHashMap<>(Map.of(Color.RED, "red")));
        e.setEnumMap(new EnumMap<>(Map.of(Color.GREEN, 2)));
        e.setEnumSet(EnumSet.of(Color.RED, Color.BLUE));
        e.setOps(new LinkedHashSet<>(List.of(Op.PLUS, Op.TIMES)));
        e.setLabel(onlyName("GREEN"));
        return e;
    }

    static Derived derived() {
        Derived d = new Derived();
        d.setName("inherited");
        d.setVersion(2);
        d.setCreated(MILLIS);
        d.setTitle("own");
        d.setRatio(0.75);
        return d;
    }

    static Holder<Node> holder() {
        Holder<Node> h = new Holder<>();
        h.setValue(new Node(1, "generic"));
        h.setAny(new ArrayList<Object>(List.of("any", 1, 2L)));
        h.setList(new ArrayList<>(List.of(h.getValue(), new Node(2, "second"))));
        h.setComparable("comparable");
        return h;
    }

    static Texts texts() {
        Texts t = new Texts();
        t.setEmpty("");
        t.setAscii("plain");
        t.setChinese("中文，全角标点。");
        t.setEmoji("😀👨‍👩‍👧𠀀");
        t.setMixed("aé中😀z");
        t.setLoneHigh("x\ud83dy");
        t.setLoneLow("x\ude00y");
        t.setControls("\0\b\t\n\f\r\u001f\u007f\u2028");
        t.setQuotes("\"'\\/{}[]:,");
        t.setHtml("<a href='x'>&amp;</a>");
        return t;
    }

    static Maybe maybe() {
        Maybe m = new Maybe();
        m.setSome(Optional.of("some"));
        m.setNone(Optional.empty());
        m.setNumber(OptionalInt.of(3));
        return m;
    }

    static Lists lists() {
        Lists l = new Lists();
        l.setArrayList(new ArrayList<>(List.of("a", "b")));
        l.setLinkedList(new LinkedList<>(List.of(1, 2, 3)));
        l.setMixed(new ArrayList<>(Arrays.asList(1, "two", 3.0, null, new Node(4, "four"))));
        l.setHashSet(new HashSet<>(List.of("x", "y")));
        l.setLinkedSet(new LinkedHashSet<>(List.of("y", "x")));
        l.setTreeSet(new TreeSet<>(List.of(3, 1, 2)));
        l.setEmpty(new ArrayList<>());
        l.setNodes(new ArrayList<>(List.of(new Node(1, "one"), new Node(2, "two"))));
        l.setNested(new ArrayList<>(List.of(new ArrayList<>(List.of(1, 2)), new ArrayList<>())));
        l.setCollection(new ArrayList<>(List.of(1L, 2L)));
        l.setVector(new Vector<>(List.of("v")));
        return l;
    }

    static Maps maps() {
        Maps m = new Maps();
        m.setHashMap(new HashMap<>(Map.of("k", "v", "k2", "v2")));
        m.setLinked(new LinkedHashMap<>());
        m.getLinked().put("b", 2);
        m.getLinked().put("a", 1);
        m.setTree(new TreeMap<>(Map.of("b", 2L, "a", 1L)));
        m.setConcurrent(new ConcurrentHashMap<>(Map.of("c", "d")));
        m.setIntKeys(new LinkedHashMap<>(Map.of(1, "one")));
        m.setLongKeys(new LinkedHashMap<>(Map.of(1L << 40, new Node(1, "by long"))));
        m.setDateKeys(new LinkedHashMap<>(Map.of(new Date(MILLIS), "by date")));
        m.setLists(new HashMap<>(Map.of("list", new ArrayList<>(List.of(new Node(2, "in a list in a map"))))));
        m.setObjects(new LinkedHashMap<>());
        m.getObjects().put("null", null);
        m.getObjects().put("node", new Node(3, "value"));
        m.setOddKeys(new LinkedHashMap<>());
        for (String key : List.of("a.b", "a[0]", "quote\"d", "", "@at", "空 格", "#hash")) {
            m.getOddKeys().put(key, key);
        }
        m.setTable(new Hashtable<>(Map.of("t", "u")));
        m.setProperties(new Properties());
        m.getProperties().setProperty("p", "q");
        return m;
    }

    static Immutables immutables() {
        Immutables i = new Immutables();
        i.setAsList(Arrays.asList("x", null, "y"));
        i.setUnmodifiable(Collections.unmodifiableList(new ArrayList<>(List.of("u"))));
        i.setSingleton(Collections.singletonList("one"));
        i.setEmptyList(Collections.emptyList());
        i.setEmptySet(Collections.emptySet());
        i.setEmptyMap(Collections.emptyMap());
        i.setUnmodifiableSet(Collections.unmodifiableSet(new HashSet<>(List.of("us"))));
        i.setUnmodifiableMap(Collections.unmodifiableMap(new HashMap<>(Map.of("um", "v"))));
        i.setSynchronizedList(Collections.synchronizedList(new ArrayList<>(List.of("sync"))));
        i.setSingletonSet(Collections.singleton("single"));
        i.setSingletonMap(Collections.singletonMap("sm", "v"));
        return i;
    }

    /** The same collections one by one, so that one that cannot be written does not hide the others. */
    static Map<String, Object> containers() {
        Map<String, Object> m = new LinkedHashMap<>();
        Immutables i = immutables();
        m.put("List.of", List.of("a", "b", "c"));
        m.put("Set.of", Set.of("s"));
        m.put("Map.of", Map.of("m", 1));
        m.put("List.of 2", List.of(1, 2));
        m.put("Arrays.asList", i.getAsList());
        m.put("subList", new ArrayList<>(List.of("1", "2", "3", "4")).subList(1, 3));
        m.put("unmodifiableList", i.getUnmodifiable());
        m.put("singletonList", i.getSingleton());
        m.put("emptyList", i.getEmptyList());
        m.put("emptySet", i.getEmptySet());
        m.put("emptyMap", i.getEmptyMap());
        m.put("unmodifiableMap", i.getUnmodifiableMap());
        m.put("synchronizedList", i.getSynchronizedList());
        m.put("singletonMap", i.getSingletonMap());
        m.put("nCopies", Collections.nCopies(3, "copy"));
        m.put("EnumMap", enums().getEnumMap());
        m.put("EnumSet", enums().getEnumSet());
        m.put("LinkedList", lists().getLinkedList());
        m.put("TreeSet", lists().getTreeSet());
        m.put("ArrayDeque", new ArrayDeque<>(List.of("d")));
        m.put("PriorityQueue", new PriorityQueue<>(List.of(2, 1)));
        m.put("TreeMap", maps().getTree());
        m.put("ConcurrentHashMap", maps().getConcurrent());
        m.put("Hashtable", maps().getTable());
        m.put("Properties", maps().getProperties());
        m.put("BitSet", BitSet.valueOf(new long[] {5}));
        Map<Object, Object> keys = new LinkedHashMap<>();
        keys.put(1, "int");
        keys.put(2L, "long");
        keys.put(null, "null");
        keys.put(Color.RED, "enum");
        keys.put(new Node(4, "key"), "bean");
        keys.put(new ArrayList<>(List.of(1)), "list");
        m.put("keys of all kinds", keys);
        Map<String, Object> deep = new LinkedHashMap<>();
        Map<String, Object> at = deep;
        for (int level = 0; level < 20; level++) {
            Map<String, Object> next = new LinkedHashMap<>();
            at.put("level", next);
            at = next;
        }
        m.put("deep", deep);
        return m;
    }

    /** More classes in one body than the short form of an object has room for. */
    static List<Object> manyClasses() {
        Node node = new Node(1, "first and last");
        return new ArrayList<>(List.of(node, primitives(), arrays(), numbers(), dates(), times(), enums(), onlyName("x"), lists(), maps(),
            derived(), holder(), texts(), Data.bid(), Data.user(1, ""), Data.page(1), Data.posts().get(0), Data.circle().getFriends().get(0),
            new org.dubbowire.rig.edge.Shadow("own", "inherited"), node, primitives(), Data.bid()));
    }

    /** Type names that a format may write once and then refer to. */
    static List<Object> sameTypes() {
        List<Object> all = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            all.add(new LinkedList<>(List.of("l" + i)));
            all.add(new TreeMap<>(Map.of("t" + i, i)));
            all.add(new LinkedHashMap<>(Map.of("h" + i, i)));
            all.add(new ArrayList<>(List.of("a" + i)));
            all.add(new String[] {"s" + i});
            all.add(new int[] {i});
            all.add(new Node[] {new Node(i, "n" + i)});
            all.add(new HashSet<>(List.of(i)));
            all.add(new LinkedList<>(List.of(1, 2, 3, 4, 5, 6, 7, 8, 9)));
        }
        return all;
    }

    /** A parent with children who know it, an object that holds itself, an object reached on two ways. */
    static Node family() {
        Node parent = new Node(1, "parent");
        parent.setSelf(parent);
        parent.setChildren(new ArrayList<>());
        parent.setByName(new LinkedHashMap<>());
        for (int i = 0; i < 3; i++) {
            Node child = new Node(10 + i, "child " + i);
            child.setParent(parent);
            child.setChildren(parent.getChildren());
            parent.getChildren().add(child);
            parent.getByName().put(child.getName(), child);
        }
        return parent;
    }
}
