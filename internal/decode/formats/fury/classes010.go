package fury

// classes010 has the classes that fury-core 0.10 and Fory 0.11 register, by their number.
var classes010 = registered010()

func registered010() []*class {
	const (
		util = "java.util."
		coll = "java.util.Collections$"
		immu = "java.util.ImmutableCollections$"
		conc = "java.util.concurrent."
		atom = "java.util.concurrent.atomic."
		time = "java.time."
		lang = "java.lang."
	)
	t := make([]*class, 162)
	copy(t, classes[:38]) // up to java.lang.Object
	add := func(id int, c class) { c.id, c.final = id, finalClasses[c.name]; t[id] = &c }
	run := func(id int, l layout, names ...string) {
		for i, n := range names {
			add(id+i, class{name: n, layout: l})
		}
	}
	objectArray := *classes[32]
	objectArray.final = false
	t[32] = &objectArray
	run(38, list, util+"LinkedList")
	run(39, sorted, util+"TreeSet")
	run(40, mapping, util+"LinkedHashMap")
	run(41, sortedMap, util+"TreeMap")
	run(42, date, util+"Date")
	run(43, timestamp, "java.sql.Timestamp")
	run(44, javaTime, time+"LocalDateTime", time+"Instant")
	run(46, bigInteger, "java.math.BigInteger")
	run(47, bigDecimal, "java.math.BigDecimal")
	run(48, reference, util+"Optional")
	add(49, class{name: util + "OptionalInt", layout: optionalOf, elem: int32s})
	for i, c := range []struct {
		name string
		elem layout
	}{{"Boolean", boolean}, {"Byte", int8s}, {"Short", int16s}, {"Character", char}, {"Integer", zigzag}, {"Float", float}, {"Long", tagged64}, {"Double", double}} {
		add(50+i, class{name: "[Ljava.lang." + c.name + ";", layout: finals, elem: c.elem})
		t[50+i].final = true
	}
	run(60, naturalOrder, util+"Comparators$NaturalOrderComparator")
	run(61, replaceable, coll+"ReverseComparator")
	run(62, mapping, conc+"ConcurrentHashMap")
	run(63, unknown, conc+"ArrayBlockingQueue", conc+"LinkedBlockingQueue")
	run(65, boolean, atom+"AtomicBoolean")
	run(66, int32s, atom+"AtomicInteger")
	run(67, int64s, atom+"AtomicLong")
	run(68, reference, atom+"AtomicReference")
	run(69, unknown, util+"RegularEnumSet", lang+"Throwable", lang+"StackTraceElement", lang+"Exception", lang+"RuntimeException",
		lang+"NullPointerException", "java.io.IOException", lang+"IllegalArgumentException", lang+"IllegalStateException",
		lang+"IndexOutOfBoundsException", lang+"ArrayIndexOutOfBoundsException")
	run(80, asText, lang+"StringBuilder", lang+"StringBuffer", util+"Currency", "java.net.URI")
	run(84, pattern, util+"regex.Pattern")
	run(85, uuid, util+"UUID")
	run(86, unknown, "[Ljava.lang.Class;")
	run(87, date, "java.sql.Date", "java.sql.Time")
	run(89, javaTime, time+"LocalDate", time+"LocalTime", time+"Duration", time+"ZoneOffset", time+"ZonedDateTime", time+"Year",
		time+"YearMonth", time+"MonthDay", time+"Period", time+"OffsetTime", time+"OffsetDateTime")
	add(100, class{name: util + "OptionalLong", layout: optionalOf, elem: int64s})
	add(101, class{name: util + "OptionalDouble", layout: optionalOf, elem: double})
	run(102, asList, util+"Arrays$ArrayList")
	run(103, list, util+"LinkedHashSet")
	run(104, emptyList, coll+"EmptyList", coll+"UnmodifiableNavigableSet$EmptyNavigableSet", coll+"EmptySet")
	run(107, single, coll+"SingletonList", coll+"SingletonSet")
	run(109, sorted, conc+"ConcurrentSkipListSet")
	run(110, list, util+"Vector", util+"ArrayDeque")
	run(112, bitSet, util+"BitSet")
	run(113, sorted, util+"PriorityQueue")
	run(114, list, conc+"CopyOnWriteArrayList")
	run(115, setFromMap, coll+"SetFromMap")
	run(116, keySetView, conc+"ConcurrentHashMap$KeySetView")
	run(117, emptyMap, coll+"EmptyMap", coll+"UnmodifiableNavigableMap$EmptyNavigableMap")
	run(119, singleMap, coll+"SingletonMap")
	run(120, sortedMap, conc+"ConcurrentSkipListMap")
	run(121, enumMap, util+"EnumMap")
	run(123, locale, util+"Locale")
	run(124, wrapped, coll+"SynchronizedCollection", coll+"SynchronizedRandomAccessList", coll+"SynchronizedList", coll+"SynchronizedSet",
		coll+"SynchronizedSortedSet", coll+"SynchronizedMap", coll+"SynchronizedSortedMap", coll+"UnmodifiableCollection",
		coll+"UnmodifiableRandomAccessList", coll+"UnmodifiableList", coll+"UnmodifiableSet", coll+"UnmodifiableSortedSet",
		coll+"UnmodifiableMap", coll+"UnmodifiableSortedMap")
	run(138, list, immu+"List12", immu+"ListN", immu+"SubList", immu+"Set12", immu+"SetN")
	run(143, mapping, immu+"Map1", immu+"MapN")
	run(145, unknown, util+"AbstractList$SubList", util+"AbstractList$RandomAccessSubList", util+"ArrayList$SubList")
	return t
}
