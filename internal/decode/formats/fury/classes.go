package fury

import (
	"encoding/binary"
	"strings"
)

// layout says how the data of a class are written.
type layout uint8

const (
	unknown layout = iota
	boolean
	int8s
	char
	int16s
	zigzag // of 32 bits
	float
	tagged64 // 31 bits and a 0, or 01 and 64 bits
	double
	str
	int32s
	int64s
	primitives // length in bytes, numbers: class.elem tells which
	texts      // count, a flag and a string each
	objects    // count, an object each
	finals     // count, a flag and data of class.elem each
	asList     // an array
	list       // count, flags, elements
	sorted     // count, comparator, flags, elements
	mapping    // count, keys and values
	sortedMap  // count, comparator, keys and values
	emptyList
	emptyMap
	nothing   // an object without fields
	single    // one element
	singleMap // a key, a value
	wrapped   // the object that it wraps
	classRef  // a class
	reference // an object, the field "value"
	optionalOf
	date
	timestamp
	bigInteger
	bigDecimal
	asText // a string, the field "value"
	locale
	pattern
	uuid
	bitSet
	javaTime
	calendar
	zoneID

	// Of classes of the class path, and what refers to them.
	constant    // of an enum: its ordinal
	enumSet     // the class of the constants, a count, their ordinals
	enumMap     // a count, the class of the keys, keys and values
	arrayOf     // a count in four bytes, an object each, with its class unless the array tells it
	object      // fields
	streamed    // a section for each class
	childList   // a count, sections, flags, elements
	childMap    // a count, sections, keys and values
	external    // what writeExternal wrote
	replaceable // what it is instead, class, data
	replaced    // the same; the class is not known before
	lambda      // the fields of java.lang.invoke.SerializedLambda
	proxy       // the invocation handler, the interfaces
	abstract    // it has no objects

	naturalOrder // the only constant of an enum
	setFromMap   // the class of the map, whether its elements follow, a count, flags, elements
	keySetView   // the map, the value of its keys
)

// class is what the reader needs to know about a Java class.
type class struct {
	name   string // JVM name
	layout layout
	elem   layout // of an array or an optional number
	size   int    // of an element, in bytes
	id     int    // its number, -1 if it has none
	final  bool

	// Of a class of the class path.
	model  *model
	unsure bool // it was not found
}

// classes has the classes that fury-core 0.2.0 registers, by their number. Objects of the classes that are left out are not
// read.
var classes = registered()

func registered() []*class {
	const (
		util = "java.util."
		coll = "java.util.Collections$"
		immu = "java.util.ImmutableCollections$"
		conc = "java.util.concurrent."
		atom = "java.util.concurrent.atomic."
		time = "java.time."
		lang = "java.lang."
	)
	t := make([]*class, 151)
	add := func(id int, c class) { c.id, c.final = id, finalClasses[c.name] || c.name[0] == '['; t[id] = &c }
	run := func(id int, l layout, names ...string) {
		for i, n := range names {
			add(id+i, class{name: n, layout: l})
		}
	}
	run(1, lambda, lang+"invoke.SerializedLambda")
	run(2, proxy, lang+"reflect.Proxy")
	run(3, replaced, "#3")
	run(4, unknown, "void", "boolean", "byte", "char", "short", "int", "float", "long", "double", lang+"Void")
	for i, l := range []layout{boolean, int8s, char, int16s, zigzag, float, tagged64, double, str} {
		add(14+i, class{name: lang + []string{"Boolean", "Byte", "Character", "Short", "Integer", "Float", "Long", "Double", "String"}[i], layout: l})
	}
	for i, l := range []layout{boolean, int8s, char, int16s, int32s, float, int64s, double} {
		add(23+i, class{name: "[" + "ZBCSIFJD"[i:i+1], layout: primitives, elem: l, size: []int{1, 1, 2, 2, 4, 4, 8, 8}[i]})
	}
	add(31, class{name: "[Ljava.lang.String;", layout: texts})
	add(32, class{name: "[Ljava.lang.Object;", layout: objects})
	run(33, list, util+"ArrayList")
	run(34, mapping, util+"HashMap")
	run(35, list, util+"HashSet")
	run(36, classRef, lang+"Class")
	run(37, nothing, lang+"Object")
	run(38, list, util+"LinkedList")
	run(39, sorted, util+"TreeSet")
	run(40, mapping, util+"LinkedHashMap")
	run(41, sortedMap, util+"TreeMap")
	add(43, class{name: "[Ljava.lang.Integer;", layout: finals, elem: zigzag})
	add(44, class{name: "[Ljava.lang.Long;", layout: finals, elem: tagged64})
	run(45, date, util+"Date")
	run(46, timestamp, "java.sql.Timestamp")
	run(47, javaTime, time+"LocalDateTime", time+"Instant")
	run(49, bigInteger, "java.math.BigInteger")
	run(50, bigDecimal, "java.math.BigDecimal")
	run(51, reference, util+"Optional")
	add(52, class{name: util + "OptionalInt", layout: optionalOf, elem: int32s})
	run(53, asText, lang+"StringBuilder", lang+"StringBuffer")
	run(55, boolean, atom+"AtomicBoolean")
	run(56, int32s, atom+"AtomicInteger")
	run(57, int64s, atom+"AtomicLong")
	run(58, reference, atom+"AtomicReference")
	run(59, asText, util+"Currency", "java.net.URI")
	run(61, pattern, util+"regex.Pattern")
	run(62, uuid, util+"UUID")
	run(63, date, "java.sql.Date", "java.sql.Time")
	run(65, javaTime, time+"LocalDate", time+"LocalTime", time+"Duration", time+"ZoneOffset", time+"ZonedDateTime", time+"Year",
		time+"YearMonth", time+"MonthDay", time+"Period", time+"OffsetTime", time+"OffsetDateTime")
	add(76, class{name: util + "OptionalLong", layout: optionalOf, elem: int64s})
	add(77, class{name: util + "OptionalDouble", layout: optionalOf, elem: double})
	run(78, asList, util+"Arrays$ArrayList")
	run(79, list, util+"LinkedHashSet")
	run(80, emptyList, coll+"EmptyList", coll+"UnmodifiableNavigableSet$EmptyNavigableSet", coll+"EmptySet")
	run(83, single, coll+"SingletonList", coll+"SingletonSet")
	run(85, sorted, conc+"ConcurrentSkipListSet")
	run(86, list, util+"Vector", util+"ArrayDeque")
	run(88, bitSet, util+"BitSet")
	run(89, sorted, util+"PriorityQueue")
	run(90, emptyMap, coll+"EmptyMap", coll+"UnmodifiableNavigableMap$EmptyNavigableMap")
	run(92, singleMap, coll+"SingletonMap")
	run(93, mapping, conc+"ConcurrentHashMap")
	run(94, sortedMap, conc+"ConcurrentSkipListMap")
	run(95, enumMap, util+"EnumMap")
	run(97, locale, util+"Locale")
	run(98, wrapped, coll+"SynchronizedCollection", coll+"SynchronizedRandomAccessList", coll+"SynchronizedList", coll+"SynchronizedSet",
		coll+"SynchronizedSortedSet", coll+"SynchronizedMap", coll+"SynchronizedSortedMap", coll+"UnmodifiableCollection",
		coll+"UnmodifiableRandomAccessList", coll+"UnmodifiableList", coll+"UnmodifiableSet", coll+"UnmodifiableSortedSet",
		coll+"UnmodifiableMap", coll+"UnmodifiableSortedMap")
	run(112, list, immu+"List12", immu+"ListN", immu+"SubList", immu+"Set12", immu+"SetN")
	run(117, mapping, immu+"Map1", immu+"MapN")
	run(130, naturalOrder, util+"Comparators$NaturalOrderComparator")
	run(131, replaceable, coll+"ReverseComparator")
	run(132, unknown, conc+"ArrayBlockingQueue", conc+"LinkedBlockingQueue")
	add(134, class{name: "[Ljava.lang.Boolean;", layout: finals, elem: boolean})
	add(135, class{name: "[Ljava.lang.Byte;", layout: finals, elem: int8s})
	add(136, class{name: "[Ljava.lang.Short;", layout: finals, elem: int16s})
	add(137, class{name: "[Ljava.lang.Character;", layout: finals, elem: char})
	add(138, class{name: "[Ljava.lang.Float;", layout: finals, elem: float})
	add(139, class{name: "[Ljava.lang.Double;", layout: finals, elem: double})
	run(140, unknown, util+"RegularEnumSet", lang+"Throwable", lang+"StackTraceElement", lang+"Exception", lang+"RuntimeException",
		lang+"NullPointerException", "java.io.IOException", lang+"IllegalArgumentException", lang+"IllegalStateException",
		lang+"IndexOutOfBoundsException", lang+"ArrayIndexOutOfBoundsException")
	return t
}

// finalClasses are the classes with a number that are final.
var finalClasses = func() map[string]bool {
	t := map[string]bool{}
	for _, name := range strings.Fields(`
		java.lang.Void java.lang.Boolean java.lang.Byte java.lang.Character java.lang.Short java.lang.Integer java.lang.Float java.lang.Long
		java.lang.Double java.lang.String java.lang.Class java.util.Optional java.util.OptionalInt java.util.OptionalLong java.util.OptionalDouble
		java.lang.StringBuilder java.lang.StringBuffer java.util.Currency java.net.URI java.util.regex.Pattern java.util.UUID java.util.Locale
		java.time.LocalDateTime java.time.Instant java.time.LocalDate java.time.LocalTime java.time.Duration java.time.ZoneOffset
		java.time.ZonedDateTime java.time.Year java.time.YearMonth java.time.MonthDay java.time.Period java.time.OffsetTime
		java.time.OffsetDateTime java.lang.StackTraceElement`) {
		t[name] = true
	}
	return t
}()

var le = binary.LittleEndian
