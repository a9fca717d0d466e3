package protostuff

import (
	"strings"

	"dubbo-wire/internal/decode/classfile"
)

// A shape is how the values of a declared type are written (RuntimeFieldFactory, RuntimeRepeatedFieldFactory, RuntimeMapFieldFactory,
// PolymorphicSchemaFactories).
type shape struct {
	kind kind
	// name is the declared class as Class.getName returns it; of arrays, that of the elements.
	name string
	id   uint64  // of scalars and their arrays, as in dynamic messages
	of   *schema // of objects and constants, and their arrays
	// boxable: the length of an array says whether its elements are boxes.
	boxable    bool
	key, value *shape // of maps; value is also that of the elements of collections
	problem    string // why the values cannot be read
	missing    string // the class that is not known, if that is the problem
}

type kind uint8

const (
	unknownKind   kind = iota
	scalarKind         // a number, a text or bytes
	delegateKind       // a time of java.sql
	enumKind           // the number of a constant
	pojoKind           // a message of the declared class
	derivedKind        // a message of a class that it names
	dynamicKind        // any object, or one of those that the declared class allows
	scalarArray        // numbers, texts or bytes
	delegateArray      // times
	enumArray          // constants
	pojoArray          // messages
	objectArray        // objects
	mapKind            // entries
	elementsKind       // elements of a collection in one message
	anyMap             // a map whose class is named
	anyCollection      // a collection whose class is named
)

// inline are the ids of the classes whose values are scalars.
var inline = map[string]uint64{
	"Z": idBool, "B": idByte, "C": idChar, "S": idShort, "I": idInt, "J": idLong, "F": idFloat, "D": idDouble,
	"java.lang.Boolean": idBool, "java.lang.Byte": idByte, "java.lang.Character": idChar, "java.lang.Short": idShort,
	"java.lang.Integer": idInt, "java.lang.Long": idLong, "java.lang.Float": idFloat, "java.lang.Double": idDouble,
	"java.lang.String": idString, "io.protostuff.ByteString": idByteString, "[B": idBytes,
	"java.math.BigDecimal": idBigDecimal, "java.math.BigInteger": idBigInteger, "java.util.Date": idDate,
}

// delegates are the classes for which Dubbo registers a delegate.
var delegates = map[string]bool{"java.sql.Timestamp": true, "java.sql.Date": true, "java.sql.Time": true}

var anyObject = &shape{kind: dynamicKind, name: "java.lang.Object"}

// facts are what decides how the values of a class are written.
type facts struct {
	file                  *classfile.Class
	isMap, isCollection   bool
	throwable, hasMessage bool
	missing               string // the class that must be known for that
}

func (l *library) facts(class string) (f facts) {
	c, err := l.types.Class(class)
	if err != nil {
		f.missing = class
		return f
	}
	f.file = c
	for _, is := range []struct {
		name string
		is   *bool
	}{{"java.util.Map", &f.isMap}, {"java.util.Collection", &f.isCollection}, {"java.lang.Throwable", &f.throwable}} {
		yes, err := l.types.Is(class, is.name)
		*is.is = yes
		if err != nil && !yes {
			f.missing = l.firstMissing(class)
		}
	}
	f.hasMessage, _ = l.types.Is(class, message)
	if f.isMap || f.isCollection || f.throwable || c.IsEnum() || f.hasMessage || f.missing == message {
		f.missing = ""
	}
	return f
}

// firstMissing returns the first superclass or interface of a class that was not found.
func (l *library) firstMissing(class string) string {
	const most = 1 << 10
	seen := map[string]bool{class: true}
	for queue := []string{class}; len(queue) > 0 && len(seen) < most; queue = queue[1:] {
		c, err := l.types.Class(queue[0])
		if err != nil {
			return queue[0]
		}
		for _, s := range append([]string{c.Super}, c.Interfaces...) {
			if s != "" && !seen[s] && s != "java.lang.Object" {
				seen[s] = true
				queue = append(queue, s)
			}
		}
	}
	return class
}

func (f *facts) isAbstract() bool {
	return f.file.Modifiers.Has(classfile.Abstract) || f.file.IsInterface()
}

// isPojo reports whether objects are written as those of the declared class. morph is the annotation of the field, nil without one.
func (f *facts) isPojo(morph *bool) bool {
	switch {
	case f.file.Modifiers.Has(classfile.Final):
		return true
	case f.isAbstract():
		return false
	case morph != nil:
		return !*morph
	}
	return true
}

func unknownShape(class, missing string) *shape {
	return &shape{name: class, problem: "fields that cannot be separated without the class definition", missing: missing}
}

// ownSchema is the shape of objects that a schema of the application's own writes.
func ownSchema(class string) *shape {
	return &shape{name: class, problem: "bytes that a schema of its own wrote"}
}

// fieldShape returns how the values of a field are written, and whether it is written once for each element.
func (l *library) fieldShape(f *classfile.Field) (x *shape, repeated bool) {
	class := className(f.Descriptor)
	switch {
	case delegates[class]:
		return &shape{kind: delegateKind, name: class}, false
	case inline[class] != 0:
		return &shape{kind: scalarKind, name: class, id: inline[class]}, false
	case strings.HasPrefix(class, "["):
		return l.arrayShape(class, false), false
	}
	if x := special(class); x != nil {
		return x, false
	}
	facts := l.facts(class)
	morph := morphOf(f)
	switch {
	case facts.file == nil || facts.missing != "":
		return unknownShape(class, facts.missing), false
	case facts.hasMessage:
		return ownSchema(class), false
	case facts.file.IsEnum():
		return &shape{kind: enumKind, name: class, of: l.schema(class)}, false
	case facts.throwable:
		return &shape{kind: dynamicKind, name: class}, false
	case facts.isMap:
		return l.mapShape(f, &facts, morph), false
	case facts.isCollection:
		return l.collectionShape(f, &facts, morph)
	case facts.file.IsInterface():
		return &shape{kind: dynamicKind, name: class}, false
	}
	return l.objectShape(class, &facts, morph), false
}

// special returns the shape of classes for which there are dynamic messages of their own, nil for others.
func special(class string) *shape {
	switch class {
	case "java.lang.Object":
		return anyObject
	case "java.lang.Number", "java.lang.Class", "java.lang.Enum":
		return &shape{kind: dynamicKind, name: class}
	}
	return nil
}

// objectShape returns the shape of a class that is neither an interface nor one that has a rule of its own.
func (l *library) objectShape(class string, f *facts, morph *bool) *shape {
	if f.isPojo(morph) {
		return &shape{kind: pojoKind, name: class, of: l.schema(class)}
	}
	return &shape{kind: derivedKind, name: class}
}

// morphOf returns the value of the annotation that says whether objects of subclasses are written as such, nil without one.
func morphOf(f *classfile.Field) *bool {
	a := annotation(f, "io.protostuff.Morph")
	if a == nil {
		return nil
	}
	value, ok := a.Get("value").(bool)
	value = value || !ok
	return &value
}

// argument returns the class that a type argument of a field's type is, "" if that is not told by the class alone
// (RuntimeFieldFactory.getGenericType).
func argument(f *classfile.Field, i int) string {
	if f.Generic == nil || f.Generic.Kind != classfile.Object || i >= len(f.Generic.Args) {
		return ""
	}
	a := f.Generic.Args[i]
	if a.Kind == classfile.Object && (len(a.Args) > 0 || a.Owner != nil) {
		if a.Name == "java.lang.Class" || a.Name == "java.lang.Enum" {
			return a.Name
		}
		return ""
	}
	inner := a
	for inner.Kind == classfile.Array {
		inner = inner.Elem
	}
	if inner.Kind != classfile.Primitive && (inner.Kind != classfile.Object || len(inner.Args) > 0 || inner.Owner != nil) {
		return ""
	}
	return className(a.Descriptor())
}

// collectionShape returns the shape of the elements of a collection, and whether there is a field for each of them.
func (l *library) collectionShape(f *classfile.Field, facts *facts, morph *bool) (x *shape, repeated bool) {
	class, element := facts.file.Name, argument(f, 0)
	any := &shape{kind: anyCollection, name: class}
	if morph != nil && facts.isAbstract() && (!facts.file.IsInterface() || *morph) {
		return any, false
	}
	if is, _ := l.types.Is(class, "java.util.EnumSet"); is {
		if element == "" {
			return any, false
		}
		x = &shape{kind: enumKind, name: element, of: l.schema(element)}
	} else {
		x = l.part(element, morph, morph != nil)
	}
	if morph != nil {
		return &shape{kind: elementsKind, name: class, value: x}, false
	}
	return x, true
}

// part returns the shape of elements, keys or values of a class; boxable says so of arrays.
func (l *library) part(class string, morph *bool, boxable bool) *shape {
	switch {
	case class == "":
		return anyObject
	case delegates[class]:
		return &shape{kind: delegateKind, name: class}
	case inline[class] != 0:
		return &shape{kind: scalarKind, name: class, id: inline[class]}
	case strings.HasPrefix(class, "["):
		return l.arrayShape(class, boxable)
	}
	if x := special(class); x != nil {
		return x
	}
	facts := l.facts(class)
	switch {
	case facts.file == nil || facts.missing != "":
		return unknownShape(class, facts.missing)
	case facts.isMap || facts.isCollection || facts.throwable:
		return &shape{kind: dynamicKind, name: class}
	case facts.hasMessage:
		return ownSchema(class)
	case facts.file.IsEnum():
		return &shape{kind: enumKind, name: class, of: l.schema(class)}
	case facts.file.IsInterface():
		return &shape{kind: dynamicKind, name: class}
	}
	return l.objectShape(class, &facts, morph)
}

// mapShape returns the shape of a map.
func (l *library) mapShape(f *classfile.Field, facts *facts, morph *bool) *shape {
	class := facts.file.Name
	any := &shape{kind: anyMap, name: class}
	if facts.isAbstract() && (!facts.file.IsInterface() || morph != nil && *morph) {
		return any
	}
	k := argument(f, 0)
	if is, _ := l.types.Is(class, "java.util.EnumMap"); is && k == "" {
		return any
	}
	x := &shape{kind: mapKind, name: class, key: anyObject, value: anyObject}
	if k == "" || len(f.Generic.Args) != 2 {
		return x
	}
	key := l.part(k, morph, true)
	switch key.kind {
	case scalarKind, delegateKind, enumKind, pojoKind:
		x.key, x.value = key, l.part(argument(f, 1), morph, true)
	case scalarArray, delegateArray, enumArray, pojoArray, objectArray:
		x.key = key
	case unknownKind:
		x.key, x.value = key, unknownShape(k, key.missing)
	}
	return x
}

// arrayShape returns the shape of an array.
func (l *library) arrayShape(class string, boxable bool) *shape {
	of := className(class[1:])
	switch {
	case delegates[of]:
		return &shape{kind: delegateArray, name: of}
	case inline[of] != 0:
		return &shape{kind: scalarArray, name: of, id: inline[of], boxable: boxable && inline[of] < idString}
	case strings.HasPrefix(of, "["), special(of) != nil:
		return &shape{kind: objectArray, name: of}
	}
	facts := l.facts(of)
	switch {
	case facts.file == nil || facts.missing != "":
		return unknownShape(class, facts.missing)
	case facts.hasMessage:
		return ownSchema(class)
	case facts.file.IsEnum():
		return &shape{kind: enumArray, name: of, of: l.schema(of)}
	case facts.isMap || facts.isCollection || facts.throwable || !facts.isPojo(nil):
		return &shape{kind: objectArray, name: of}
	}
	return &shape{kind: pojoArray, name: of, of: l.schema(of)}
}
