package kryo

import (
	"strings"

	"dubbo-wire/internal/decode/registration"
)

// layout says how the data of a class are written (kryo.md's word: its serializer).
type layout uint8

const (
	unknown layout = iota
	// Boxes: no reference byte, no object number.
	boxInt
	boxLong
	boxShort
	boxByte
	boxBool
	boxChar
	boxFloat
	boxDouble

	stringText // a string
	otherText  // a string too, of a class of its own
	epochMilli // positive long
	calendar   // positive long, lenient, first day of the week, minimal days, time zone id
	bigInteger // length + 1, bytes
	bigDecimal // bigInteger, zigzag scale
	uuid       // two fixed longs
	pattern    // a string, positive int flags
	bitSet     // count, a boolean each
	classRef   // class id, is primitive
	locale     // three strings
	enum       // ordinal + 1; in Kryo 5 like a box
	enumSet    // class id, count, ordinals + 1
	zigzagInt  // an object with one int field "value"
	zigzagLong // an object with one long field "value"
	boolInt    // an object with one int field "value" that means a boolean
	optional   // an object or null, its field "value"
	optionalOf // is present, fixed number: cl.elem tells which
	noFields   // nothing

	primitives // count + 1, numbers: cl.elem tells which
	array      // count + 1, elements
	asList     // count, component class id, elements
	pair       // two objects, its fields "key" and "value"
	collection // count, elements
	noNulls    // the same, of elements that are never null
	treeSet    // comparator and count, elements
	queue      // the same in Kryo 5, a collection in Kryo 4
	mapping    // count, keys and values
	treeMap    // comparator and count, keys and values
	skipList   // the same in Kryo 5, a mapping in Kryo 4
	emptyList
	emptyMap
	single    // one element
	singleMap // key, value
	wrapped   // ordinal of the wrapper, the wrapped collection

	zoneOffset
	zoneID
	javaTime // the parts of a class of java.time

	enumName // the name of a constant; in Kryo 5 like a box

	// Classes of the application, whose class files say the rest.
	object     // the fields of FieldSerializer
	tagged     // those of TaggedFieldSerializer
	compatible // those of CompatibleFieldSerializer
	versioned  // those of VersionFieldSerializer
	record     // the components of a record
	javaOnly   // a Java serialization stream
	custom     // what code of the application writes
	proxy      // an invocation handler, and the interfaces
	noObjects  // interfaces and abstract classes
)

// class is what the reader knows of a Java class.
type class struct {
	name   string // JVM name
	layout layout
	// final: where this type is declared, the class id is left out. unsure: whether it is final is not known.
	final, unsure bool
	// inTable: it is the class of known with its name.
	inTable bool
	// elem is the component of an array.
	elem *class
	// choice are the classes that the number may stand for that is the name.
	choice string
	// model is what the class path says, nil where it was not asked.
	model *model
	// elements says how the elements of a collection or map are written, where a field says so.
	elements *elementSerializers
}

func (c *class) box() bool { return c.layout >= boxInt && c.layout <= boxDouble }

// dialect is the differences between the releases of Kryo.
type dialect struct {
	// classes are the registered ones, by id; those of applications have higher ids.
	classes []*class
	// elementForms are those of elements by the first byte, none in the release that Dubbox has.
	elementForms [1 << 8]form
	// mapHead is how a HashMap begins: its class id and the reference byte.
	mapHead []byte
	// sizeOffset is what the number of elements on the wire is above the number of elements of a map or, in Kryo 5, a
	// collection.
	sizeOffset int
	// isKryo5: numbers of fixed width are little-endian, enums have no reference byte, collections name the class that all elements have, sorted ones have
	// their comparator after the number of elements.
	isKryo5 bool
	// older is the dialect of an older release whose bodies begin and end alike, nil if there is none.
	older *dialect
	// isKryo224: type arguments of fields leave class ids out, as in kryo224.go.
	isKryo224 bool
	// maxASCII is the longest text that has the ASCII form.
	maxASCII int
}

// kryo4 is what Dubbo 2.6 and 2.7 write.
var kryo4 = dialect{mapHead: []byte{0x23, 0x01}, maxASCII: 63, older: kryo224}.with(named(registration.Known(registration.Kryo4)...))

// kryo224 is what Dubbox writes.
var kryo224 = &dialect{
	mapHead: []byte{0x23, 0x01}, maxASCII: 63, isKryo224: true,
	classes: named(registration.Known(registration.Kryo4)...),
}

// kryo5 is what Dubbo's extensions for 3.x write. "void" is not registered there, so that the ids after it are one
// lower.
var kryo5 = dialect{mapHead: []byte{0x22, 0x01}, sizeOffset: 1, isKryo5: true, maxASCII: 32}.with(named(registration.Known(registration.Kryo5)...))

// with returns the dialect with registered classes.
func (d dialect) with(classes []*class) *dialect {
	d.classes = classes
	d.elementForms[idNull], d.elementForms[idNamed] = usualNull, usualOpen
	for id, c := range classes {
		if l := int(c.layout); id+idOffset < 0x80 && l < len(forms) {
			d.elementForms[id+idOffset] = forms[l].form
		}
	}
	return &d
}

// plain reports whether objects of a class have no reference byte and no number.
func (d *dialect) plain(c *class) bool {
	return c.box() || d.isKryo5 && (c.layout == enum || c.layout == enumName)
}

func named(names ...string) []*class {
	classes := make([]*class, len(names))
	for i, name := range names {
		classes[i] = classOf(name, nil)
	}
	return classes
}

// classOf returns the class with a JVM name; its layout is unknown if the class is neither in the table nor in l.
func classOf(name string, l *library) *class {
	if c := known[name]; c != nil {
		if l != nil && c.layout == enum {
			return l.resolve(name) // with the names of its constants
		}
		return c
	}
	if dims := len(name) - len(strings.TrimLeft(name, "[")); dims > 0 && dims < 256 {
		return arrayOf(name, dims, l)
	}
	if l != nil {
		return l.resolve(name)
	}
	return &class{name: name}
}

// arrayOf returns an array class of dims dimensions.
func arrayOf(name string, dims int, l *library) *class {
	base := name[dims:]
	var c *class
	switch {
	case len(base) == 1 && elements[base[0]] != nil:
		c = elements[base[0]]
	case len(base) > 2 && base[0] == 'L' && base[len(base)-1] == ';':
		c = l.class(base[1 : len(base)-1])
	default:
		return &class{name: name}
	}
	for i := dims - 1; i >= 0; i-- {
		l := array
		if i == dims-1 && len(base) == 1 {
			l = primitives
		}
		c = &class{name: name[i:], layout: l, final: true, elem: c}
	}
	return c
}

// elements are the primitive types by their letter in array names. "Z" and so on are not classes on the wire.
var elements = map[byte]*class{
	'Z': {name: "boolean", layout: boxBool, final: true},
	'B': {name: "byte", layout: boxByte, final: true},
	'C': {name: "char", layout: boxChar, final: true},
	'S': {name: "short", layout: boxShort, final: true},
	'I': {name: "int", layout: boxInt, final: true},
	'J': {name: "long", layout: boxLong, final: true},
	'F': {name: "float", layout: boxFloat, final: true},
	'D': {name: "double", layout: boxDouble, final: true},
}

// descriptorClass returns the class of a JVM field descriptor, nil if it is none.
func (l *library) descriptorClass(typ string) *class {
	switch {
	case len(typ) == 1 && elements[typ[0]] != nil:
		return elements[typ[0]]
	case len(typ) > 2 && typ[0] == 'L' && typ[len(typ)-1] == ';':
		return l.slashed(typ[1 : len(typ)-1])
	case len(typ) > 1 && typ[0] == '[':
		if c := l.slashed(typ); c.layout != unknown && c.runtime() {
			return c
		}
	}
	return nil
}

// slashed returns the class with a name that has slashes for dots. It allocates nothing for one that the library has.
func (l *library) slashed(name string) *class {
	var buf [1 << 7]byte
	b := append(buf[:0], name...)
	for i := range b {
		if b[i] == '/' {
			b[i] = '.'
		}
	}
	if l != nil {
		l.mu.Lock()
		c := l.classes[string(b)]
		l.mu.Unlock()
		if c != nil {
			return c
		}
	}
	return l.class(string(b))
}

// runtime reports whether every array that a variable of this array type can hold is of this very class.
func (c *class) runtime() bool {
	for c.elem != nil {
		c = c.elem
	}
	return c.final
}

var (
	hashMap   = known["java.util.HashMap"]
	throwable = &class{name: "java.lang.Throwable", layout: javaOnly}
)

// known are the JDK classes whose bytes have the same form in every JDK. Collections, maps and enums are known by name
// only: that a class is one is not on the wire.
var known = table()

func table() map[string]*class {
	t := make(map[string]*class)
	add := func(l layout, final bool, names ...string) {
		for _, name := range names {
			t[name] = &class{name: name, layout: l, final: final}
		}
	}
	for _, c := range elements {
		add(c.layout, true, c.name)
	}
	const (
		lang = "java.lang."
		util = "java.util."
		conc = "java.util.concurrent."
		coll = "java.util.Collections$"
		immu = "java.util.ImmutableCollections$"
		time = "java.time."
	)
	add(boxInt, true, lang+"Integer")
	add(boxLong, true, lang+"Long")
	add(boxShort, true, lang+"Short")
	add(boxByte, true, lang+"Byte")
	add(boxBool, true, lang+"Boolean")
	add(boxChar, true, lang+"Character")
	add(boxFloat, true, lang+"Float")
	add(boxDouble, true, lang+"Double")
	add(stringText, true, lang+"String")
	add(otherText, true, lang+"StringBuilder", lang+"StringBuffer", "java.net.URI", "java.net.URL", util+"Currency")
	add(otherText, false, util+"TimeZone", "sun.util.calendar.ZoneInfo", "java.nio.charset.Charset", "sun.nio.cs.UTF_8", "sun.nio.cs.ISO_8859_1", "sun.nio.cs.US_ASCII")
	add(epochMilli, false, util+"Date", "java.sql.Date", "java.sql.Time", "java.sql.Timestamp")
	add(calendar, false, util+"GregorianCalendar", util+"Calendar")
	add(bigInteger, false, "java.math.BigInteger")
	add(bigDecimal, false, "java.math.BigDecimal")
	add(uuid, true, util+"UUID")
	add(pattern, true, util+"regex.Pattern")
	add(bitSet, false, util+"BitSet")
	add(classRef, true, lang+"Class")
	add(locale, true, util+"Locale")
	add(enum, true, conc+"TimeUnit", time+"DayOfWeek", time+"Month", time+"temporal.ChronoUnit", "java.math.RoundingMode")
	add(enumSet, false, util+"RegularEnumSet", util+"JumboEnumSet")
	add(zigzagInt, false, conc+"atomic.AtomicInteger")
	add(zigzagLong, false, conc+"atomic.AtomicLong")
	add(boolInt, false, conc+"atomic.AtomicBoolean")
	add(optional, true, util+"Optional")
	add(optional, false, conc+"atomic.AtomicReference")
	add(optionalOf, true, util+"OptionalInt", util+"OptionalLong", util+"OptionalDouble")
	t[util+"OptionalInt"].elem, t[util+"OptionalLong"].elem, t[util+"OptionalDouble"].elem = elements['I'], elements['J'], elements['D']
	add(noFields, false, lang+"Object", coll+"ReverseComparator", lang+"String$CaseInsensitiveComparator")

	add(asList, false, util+"Arrays$ArrayList")
	add(collection, false, util+"ArrayList", util+"LinkedList", util+"HashSet", util+"LinkedHashSet", util+"Vector", util+"Stack", util+"ArrayDeque", util+"ArrayList$SubList",
		conc+"CopyOnWriteArrayList", conc+"CopyOnWriteArraySet", conc+"LinkedBlockingQueue", conc+"LinkedBlockingDeque", conc+"ArrayBlockingQueue", conc+"ConcurrentLinkedQueue", conc+"ConcurrentLinkedDeque", conc+"ConcurrentSkipListSet",
		conc+"PriorityBlockingQueue", coll+"CopiesList")
	add(noNulls, false, immu+"List12", immu+"ListN", immu+"Set12", immu+"SetN", immu+"SubList")
	add(queue, false, util+"PriorityQueue")
	add(treeSet, false, util+"TreeSet")
	add(mapping, false, util+"HashMap", util+"LinkedHashMap", util+"Hashtable", util+"Properties", util+"IdentityHashMap", util+"WeakHashMap", util+"EnumMap",
		conc+"ConcurrentHashMap", immu+"Map1", immu+"MapN")
	add(treeMap, false, util+"TreeMap")
	add(skipList, false, conc+"ConcurrentSkipListMap")
	add(pair, false, util+"AbstractMap$SimpleEntry", util+"AbstractMap$SimpleImmutableEntry", util+"KeyValueHolder")
	add(emptyList, false, coll+"EmptyList", coll+"EmptySet")
	add(emptyMap, false, coll+"EmptyMap")
	add(single, false, coll+"SingletonList", coll+"SingletonSet")
	add(singleMap, false, coll+"SingletonMap")
	for _, s := range []string{"Collection", "RandomAccessList", "List", "Set", "SortedSet", "Map", "SortedMap"} {
		add(wrapped, false, coll+"Unmodifiable"+s, coll+"Synchronized"+s)
	}

	add(zoneOffset, true, time+"ZoneOffset")
	add(zoneID, true, time+"ZoneRegion")
	add(javaTime, true, time+"LocalDate", time+"LocalTime", time+"LocalDateTime", time+"Instant", time+"Duration", time+"OffsetTime",
		time+"OffsetDateTime", time+"ZonedDateTime", time+"Year", time+"YearMonth", time+"MonthDay", time+"Period")

	// Types that arrays are declared with: their elements carry class ids.
	add(unknown, false, lang+"Number", lang+"Comparable", lang+"CharSequence", "java.io.Serializable",
		util+"List", util+"Map", util+"Set", util+"Collection", lang+"Iterable")
	for _, c := range t {
		c.inTable = true
	}
	return t
}

// isOpen reports whether it is known that the class may have subclasses: fields and elements of arrays declared with it carry
// class ids.
func (c *class) isOpen() bool {
	return c != nil && !c.final && !c.unsure && (c.inTable || c.model != nil)
}
