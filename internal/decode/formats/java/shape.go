package java

import (
	"strings"

	"dubbo-wire/internal/decode"
)

// shape says how objects of a JDK class are read as the value that they stand for. Other objects have fields.
type shape uint8

const (
	shapeObject     shape = iota
	shapeBox              // a primitive
	shapeList             // items are elements
	shapeTreeSet          // as a list, after a comparator
	shapeQueue            // as a list that ends with null
	shapeMap              // items are keys and values
	shapeNullEnds         // as a map that ends with a null key
	shapeElement          // the field "element" is the only element
	shapeEntry            // the fields "k" and "v" are the only entry
	shapeCopies           // the field "element" is every element, "n" their number
	shapeWrapper          // one field is the collection itself
	shapeMapWrapper       // one field is the map itself
	shapeKeys             // one field is a map whose keys are the elements
	shapeMapValues        // one field is a map whose values are the elements
	shapeVector           // the field "elementData" is an array that may be longer than the list
	shapeRing             // the field "items" is an array of which "count" elements from "takeIndex" on are the list
	shapeCollSer          // a list, a set or, by its tag, a map
	shapeBigInteger
	shapeBigDecimal
	shapeDate
	shapeTimestamp
	shapeTime // java.time
	shapeText // characters in an array that may be longer than the text, which is its first "count"
)

// kind is the kind of node that the shape starts with.
func (s shape) kind() decode.Kind {
	switch s {
	case shapeList, shapeTreeSet, shapeQueue, shapeElement, shapeCopies, shapeWrapper, shapeKeys, shapeMapValues, shapeVector, shapeRing, shapeCollSer:
		return decode.List
	case shapeMap, shapeNullEnds, shapeEntry, shapeMapWrapper:
		return decode.Map
	}
	return decode.Object
}

// within reports whether data of a class of shape s belong to an object of shape whole.
func (s shape) within(whole shape) bool {
	switch s {
	case shapeObject:
		return true
	case shapeDate:
		return whole == shapeDate || whole == shapeTimestamp
	}
	return s == whole || s.kind() == whole.kind() && s.kind() != decode.Object
}

// use is the purpose of an object field.
type use uint8

const (
	isHidden use = iota
	isMember
	isElement
	isKey
	isEntry
	isSelf
	isMagnitude
	isUnscaled
	isChars
)

// field returns the purpose of the object field of that name in a class of shape s.
func (s shape) field(name string) use {
	switch s {
	case shapeObject:
		return isMember
	case shapeElement, shapeCopies:
		if name == "element" {
			return isElement
		}
	case shapeEntry:
		switch name {
		case "k":
			return isKey
		case "v":
			return isEntry
		}
	case shapeWrapper, shapeMapWrapper:
		switch name {
		case "a", "al", "c", "elements", "m", "q":
			return isSelf
		}
	case shapeKeys, shapeMapValues:
		switch name {
		case "m", "map":
			return isSelf
		}
	case shapeText:
		if name == "value" {
			return isChars
		}
	case shapeVector, shapeRing:
		if name == "elementData" || name == "items" {
			return isSelf
		}
	case shapeBigInteger:
		if name == "magnitude" {
			return isMagnitude
		}
	case shapeBigDecimal:
		if name == "intVal" {
			return isUnscaled
		}
	}
	return isHidden
}

func shapeOf(class string) shape {
	if !strings.HasPrefix(class, "java.") {
		return shapeObject
	}
	return shapes[class]
}

// shapes are the classes of the JDK that stand for a value.
var shapes = func() map[string]shape {
	t := make(map[string]shape)
	add := func(s shape, pkg string, names ...string) {
		for _, name := range names {
			t[pkg+name] = s
		}
	}
	const (
		lang = "java.lang."
		util = "java.util."
		conc = "java.util.concurrent."
		coll = "java.util.Collections$"
	)
	add(shapeBox, lang, "Boolean", "Byte", "Character", "Double", "Float", "Integer", "Long", "Short")
	add(shapeText, lang, "StringBuffer", "StringBuilder")

	add(shapeList, util, "ArrayDeque", "ArrayList", "HashSet", "LinkedHashSet", "LinkedList", "PriorityQueue")
	add(shapeList, coll, "EmptyList", "EmptySet")
	add(shapeList, conc, "CopyOnWriteArrayList")
	add(shapeTreeSet, util, "TreeSet")
	add(shapeQueue, conc, "ConcurrentLinkedDeque", "ConcurrentLinkedQueue", "LinkedBlockingDeque", "LinkedBlockingQueue", "LinkedTransferQueue")
	add(shapeElement, coll, "SingletonList", "SingletonSet")
	add(shapeCopies, coll, "CopiesList")
	add(shapeWrapper, util, "Arrays$ArrayList", "EnumSet$SerializationProxy")
	add(shapeWrapper, coll, "AsLIFOQueue", "CheckedCollection", "CheckedList", "CheckedNavigableSet", "CheckedQueue", "CheckedSortedSet",
		"SynchronizedCollection", "SynchronizedList", "SynchronizedNavigableSet", "SynchronizedSortedSet",
		"UnmodifiableCollection", "UnmodifiableList", "UnmodifiableNavigableSet", "UnmodifiableSortedSet")
	add(shapeWrapper, conc, "CopyOnWriteArraySet", "PriorityBlockingQueue")
	add(shapeKeys, coll, "SetFromMap")
	add(shapeKeys, conc, "ConcurrentHashMap$KeySetView", "ConcurrentSkipListSet")
	add(shapeMapValues, conc, "ConcurrentHashMap$ValuesView")
	add(shapeRing, conc, "ArrayBlockingQueue")
	add(shapeVector, util, "Vector")
	add(shapeCollSer, util, "CollSer")

	add(shapeMap, util, "EnumMap", "HashMap", "Hashtable", "IdentityHashMap", "LinkedHashMap", "Properties", "TreeMap")
	add(shapeMap, coll, "EmptyMap")
	add(shapeNullEnds, conc, "ConcurrentHashMap", "ConcurrentSkipListMap")
	add(shapeEntry, coll, "SingletonMap")
	add(shapeMapWrapper, coll, "CheckedMap", "CheckedNavigableMap", "CheckedSortedMap", "SynchronizedMap", "SynchronizedNavigableMap",
		"SynchronizedSortedMap", "UnmodifiableMap", "UnmodifiableNavigableMap", "UnmodifiableSortedMap")

	add(shapeBigDecimal, "java.math.", "BigDecimal")
	add(shapeBigInteger, "java.math.", "BigInteger")
	add(shapeDate, util, "Date")
	add(shapeDate, "java.sql.", "Date", "Time")
	add(shapeTimestamp, "java.sql.", "Timestamp")
	add(shapeTime, "java.time.", "Ser")
	return t
}()
