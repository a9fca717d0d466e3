// Package steps knows what the methods writeObject and writeExternal of a class write, for formats that keep what these write to their
// stream. It follows the code of the application's methods and has a table of the JDK's, and knows which classes of the JDK wrap a
// collection.
package steps

import (
	"strings"

	"dubbo-wire/internal/decode/classfile"
)

// Step is one of the things that a writeObject or writeExternal writes.
type Step struct {
	Op    byte
	Field string // whose value it is, "" if that is not known
	Body  []Step // of a loop
}

// Steps as they are written in a table.
const (
	OwnFields     = 'D' // defaultWriteObject
	PutFields     = 'p' // putFields and writeFields
	MarkedObject  = 'o' // writeObject in emulation: a mark, then a tagged value
	PlainObject   = 'O' // writeObject of an Externalizable: a tagged value
	AnInt         = 'i'
	ALong         = 'l'
	AByte         = 'b'
	ABoolean      = 'z'
	AShort        = 's'
	AChar         = 'c'
	AFloat        = 'f'
	ADouble       = 'd'
	AText         = 'u' // writeUTF
	CountedLoop   = 'n' // an int, then the body as often as it says
	SizedLoop     = 'q' // the body as often as the field "size" says
	LoopUntilNull = 't' // objects until one is null
	SomeBytes     = 'r' // an int, then as many bytes
)

// Parse reads steps as they stand in a table: "Din(oo)".
func Parse(s string) []Step {
	all, _ := parse(s)
	return all
}

func parse(s string) (all []Step, rest string) {
	for len(s) > 0 && s[0] != ')' {
		st := Step{Op: s[0]}
		if s = s[1:]; len(s) > 0 && s[0] == '(' {
			st.Body, s = parse(s[1:])
			s = s[1:]
		}
		all = append(all, st)
	}
	return all, s
}

// calls are the steps of methods of streams.
var calls = map[string]byte{
	"defaultWriteObject": OwnFields, "writeFields": PutFields, "writeInt": AnInt, "writeLong": ALong, "writeByte": AByte, "writeBoolean": ABoolean,
	"writeShort": AShort, "writeChar": AChar, "writeFloat": AFloat, "writeDouble": ADouble, "writeUTF": AText,
}

// Followed returns what the code of a method of the application writes, nil if that is not always the same.
func Followed(types *classfile.Types, class, method string) []Step {
	writes, err := types.Writes(class, method)
	if err != nil {
		return nil
	}
	if method == classfile.WriteExternal {
		return ofCalls(writes, PlainObject)
	}
	steps := ofCalls(writes, MarkedObject)
	for i := range steps {
		steps[i].Field = "" // a value beside the fields, even of a field that is transient
	}
	return steps
}

func ofCalls(writes []classfile.Write, object byte) []Step {
	all := []Step{}
	for _, w := range writes {
		switch {
		case w.Call == "":
			all[len(all)-1] = Step{Op: CountedLoop, Body: ofCalls(w.Body, object)}
		case w.Call == "write":
			all[len(all)-1] = Step{Op: SomeBytes, Field: w.Field}
		case w.Call == "writeObject":
			all = append(all, Step{Op: object, Field: w.Field})
		default:
			all = append(all, Step{Op: calls[w.Call], Field: w.Field})
		}
	}
	return all
}

// Wrapped returns the field with the collection or map that a class of the JDK wraps, "" for other classes, and whether the keys of
// that map are the elements.
func Wrapped(types *classfile.Types, name string) (field string, keys bool) {
	field, of := "c", "java.util.Collection"
	switch {
	case name == "java.util.concurrent.CopyOnWriteArraySet":
		field = "al"
	case name == "java.util.Collections$SetFromMap", name == "java.util.concurrent.ConcurrentSkipListSet":
		return "m", true
	case name == "java.util.concurrent.ConcurrentHashMap$KeySetView":
		return "map", true
	case !strings.HasPrefix(name, "java.util.Collections$"):
		return "", false
	case strings.HasSuffix(name, "Map"):
		field, of = "m", "java.util.Map"
	}
	if is, err := types.Is(name, of); !is || err != nil {
		return "", false
	}
	return field, false
}

// OfJDK returns what the writeObject of a class of the JDK writes, nil if it has none or that is not known.
func OfJDK(class string) []Step { return jdkSteps[class] }

// jdkSteps is what the JDK's own methods writeObject write.
var jdkSteps = func() map[string][]Step {
	t := make(map[string][]Step)
	for name, s := range map[string]string{
		"java.lang.ClassNotFoundException":             "p",
		"java.lang.ExceptionInInitializerError":        "p",
		"java.io.File":                                 "Dc",
		"java.lang.Throwable":                          "D",
		"java.math.BigDecimal":                         "D",
		"java.net.InetAddress":                         "p",
		"java.net.Inet6Address":                        "p",
		"java.net.InetSocketAddress":                   "p",
		"java.net.URI":                                 "D",
		"java.net.URL":                                 "D",
		"java.text.DateFormatSymbols":                  "D",
		"java.text.NumberFormat":                       "D",
		"java.util.ArrayDeque":                         "Dn(o)",
		"java.util.ArrayList":                          "Dn(o)",
		"java.util.BitSet":                             "p",
		"java.util.Calendar":                           "Do",
		"java.util.Collections$SynchronizedCollection": "D",
		"java.util.Collections$SynchronizedMap":        "D",
		"java.util.Date":                               "Dl",
		"java.util.EnumMap":                            "Dn(oo)",
		"java.util.HashMap":                            "Din(oo)",
		"java.util.Hashtable":                          "Din(oo)",
		"java.util.HashSet":                            "Difn(o)",
		"java.util.IdentityHashMap":                    "Dn(oo)",
		"java.util.LinkedList":                         "Dn(o)",
		"java.util.Locale":                             "p",
		"java.util.PriorityQueue":                      "Diq(o)",
		"java.util.Random":                             "p",
		"java.util.SimpleTimeZone":                     "Dro",
		"java.util.TreeMap":                            "Dn(oo)",
		"java.util.TreeSet":                            "Don(o)",
		"java.util.Vector":                             "p",
		"java.util.concurrent.ConcurrentLinkedDeque":   "Dt(o)",
		"java.util.concurrent.ConcurrentLinkedQueue":   "Dt(o)",
		"java.util.concurrent.ConcurrentSkipListMap":   "Dt(oo)",
		"java.util.concurrent.CopyOnWriteArrayList":    "Dn(o)",
		"java.util.concurrent.LinkedBlockingDeque":     "Dt(o)",
		"java.util.concurrent.LinkedBlockingQueue":     "Dt(o)",
		"java.util.concurrent.LinkedTransferQueue":     "Dt(o)",
		"java.util.concurrent.PriorityBlockingQueue":   "D",
	} {
		t[name] = Parse(s)
	}
	return t
}()
