package dubboserialization

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classfile"
	"dubbo-wire/internal/decode/classpath"
)

// With the application's classes, fields have their names and types: Builder writes those that are neither static nor transient,
// of the class and its superclasses, in the order of their names, each in the form of its declared type.

// classSource is the application's classes.
type classSource struct {
	path     *classpath.Path
	side     decode.Side
	known    [2]map[string]*layout // by descriptor; nil for a class that is not known
	distrust bool                  // its classes do not fit the body
	used     bool                  // whether the body has objects of them
}

// layout is what a class says of its objects.
type layout struct {
	name   string
	fields []field
	form   form // plain, tailed or tailedMap
	// exact: none of the fields is of a class of the JDK, which may be of another release.
	exact bool
}

// field is a field as it is written.
type field struct {
	name string
	// class is the declared type; open says that the object has its own descriptor.
	class class
	open  bool
}

// maxLayouts bounds the layouts of a side that are kept, and so their memory.
const maxLayouts = 1 << 13

// With returns f with readers that know the classes of p.
func With(f decode.Format, p *classpath.Path) decode.Format {
	if p != nil {
		f.New = func() decode.Reader { return &Reader{source: &classSource{path: p}} }
	}
	return f
}

// WrittenBy implements [decode.ClassReader].
func (r *Reader) WrittenBy(s decode.Side) {
	if r.source != nil {
		r.source.side = s
	}
}

// Misfits implements [decode.ClassReader].
func (r *Reader) Misfits(err *decode.Error) bool {
	return r.source != nil && r.source.used && (err.Cause == decode.Malformed || err.Cause == decode.Unsupported)
}

// Distrust implements [decode.ClassReader]. Without classes, objects have members without names.
func (r *Reader) Distrust(err *decode.Error) {
	if r.source != nil {
		r.source.distrust = err != nil
	}
}

// layout returns what is known of the objects of a class, nil for nothing.
func (r *Reader) layout(c class) *layout {
	s := r.source
	if s == nil || s.distrust || c.form != byTag || len(c.desc) < 3 || c.desc[0] != 'L' {
		return nil
	}
	l, asked := s.known[s.side][string(c.desc)]
	if !asked {
		if s.known[s.side] == nil || len(s.known[s.side]) >= maxLayouts {
			s.known[s.side] = make(map[string]*layout)
		}
		name := r.className(c.desc)
		l = layoutOf(s.path.Types(s.side), name)
		s.known[s.side][string(c.desc)] = l
		s.path.Asked(name, l != nil)
	}
	s.used = s.used || l != nil
	return l
}

// layoutOf returns the fields that Builder writes of a class; nil if the class path does not tell.
func layoutOf(types *classfile.Types, name string) *layout {
	chain, missing, err := types.Chain(name)
	if err != nil || missing != "" || len(chain) == 0 {
		return nil
	}
	isCollection, err := types.Is(name, "java.util.Collection")
	isMap, failed := types.Is(name, "java.util.Map")
	if err != nil || failed != nil {
		return nil
	}
	l := &layout{name: name, form: plain, exact: true}
	switch {
	case isCollection:
		l.form = tailed
	case isMap:
		l.form = tailedMap
	}
	hidden := map[string]bool{}
	for _, c := range chain {
		for i := range c.Fields {
			f := &c.Fields[i]
			if f.Modifiers&(classfile.Static|classfile.Transient) != 0 || f.Name == "this$0" {
				continue
			}
			w, written, known := newField(types, f)
			if !known {
				return nil
			}
			if !written {
				continue
			}
			if hidden[f.Name] {
				w.name = c.Name[strings.LastIndexAny(c.Name, ".$")+1:] + "#" + f.Name
			}
			l.exact = l.exact && !strings.HasPrefix(c.Name, "java")
			l.fields = append(l.fields, w)
		}
		for i := range c.Fields {
			hidden[c.Fields[i].Name] = true
		}
	}
	slices.SortStableFunc(l.fields, func(a, b field) int { return cmp.Compare(ownName(a.name), ownName(b.name)) })
	return l
}

// ownName returns the name of a field without the class that tells it from one that hides it.
func ownName(shown string) string { return shown[strings.IndexByte(shown, '#')+1:] }

// newField returns how a field is written. Builder leaves out those whose class is not public; known is false if the class path
// does not tell.
func newField(types *classfile.Types, f *classfile.Field) (w field, written, known bool) {
	w = field{name: f.Name, class: classOf([]byte(f.Descriptor))}
	base := strings.TrimLeft(f.Descriptor, "[")
	if base[0] != 'L' {
		return w, true, true
	}
	c, err := types.Class(strings.ReplaceAll(base[1:len(base)-1], "/", "."))
	if err != nil {
		return w, false, false
	}
	w.open = len(base) == len(f.Descriptor) && (c.IsInterface() || c.Name == "java.lang.Object")
	return w, c.Modifiers.Has(classfile.Public), true
}

// fitsLayout reports whether the number of fields in the stream is that of the class. It fails if the writer had another version of the
// class.
func (r *Reader) fitsLayout(l *layout, at, n int) bool {
	if l == nil || !r.OK() {
		return false
	}
	if n == len(l.fields) {
		return true
	}
	if l.exact {
		r.FailAt(at, decode.Malformed, fmt.Sprintf("the %d fields of class %s", len(l.fields), l.name), fmt.Sprint(n))
	}
	return false
}

// knownMembers takes the fields of an object whose class is known.
func (r *Reader) knownMembers(l *layout, p place) {
	for i := range l.fields {
		if !r.OK() {
			return
		}
		f := &l.fields[i]
		q := r.at(decode.ByField, f.name, 0)
		q.follow = aNumber
		if i == len(l.fields)-1 && l.form == plain {
			q.follow = p.follow
		}
		if f.open {
			r.object(q)
		} else {
			r.data(f.class, q)
		}
	}
}
