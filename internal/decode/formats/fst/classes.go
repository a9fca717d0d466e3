package fst

import "strings"

// layout says how the data of a class are written, after tag and class id.
type layout uint8

const (
	unknown layout = iota

	box        // a primitive: cl.elem tells which
	otherText  // FInt length, chars
	date       // FLong milliseconds
	bigInteger // FInt length, bytes
	bigDecimal // two sections: Number, BigDecimal
	javaTime   // type byte, parts
	classRef   // is primitive, name
	numberInt  // FInt field "value", end
	numberLong // FLong field "value", end
	boolInt    // the same, a boolean
	uuid       // FLong least, FLong most significant bits, end
	sqlDate    // section of Date, empty section
	timestamp  // section of Date, section with nanoseconds

	array      // of anything: FInt length, elements by cl.elem
	collection // FInt size, tagged elements
	mapping    // FInt size, tagged keys and values
	plain      // nothing but the end tag
	emptyList  // empty section
	emptyMap
	emptyObject
	single    // tagged element, end
	singleMap // tagged key and value, end
	copies    // section with FInt count and tagged element
	asList    // tagged array, end
	wrapList  // section with tagged collection, section with a handle to it
	wrapSet   // tagged collection, end
	wrapMap   // tagged map, end
	linkedSet // section of HashSet: capacity, load factor, size, elements; empty section
	treeSet   // section: comparator, size, elements
	treeMap   // section: comparator, size, keys and values
	dequeLike // section: size, elements
	factory   // section of List.of, Set.of, Map.of: kind, count, elements
	enumSet   // FInt size, class id, tagged elements
	stackFrame
	exception // section of Throwable, cl.sections empty sections

	// Of FST 1.
	plainText  // count, chars
	properties // section of Hashtable: load factor, threshold, capacity, size, entries; tagged defaults
)

// class is what the reader knows of a Java class.
type class struct {
	name   string // JVM name
	layout layout
	// elem is what an array or a box holds.
	elem elem
	// plan is how objects of a class of the class path are written; nil if it is not there.
	plan *plan
	// emulated is the class as FST 2.48 writes it: that has a serializer for Vector, but not for its subclasses.
	emulated *class
	// usedIn is the body in which objects of the class were read last.
	usedIn uint64
	// sections is how many classes between Throwable and this one, itself included, write an empty section.
	sections int
}

// elem is how the elements of an array are written.
type elem uint8

const (
	tagged elem = iota // objects with tags
	nested             // arrays without tags
	bytes1             // byte
	bool1
	char2 // FChar
	short2
	int4
	float4
	double8
	long8
)

// elemSizes are the least numbers of bytes that an element takes.
var elemSizes = [...]int{
	tagged: 1, nested: 2, bytes1: 1, bool1: 1, char2: 1, short2: 1, int4: 4, float4: 4, double8: 8, long8: 8,
}

// Ids: classes that FST itself knows; in FST 2, those of the application's SerializationOptimizer, those named in the body.
const (
	firstKnown      = 3
	firstRegistered = 50
	firstNamed      = 1000
)

// classOf returns the class with a JVM name; its layout is unknown if the class is not in the table.
func (d *dialect) classOf(name string) *class {
	if c := d.layouts[name]; c != nil {
		return c
	}
	if c := known[name]; c != nil {
		return c
	}
	c := &class{name: name}
	switch {
	case strings.HasPrefix(name, "[["):
		c.layout, c.elem = array, nested
	case strings.HasPrefix(name, "[L") && strings.HasSuffix(name, ";"):
		c.layout, c.elem = array, tagged
	case len(name) == 2 && name[0] == '[' && elems[name[1]] != 0:
		c.layout, c.elem = array, elems[name[1]]
	}
	return c
}

// elems are the primitive types by their letter in array names.
var elems = map[byte]elem{'B': bytes1, 'Z': bool1, 'C': char2, 'S': short2, 'I': int4, 'F': float4, 'D': double8, 'J': long8}

// known are the JDK classes whose bytes have the same form in every JDK.
var known = func() map[string]*class {
	t := make(map[string]*class)
	add := func(l layout, names ...string) {
		for _, name := range names {
			t[name] = &class{name: name, layout: l}
		}
	}
	const (
		lang = "java.lang."
		util = "java.util."
		conc = "java.util.concurrent."
		coll = "java.util.Collections$"
	)
	for name, e := range map[string]elem{"Byte": bytes1, "Short": short2, "Float": float4, "Double": double8, "Character": char2} {
		t[lang+name] = &class{name: lang + name, layout: box, elem: e}
	}
	add(otherText, lang+"StringBuffer", lang+"StringBuilder")
	add(date, util+"Date")
	add(sqlDate, "java.sql.Date", "java.sql.Time")
	add(timestamp, "java.sql.Timestamp")
	add(bigInteger, "java.math.BigInteger")
	add(bigDecimal, "java.math.BigDecimal")
	add(javaTime, "java.time.Ser")
	add(classRef, lang+"Class")
	add(numberInt, conc+"atomic.AtomicInteger")
	add(numberLong, conc+"atomic.AtomicLong")
	add(boolInt, conc+"atomic.AtomicBoolean")
	add(uuid, util+"UUID")

	add(collection, util+"ArrayList", util+"LinkedList", util+"HashSet", util+"Vector")
	add(mapping, util+"HashMap", util+"LinkedHashMap", util+"Hashtable", util+"Properties", conc+"ConcurrentHashMap")
	add(plain, lang+"Object")
	add(emptyList, coll+"EmptyList", coll+"EmptySet")
	add(emptyMap, coll+"EmptyMap")
	add(emptyObject, coll+"ReverseComparator", lang+"String$CaseInsensitiveComparator")
	add(single, coll+"SingletonList", coll+"SingletonSet")
	add(singleMap, coll+"SingletonMap")
	add(copies, coll+"CopiesList")
	add(asList, util+"Arrays$ArrayList")
	add(wrapList, coll+"UnmodifiableList")
	add(wrapSet, coll+"UnmodifiableSet", coll+"UnmodifiableCollection")
	add(wrapMap, coll+"UnmodifiableMap")
	add(linkedSet, util+"LinkedHashSet")
	add(treeSet, util+"TreeSet")
	add(treeMap, util+"TreeMap")
	add(dequeLike, util+"ArrayDeque", conc+"CopyOnWriteArrayList")
	add(factory, util+"CollSer")
	add(enumSet, util+"RegularEnumSet", util+"JumboEnumSet")
	add(stackFrame, lang+"StackTraceElement")
	for n, names := range exceptions {
		for _, name := range strings.Fields(names) {
			t[name] = &class{name: name, layout: exception, sections: n}
		}
	}
	return t
}()

// exceptions are the JDK's exceptions without fields of their own, by the number of classes below Throwable.
var exceptions = map[int]string{
	0: "java.lang.Throwable",
	1: "java.lang.Exception java.lang.Error",
	2: "java.lang.RuntimeException java.io.IOException java.lang.InterruptedException java.lang.CloneNotSupportedException " +
		"java.lang.ReflectiveOperationException java.util.concurrent.TimeoutException java.util.concurrent.ExecutionException java.lang.AssertionError",
	3: "java.lang.IllegalArgumentException java.lang.IllegalStateException java.lang.NullPointerException java.lang.UnsupportedOperationException " +
		"java.lang.ArithmeticException java.lang.ClassCastException java.lang.IndexOutOfBoundsException java.lang.NegativeArraySizeException " +
		"java.lang.ArrayStoreException java.lang.SecurityException java.util.NoSuchElementException java.util.ConcurrentModificationException " +
		"java.io.FileNotFoundException java.io.EOFException java.net.SocketException java.lang.NoSuchMethodException java.lang.NoSuchFieldException " +
		"java.lang.InstantiationException java.lang.IllegalAccessException java.lang.StackOverflowError java.lang.OutOfMemoryError",
	4: "java.lang.NumberFormatException java.lang.ArrayIndexOutOfBoundsException java.lang.StringIndexOutOfBoundsException " +
		"java.util.InputMismatchException java.net.ConnectException",
}
