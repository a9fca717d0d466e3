package kryo

import (
	"strings"

	"dubbo-wire/internal/decode/classfile"
)

// serializerLayouts are the layouts of what serializers of Kryo write, by the end of their names.
var serializerLayouts = map[string]layout{
	"FieldSerializer": object, "TaggedFieldSerializer": tagged, "CompatibleFieldSerializer": compatible, "VersionFieldSerializer": versioned,
	"JavaSerializer": javaOnly, "CollectionSerializer": collection, "MapSerializer": mapping, "EnumNameSerializer": enumName,

	"DefaultSerializers$StringSerializer": stringText, "DefaultSerializers$IntSerializer": boxInt, "DefaultSerializers$LongSerializer": boxLong,
	"DefaultSerializers$ShortSerializer": boxShort, "DefaultSerializers$ByteSerializer": boxByte, "DefaultSerializers$BooleanSerializer": boxBool,
	"DefaultSerializers$CharSerializer": boxChar, "DefaultSerializers$FloatSerializer": boxFloat, "DefaultSerializers$DoubleSerializer": boxDouble,
	"DefaultSerializers$DateSerializer": epochMilli, "DefaultSerializers$CalendarSerializer": calendar, "DefaultSerializers$LocaleSerializer": locale,
	"DefaultSerializers$BigIntegerSerializer": bigInteger, "DefaultSerializers$BigDecimalSerializer": bigDecimal, "DefaultSerializers$EnumSerializer": enum,
	"DefaultSerializers$EnumSetSerializer": enumSet, "DefaultSerializers$ClassSerializer": classRef, "DefaultSerializers$CurrencySerializer": otherText,
	"DefaultSerializers$StringBufferSerializer": otherText, "DefaultSerializers$StringBuilderSerializer": otherText,
	"DefaultSerializers$TimeZoneSerializer": otherText, "DefaultSerializers$TreeMapSerializer": treeMap, "DefaultSerializers$TreeSetSerializer": treeSet,
}

// serializerLayout returns the layout of what a serializer writes; ok is false if it is not known.
func serializerLayout(name string) (l layout, ok bool) {
	last, found := strings.CutPrefix(name, "com.esotericsoftware.kryo.serializers.")
	l, ok = serializerLayouts[last]
	return l, ok && found
}

// writesFields reports whether objects are written by their fields.
func (l layout) writesFields() bool { return l >= object && l <= versioned }

// writer is the serializer that an annotation of a field names.
type writer struct {
	name     string
	layout   layout
	elements *elementSerializers // of CollectionSerializer and MapSerializer
	// of is the class whose fields it writes.
	of *class
}

// elementSerializers is how a CollectionSerializer writes elements, or a MapSerializer keys and values.
type elementSerializers struct {
	key, value *class // nil: each after its class
	// keysPresent, valuesPresent: they are never null.
	keysPresent, valuesPresent bool
}

// annotated returns the layout of a class that names its serializer.
func annotated(m *model, a *classfile.Annotation) layout {
	name := serializerOf(a, "value")
	if a.Get("serializerFactory") != nil {
		name = ""
	}
	switch l, ok := serializerLayout(name); {
	case !ok, m.in.d.isKryo224 && !hasIn224(l, m.file):
	case l.writesFields(), l == javaOnly, l == collection, l == mapping, l == treeMap, l == treeSet:
		return l
	case (l == enum || l == enumName) && m.file.IsEnum():
		return l
	}
	if m.custom = name; name == "" {
		m.custom = "a serializer of its own"
	}
	return custom
}

// hasIn224 reports whether it is known what Kryo 2.24 writes in a layout for a class that names its serializer: not for one with type
// variables, whose arguments its serializers of tagged and of named fields do not keep.
func hasIn224(in layout, f *classfile.Class) bool {
	switch in {
	case versioned, enumName:
		return false // it has no such serializers
	case tagged, compatible:
		return len(parameters(f)) == 0
	}
	return true
}

// serializerOf returns the name of the serializer that an element of an annotation names, "" if it names none.
func serializerOf(a *classfile.Annotation, element string) string {
	t, _ := a.Get(element).(*classfile.Type)
	if t == nil || t.Name == "com.esotericsoftware.kryo.Serializer" {
		return ""
	}
	return t.Name
}

// namedClass returns the class that an element of an annotation names, nil if it names none.
func (l *library) namedClass(a *classfile.Annotation, element string) *class {
	t, _ := a.Get(element).(*classfile.Type)
	if t == nil || t.Name == "java.lang.Object" {
		return nil
	}
	return l.typeClass(t)
}

// isFalse reports whether an element of an annotation, which is true where it is not written down, is false.
func isFalse(a *classfile.Annotation, element string) bool {
	v, ok := a.Get(element).(bool)
	return ok && !v
}

// bind makes of g what an annotation says of it.
func (l *library) bind(g *field, f *classfile.Field) {
	if l.d.isKryo224 {
		for _, name := range []string{"FieldSerializer$Bind", "CollectionSerializer$BindCollection", "MapSerializer$BindMap"} {
			if annotation(f, name) != nil {
				g.problem = "its annotation @" + name[strings.IndexByte(name, '$')+1:]
			}
		}
		return
	}
	if a := annotation(f, "FieldSerializer$Bind"); a != nil {
		name := serializerOf(a, "value")
		var of *class
		if l.d.isKryo5 {
			name = serializerOf(a, "serializer")
			if of = l.namedClass(a, "valueClass"); of != nil && g.kind != primitiveField {
				g.class, g.kind = of, finalField
			}
			g.notNull = isFalse(a, "canBeNull")
			g.fixed = isFalse(a, "variableLengthEncoding") && (g.class.layout == boxInt || g.class.layout == boxLong)
		}
		switch by := l.newWriter(name, of); {
		case g.kind == primitiveField: // has no serializer
		case a.Get("serializerFactory") != nil, !l.d.isKryo5 && name == "":
			g.problem = "its annotation @Bind"
		case name != "" && by == nil:
			g.problem = name
		default:
			g.by = by
		}
	}
	if a := annotation(f, "CollectionSerializer$BindCollection"); a != nil {
		e := &elementSerializers{valuesPresent: isFalse(a, "elementsCanBeNull")}
		g.by = &writer{name: a.Type, layout: collection, elements: e}
		l.bindElements(g, a, "element", &e.value)
	}
	if a := annotation(f, "MapSerializer$BindMap"); a != nil {
		e := &elementSerializers{keysPresent: isFalse(a, "keysCanBeNull"), valuesPresent: isFalse(a, "valuesCanBeNull")}
		g.by = &writer{name: a.Type, layout: mapping, elements: e}
		l.bindElements(g, a, "key", &e.key)
		l.bindElements(g, a, "value", &e.value)
	}
}

// bindElements finds out of which class the elements of a collection are, the keys or the values of a map. A class without a serializer
// says nothing.
func (l *library) bindElements(g *field, a *classfile.Annotation, what string, to **class) {
	name, of := serializerOf(a, what+"Serializer"), l.namedClass(a, what+"Class")
	switch by := l.newWriter(name, of); {
	case a.Get(what+"SerializerFactory") != nil:
		g.problem = "its annotation @" + simpleName(a.Type)
	case name == "":
	case by == nil || of == nil: // without the class nobody could read it
		g.problem = name
	default:
		*to = l.writtenBy(of, by)
	}
}

// newWriter returns the serializer with a name for objects of a class, which may be nil; nil if it is not known what it writes.
func (l *library) newWriter(name string, of *class) *writer {
	w, ok := serializerLayout(name)
	if !ok {
		return nil
	}
	// Kryo 4 makes serializers of fields for java.lang.reflect.Field in place of the class.
	if w.writesFields() && (!l.d.isKryo5 || of == nil || of.model == nil || of.model.file == nil) {
		return nil
	}
	return &writer{name: name, layout: w, of: of}
}

// variant is a class whose objects have another serializer than its own.
type variant struct {
	class *class
	by    *writer
}

// writtenBy returns the class for objects that a serializer writes; by may be nil.
func (l *library) writtenBy(c *class, by *writer) *class {
	if by == nil || c.layout == by.layout && !by.layout.writesFields() && by.elements == nil {
		return c
	}
	key := variant{c, by}
	l.mu.Lock()
	v := l.variants[key]
	l.mu.Unlock()
	if v != nil {
		return v
	}
	v = l.newVariant(c, by)
	l.mu.Lock()
	defer l.mu.Unlock()
	if first := l.variants[key]; first != nil {
		return first
	}
	if len(l.variants) < maxClasses {
		l.variants[key] = v
	}
	return v
}

func (l *library) newVariant(c *class, by *writer) *class {
	v := &class{name: c.name, final: c.final, layout: by.layout, elements: by.elements}
	switch {
	case by.layout.writesFields():
		v.model = &model{in: l, file: by.of.model.file}
	case by.layout == collection || by.layout == mapping:
		v.model = c.model
	case by.layout == javaOnly:
		v.model = &model{in: l, stream: c.name + " of " + by.name}
		if c.model != nil {
			v.model.file = c.model.file
		}
	case by.layout == enumName && c.layout == enum:
		v.model = c.model
	default: // Kryo would fail
		v.layout, v.model = custom, &model{in: l, custom: by.name}
	}
	return v
}
