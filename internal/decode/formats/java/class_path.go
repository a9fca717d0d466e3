package java

import (
	"fmt"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classfile"
	"dubbo-wire/internal/decode/classpath"
)

// A compacted stream has only the names of the application's classes. What it leaves out comes from the class path: of the
// writer's side, since the stream has what the writer's ObjectStreamClass says.

// classSource is the application's classes. A nil classSource has none.
type classSource struct {
	path     *classpath.Path
	side     decode.Side
	known    [2]map[string]*layout // of each side, nil for a class that is not known
	distrust *decode.Error         // why its classes do not fit the body
	used     bool                  // whether the body has objects of them
}

// maxLayouts bounds the layouts of a side that are kept, and so their memory.
const maxLayouts = 1 << 13

// With returns f with readers that know the classes of p. Their streams have no fields.
func With(f decode.Format, p *classpath.Path) decode.Format {
	if p == nil {
		return f
	}
	plain := f.New
	f.New = func() decode.Reader {
		r := plain().(*CompactReader)
		r.Know(p)
		return r
	}
	return f
}

// Know gives the reader the application's classes.
func (r *Reader) Know(p *classpath.Path) {
	if p != nil {
		r.source = &classSource{path: p}
	}
}

// WrittenBy implements [decode.ClassReader].
func (r *Reader) WrittenBy(s decode.Side) {
	if r.source != nil {
		r.source.side = s
	}
}

// Misfits implements [decode.ClassReader].
func (r *Reader) Misfits(err *decode.Error) bool {
	return r.source != nil && r.source.used && err.Cause == decode.Malformed
}

// Distrust implements [decode.ClassReader].
func (r *Reader) Distrust(err *decode.Error) {
	if r.source != nil {
		r.source.distrust = err
	}
}

// fromClassPath returns the layout of a class of the application and notes in c what is known of it besides.
func (r *Reader) fromClassPath(c *class) (l *layout, ok bool) {
	l, ok = r.source.layout(c.name)
	if ok {
		c.checked, c.extends = true, l.extends
		if l.strange {
			c.misfit = "an object of class " + excerpt(c.name) + ", which is not Serializable in the class path"
		}
	}
	return l, ok
}

// checkSuperclass compares the superclass in the stream, which was just read, with that in the class path.
func (r *Reader) checkSuperclass(c *class) {
	found := noSuperclass
	if c.super >= 0 {
		found = r.classes[c.super].name
	}
	if found == c.extends {
		return
	}
	says := func(name string) string {
		if name == noSuperclass {
			return "nothing that is Serializable"
		}
		return excerpt(name)
	}
	c.misfit = "an object of class " + excerpt(c.name) + ", which extends " + says(c.extends) + " in the class path and " + says(found) + " in the stream"
}

// unknownFields fails at an object whose fields are not known.
func (r *Reader) unknownFields(c *class) {
	r.unknown = true
	if r.source.fails(r, c) {
		return
	}
	r.source.missing(c.name)
	r.FailWithout(c.name, "the fields of class "+excerpt(c.name)+", which this stream does not tell", "")
}

// fails fails at an object whose class is in the class path but does not fit the body, and says why.
func (s *classSource) fails(r *Reader, c *class) bool {
	if s == nil || s.distrust == nil {
		return false
	}
	known, err := s.path.Types(s.side).Class(c.name)
	if err != nil {
		return false
	}
	expected := s.distrust.Expected
	if m := s.distrust.Misfit; m != nil {
		expected = m.Expected
	}
	r.Fail(decode.Unsupported, fmt.Sprintf("class %s as in %s; with the fields that it has there, the body should have %s at byte %d",
		excerpt(c.name), known.Place, expected, s.distrust.Offset()), s.distrust.Found)
	return true
}

// layout returns the layout of a class; ok is false if nothing is known of it.
func (s *classSource) layout(name string) (l *layout, ok bool) {
	if s == nil || s.distrust != nil {
		return nil, false
	}
	known := s.known[s.side]
	l, asked := known[name]
	if !asked {
		if known == nil || len(known) >= maxLayouts {
			known = make(map[string]*layout)
			s.known[s.side] = known
		}
		l = layoutOf(s.path.Types(s.side), name)
		known[name] = l
		if l != nil && !isJDK(name) {
			s.path.Asked(name, true)
		}
	}
	return l, l != nil
}

// missing notes that an object has a class that is not known.
func (s *classSource) missing(name string) {
	if s != nil && s.distrust == nil {
		s.path.Asked(name, false)
	}
}

// layoutOf returns what the stream leaves out of a class; nil if the class path does not tell. That the class is Serializable
// is known from the stream, also if an interface is missing that says so.
func layoutOf(types *classfile.Types, name string) *layout {
	s, err := types.ObjectStream(name)
	if err != nil || !s.FieldsKnown() {
		return nil
	}
	if s.Enum {
		return &layout{flags: scSerializable}
	}
	if s.Externalizable {
		return &layout{flags: scExternalizable | scBlockData}
	}
	l := &layout{flags: scSerializable, extends: superclass(types, name), strange: !s.Serializable && s.Incomplete == ""}
	if s.WriteObject {
		l.flags |= scWriteMethod
	}
	for _, f := range s.Fields() {
		d := fieldDesc{code: f.Descriptor[0], name: f.Name}
		if size(d.code) == 0 {
			d.declared = &declared{types: types, name: className(f.Descriptor)}
		}
		l.fields = append(l.fields, d)
	}
	return l
}

// noSuperclass is the name of a superclass that is not in the stream, since it is not Serializable.
const noSuperclass = "-"

// superclass returns the superclass that the descriptor of a class names; empty if that is not known.
func superclass(types *classfile.Types, name string) string {
	c, err := types.Class(name)
	if err != nil || c.Super == "" {
		return ""
	}
	is, err := types.Is(c.Super, "java.io.Serializable")
	switch {
	case err != nil:
		return ""
	case is:
		return c.Super
	}
	return noSuperclass
}

// className returns the name of a class as Class.getName does, from the descriptor of a field.
func className(descriptor string) string {
	if descriptor[0] == 'L' {
		descriptor = descriptor[1 : len(descriptor)-1]
	}
	return strings.ReplaceAll(descriptor, "/", ".")
}

// declared is the declared type of a field.
type declared struct {
	types *classfile.Types
	name  string
	last  string // the class that was accepted last
}

// accepts reports whether an object of a class can stand for a value of the field. What is not known is accepted, and objects that
// others replace when they are read.
func (d *declared) accepts(class string) bool {
	if class == d.last {
		return true
	}
	if class != d.name && !assignable(d.types, class, d.name) {
		return false
	}
	d.last = class
	return true
}

func assignable(types *classfile.Types, class, declared string) bool {
	switch declared {
	case class, "java.lang.Object":
		return true
	}
	switch array, element := strings.HasPrefix(class, "["), strings.HasPrefix(declared, "["); {
	case array && element:
		return elementsAssignable(types, class[1:], declared[1:])
	case array:
		return declared == "java.io.Serializable" || declared == "java.lang.Cloneable"
	}
	if is, err := types.Is(class, declared); is || err != nil {
		return true
	}
	s, err := types.ObjectStream(class)
	return err != nil || s.ReadResolve || s.Incomplete != ""
}

// elementsAssignable is assignable for the elements of arrays, whose types are descriptors with dots.
func elementsAssignable(types *classfile.Types, class, declared string) bool {
	if size(class[0]) > 0 || size(declared[0]) > 0 {
		return class == declared
	}
	return assignable(types, className(class), className(declared))
}

// checkField reports whether the object that comes next can be the value of the field of an index, and fails if it cannot: then the writer
// had another version of the class.
func (r *Reader) checkField(at int) bool {
	if !r.OK() || r.fits(r.Buf[r.Off:], at) {
		return r.OK()
	}
	f := &r.fields[at]
	of := ""
	for i := range r.classes {
		if c := &r.classes[i]; int(c.first) <= at && at < int(c.first+c.n) {
			of = c.name
		}
	}
	name, _ := r.nextClass(r.Buf[r.Off:])
	r.Fail(decode.Malformed, "field "+excerpt(f.name)+" of class "+excerpt(of)+", a "+excerpt(sourceName(f.declared.name)), "a "+excerpt(sourceName(name)))
	return false
}

// fits reports whether the object where b starts can be the value of the field of an index.
func (r *Reader) fits(b []byte, field int) bool {
	d := r.fields[field].declared
	if d == nil {
		return true
	}
	class, ok := r.nextClass(b)
	return !ok || d.accepts(class)
}

// nextClass returns the class of the object where b starts; ok is false for null and where that is not known.
func (r *Reader) nextClass(b []byte) (name string, ok bool) {
	if len(b) < 2 {
		return "", false
	}
	switch b[0] {
	case tcString, tcLongString:
		return "java.lang.String", true
	case tcClass:
		return "java.lang.Class", true
	case tcReference:
		if len(b) < 5 {
			return "", false
		}
		return r.classOf(r.handleAt(b[1:]))
	case tcObject, tcArray, tcEnum:
	default:
		return "", false
	}
	switch {
	case b[1] == tcReference && len(b) >= 6:
		if to := r.handleAt(b[2:]); to != nil && to.kind == toClass {
			return r.nameOf(to.a)
		}
	case b[1] == tcClassDesc && len(b) >= 5:
		if n := int(be16(b[3:])); n <= min(maxName, len(b)-5) {
			return r.utf(b[5 : 5+n]), true
		}
	}
	return "", false
}

// classOf returns the class of what a handle refers to.
func (r *Reader) classOf(to *handle) (name string, ok bool) {
	switch {
	case to == nil || r.unknownHandles:
	case to.kind == toString:
		return "java.lang.String", true
	case to.kind == toClassObject:
		return "java.lang.Class", true
	case to.kind != toClass && to.a >= 0:
		return r.nameOf(to.a)
	}
	return "", false
}

// nameOf returns the name of a class of the stream; a proxy may be anything.
func (r *Reader) nameOf(at int32) (name string, ok bool) {
	c := &r.classes[at]
	return c.name, c.read && !c.proxy
}
