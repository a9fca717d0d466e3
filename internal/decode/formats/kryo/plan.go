package kryo

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf16"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classfile"
)

// plan is what FieldSerializer, a serializer derived from it, or RecordSerializer writes of the objects of a class.
type plan struct {
	fields []field
	// usual is how the values of the fields are counted.
	usual []usual
	// version is that of the class (VersionFieldSerializer).
	version int32
	// written is the number of fields that are written (TaggedFieldSerializer): not those that are deprecated.
	written int
	// variables are the type variables that the arguments of a field's declared type stand for (Kryo 5).
	variables hierarchy
	// parameters are the type variables of the class itself (Kryo 2.24).
	parameters []string
	// missing is a superclass that was not found, whose fields are not known.
	missing string
}

// field is a field as it is written.
type field struct {
	name, typ string // as it is shown; its descriptor
	class     *class
	kind      fieldKind
	notNull   bool
	// problem says why the field cannot be read.
	problem    string
	generic    *generic    // Kryo 5: the declared type with its arguments
	generic224 *generic224 // Kryo 2.24: the same, nil for a type without them
	by         *writer     // the serializer that an annotation names, else nil
	fixed      bool        // a number of fixed width
	tag        uint32      // of TaggedFieldSerializer; annexed: the data are in chunks
	annexed    bool
	since      int32 // the version from which on the class has the field
	counted    fieldCount
	list       listField
	added      bool      // the class path does not have the field: see vary
	accepted   *accepted // nil for primitive types
}

// accepted is what the declared type of a field was found to allow last; readers share it.
type accepted struct {
	class atomic.Pointer[class] // may be nil
	head  atomic.Uint32         // the first byte of a collection that is counted as a list; 0 if there was none
}

// lists returns head.
func (a *accepted) lists() byte { return byte(a.head.Load()) }

// fieldKind says what stands before the data of a field.
type fieldKind uint8

const (
	primitiveField fieldKind = iota // nothing
	finalField                      // null or not null
	openField                       // a class id, a reference byte
	unsureField                     // one of the two: whether the type is final is not known
)

// fieldsOf returns the plan of a class.
func (c *class) fieldsOf() *plan {
	m := c.model
	m.once.Do(func() { m.plan = m.in.newPlan(c) })
	return &m.plan
}

// newPlan returns the plan of a class: its fields and those of its superclasses, sorted by name. Of fields with the same name
// those of the subclass come first.
func (l *library) newPlan(c *class) plan {
	var p plan
	chain, missing, err := l.types.Chain(c.name)
	if err != nil || missing != "" {
		p.missing = cmp.Or(missing, c.name)
		return p
	}
	if l.d.isKryo224 && c.layout == object {
		for _, v := range parameters(chain[0]) {
			p.parameters = append(p.parameters, v.Name)
		}
	}
	seen := map[string]bool{}
	for _, declaring := range chain {
		for i := range declaring.Fields {
			f := &declaring.Fields[i]
			if f.Modifiers&(classfile.Static|classfile.Transient|classfile.Synthetic) != 0 || annotation(f, "FieldSerializer$Optional") != nil {
				continue
			}
			g := l.newField(c, declaring, f)
			if l.d.isKryo224 && g.kind != primitiveField {
				g.generic224 = l.generic224(f.Type(), len(p.parameters) > 0)
			}
			switch tag, version := number(f, "TaggedFieldSerializer$Tag"), number(f, "VersionFieldSerializer$Since"); {
			case c.layout == tagged && tag == nil:
				continue
			case c.layout == tagged:
				g.tag = uint32(*tag)
				annexed, _ := annotation(f, "TaggedFieldSerializer$Tag").Get("annexed").(bool)
				g.annexed = annexed && l.d == kryo4
				if !slices.ContainsFunc(f.Annotations, func(a classfile.Annotation) bool { return a.Type == "java.lang.Deprecated" }) {
					p.written++
				}
			case c.layout == versioned && version != nil:
				g.since = *version
				p.version = max(p.version, g.since)
			}
			if seen[f.Name] {
				g.name = simpleName(declaring.Name) + "#" + f.Name
			}
			p.fields = append(p.fields, g)
		}
		for i := range declaring.Fields {
			seen[declaring.Fields[i].Name] = true
		}
	}
	slices.SortStableFunc(p.fields, func(a, b field) int {
		if c.layout == tagged && l.d == kryo4 {
			return cmp.Compare(int32(a.tag), int32(b.tag))
		}
		return compareNames(fieldName(a.name), fieldName(b.name))
	})
	if l.d.isKryo5 && c.layout.writesFields() {
		p.variables = l.hierarchy(chain)
	}
	for i := range p.fields {
		p.fields[i].counted = p.fields[i].count()
		p.fields[i].list = l.d.list(&p.fields[i])
		u := l.d.usual(&p.fields[i])
		u.field = &p.fields[i]
		p.usual = append(p.usual, u)
	}
	return p
}

// newField returns how a field of objects of c is written.
func (l *library) newField(c *class, declaring *classfile.Class, f *classfile.Field) field {
	notNull := "NotNull"
	if l.d.isKryo5 {
		notNull = "FieldSerializer$NotNull"
	}
	g := field{name: f.Name, typ: f.Descriptor, class: l.describe(f.Descriptor), notNull: annotation(f, notNull) != nil}
	if len(f.Descriptor) == 1 {
		g.kind = primitiveField
		l.bind(&g, f)
		return g
	}
	if l.d.isKryo5 && c.layout.writesFields() {
		g.generic = l.generic(declaring, c.model.file, f.Type())
		if g.generic.class != nil {
			g.class = g.generic.class
		}
	}
	g.kind = g.class.kind()
	g.accepted = new(accepted)
	l.bind(&g, f)
	return g
}

// number returns the value of an annotation, nil if the field does not have it.
func number(f *classfile.Field, name string) *int32 {
	a := annotation(f, name)
	if a == nil {
		return nil
	}
	n, _ := a.Get("value").(int32)
	return &n
}

// annotation returns an annotation of Kryo's, nil if the field does not have it.
func annotation(f *classfile.Field, name string) *classfile.Annotation {
	for i := range f.Annotations {
		if a := &f.Annotations[i]; strings.HasPrefix(a.Type, "com.esotericsoftware.kryo.") && strings.HasSuffix(a.Type, "."+name) {
			return a
		}
	}
	return nil
}

// kind returns how objects are written where this class is declared.
func (c *class) kind() fieldKind {
	inner := c
	for inner.elem != nil {
		inner = inner.elem
	}
	switch {
	case inner.final:
		return finalField
	case inner.isOpen():
		return openField
	}
	return unsureField
}

// simpleName returns what Class.getSimpleName does for a class that has a name in the source.
func simpleName(class string) string { return class[strings.LastIndexAny(class, ".$")+1:] }

// fieldName returns the name of a field without the class that tells it from one with the same name.
func fieldName(shown string) string { return shown[strings.IndexByte(shown, '#')+1:] }

// compareNames compares as String.compareTo does.
func compareNames(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] >= utf8.RuneSelf || b[i] >= utf8.RuneSelf {
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		}
	}
	return cmp.Compare(a, b)
}

// javaName reports whether a name on the wire can be that of a class.
func javaName(name string) bool {
	return decode.CanBeClass(name) && !strings.ContainsAny(name, "#@<>-") && (name[0] < '0' || name[0] > '9')
}
