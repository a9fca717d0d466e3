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
var shapes = map[string]shape{
	"java.lang.Boolean":   shapeBox,
	"java.lang.Byte":      shapeBox,
	"java.lang.Character": shapeBox,
	"java.lang.Double":    shapeBox,
	"java.lang.Float":     shapeBox,
	"java.lang.Integer":   shapeBox,
	"java.lang.Long":      shapeBox,
	"java.lang.Short":     shapeBox,

	"java.util.ArrayDeque":                              shapeList,
	"java.util.ArrayList":                               shapeList,
	"java.util.HashSet":                                 shapeList,
	"java.util.LinkedHashSet":                           shapeList,
	"java.util.LinkedList":                              shapeList,
	"java.util.PriorityQueue":                           shapeList,
	"java.util.Collections$EmptyList":                   shapeList,
	"java.util.Collections$EmptySet":                    shapeList,
	"java.util.concurrent.CopyOnWriteArrayList":         shapeList,
	"java.util.TreeSet":                                 shapeTreeSet,
	"java.util.concurrent.ConcurrentLinkedDeque":        shapeQueue,
	"java.util.concurrent.ConcurrentLinkedQueue":        shapeQueue,
	"java.util.concurrent.LinkedBlockingDeque":          shapeQueue,
	"java.util.concurrent.LinkedBlockingQueue":          shapeQueue,
	"java.util.concurrent.LinkedTransferQueue":          shapeQueue,
	"java.util.Collections$SingletonList":               shapeElement,
	"java.util.Collections$SingletonSet":                shapeElement,
	"java.util.Collections$CopiesList":                  shapeCopies,
	"java.util.Arrays$ArrayList":                        shapeWrapper,
	"java.util.EnumSet$SerializationProxy":              shapeWrapper,
	"java.util.Collections$AsLIFOQueue":                 shapeWrapper,
	"java.util.Collections$CheckedCollection":           shapeWrapper,
	"java.util.Collections$CheckedList":                 shapeWrapper,
	"java.util.Collections$CheckedNavigableSet":         shapeWrapper,
	"java.util.Collections$CheckedQueue":                shapeWrapper,
	"java.util.Collections$CheckedSortedSet":            shapeWrapper,
	"java.util.Collections$SynchronizedCollection":      shapeWrapper,
	"java.util.Collections$SynchronizedList":            shapeWrapper,
	"java.util.Collections$SynchronizedNavigableSet":    shapeWrapper,
	"java.util.Collections$SynchronizedSortedSet":       shapeWrapper,
	"java.util.Collections$UnmodifiableCollection":      shapeWrapper,
	"java.util.Collections$UnmodifiableList":            shapeWrapper,
	"java.util.Collections$UnmodifiableNavigableSet":    shapeWrapper,
	"java.util.Collections$UnmodifiableSortedSet":       shapeWrapper,
	"java.util.concurrent.CopyOnWriteArraySet":          shapeWrapper,
	"java.util.concurrent.PriorityBlockingQueue":        shapeWrapper,
	"java.util.Collections$SetFromMap":                  shapeKeys,
	"java.util.concurrent.ConcurrentHashMap$KeySetView": shapeKeys,
	"java.util.concurrent.ConcurrentSkipListSet":        shapeKeys,
	"java.util.concurrent.ConcurrentHashMap$ValuesView": shapeMapValues,
	"java.util.concurrent.ArrayBlockingQueue":           shapeRing,
	"java.util.Vector":                                  shapeVector,
	"java.util.CollSer":                                 shapeCollSer,

	"java.util.EnumMap":                              shapeMap,
	"java.util.HashMap":                              shapeMap,
	"java.util.Hashtable":                            shapeMap,
	"java.util.IdentityHashMap":                      shapeMap,
	"java.util.LinkedHashMap":                        shapeMap,
	"java.util.Properties":                           shapeMap,
	"java.util.TreeMap":                              shapeMap,
	"java.util.Collections$EmptyMap":                 shapeMap,
	"java.util.concurrent.ConcurrentHashMap":         shapeNullEnds,
	"java.util.concurrent.ConcurrentSkipListMap":     shapeNullEnds,
	"java.util.Collections$SingletonMap":             shapeEntry,
	"java.util.Collections$CheckedMap":               shapeMapWrapper,
	"java.util.Collections$CheckedNavigableMap":      shapeMapWrapper,
	"java.util.Collections$CheckedSortedMap":         shapeMapWrapper,
	"java.util.Collections$SynchronizedMap":          shapeMapWrapper,
	"java.util.Collections$SynchronizedNavigableMap": shapeMapWrapper,
	"java.util.Collections$SynchronizedSortedMap":    shapeMapWrapper,
	"java.util.Collections$UnmodifiableMap":          shapeMapWrapper,
	"java.util.Collections$UnmodifiableNavigableMap": shapeMapWrapper,
	"java.util.Collections$UnmodifiableSortedMap":    shapeMapWrapper,

	"java.math.BigDecimal": shapeBigDecimal,
	"java.math.BigInteger": shapeBigInteger,
	"java.util.Date":       shapeDate,
	"java.sql.Date":        shapeDate,
	"java.sql.Time":        shapeDate,
	"java.sql.Timestamp":   shapeTimestamp,
	"java.time.Ser":        shapeTime,

	"java.lang.StringBuffer":  shapeText,
	"java.lang.StringBuilder": shapeText,
}
