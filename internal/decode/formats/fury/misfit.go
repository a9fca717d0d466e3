package fury

import (
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
)

// With returns f, a format of this package or of package furycompatible, with readers that know the classes of p.
func With(f decode.Format, p *classpath.Path) decode.Format {
	if p == nil {
		return f
	}
	like := *f.New().(*Reader)
	var libraries [2]*library
	for side := range libraries {
		libraries[side] = newLibrary(p, decode.Side(side), &like)
	}
	f.New = func() decode.Reader {
		own := like
		r := &classReader{Reader: &own, libraries: libraries}
		r.library = libraries[0]
		return r
	}
	f.Counts = true
	return f
}

// classReader is a Reader that knows classes of the application.
type classReader struct {
	*Reader
	libraries [2]*library // by side
}

// WrittenBy implements decode.ClassReader.
func (r *classReader) WrittenBy(s decode.Side) {
	if l := r.libraries[s]; l != r.library {
		r.library = l
		clear(r.allowed)
		clear(r.finals)
		clear(r.named)
	}
}

// Misfits implements decode.ClassReader.
func (r *classReader) Misfits(err *decode.Error) bool {
	switch err.Cause {
	case decode.Malformed, decode.Limit:
		return r.misread || len(r.used) > 0
	case decode.Unsupported:
		return r.misread || !r.incomplete && len(r.used) > 0 && strings.HasPrefix(err.Class, "#") // may be another byte
	}
	return r.misread
}

// Distrust implements decode.ClassReader.
func (r *classReader) Distrust(err *decode.Error) { r.distrust = err }

// Fault implements decode.Faulter.
func (r *classReader) Fault() *decode.Error { return r.fault }

// distrusted stops at an object of the application if its class does not fit the bytes.
func (r *Reader) distrusted(cl *class, p decode.Place) bool {
	if r.distrust == nil || isJDK(cl.name) {
		return false
	}
	r.open(p, decode.Object, decode.JavaName(cl.name))
	if p.Throwable {
		r.message()
	}
	r.FailWith(r.distrust)
	return true
}

// use notes that a body has an object of a class.
func (r *Reader) use(cl *class) {
	for _, used := range r.used {
		if used == cl {
			return
		}
	}
	if !isJDK(cl.name) {
		r.ask(cl)
		r.used = append(r.used, cl)
	}
}

// strict reports whether bytes are checked more than Fury does, since they may not be what the class path says.
func (r *Reader) strict() bool { return len(r.used) > 0 }

// Used implements decode.VaryingReader.
func (r *classReader) Used() []decode.UsedClass {
	used := make([]decode.UsedClass, 0, len(r.used))
	for _, cl := range r.used {
		u := decode.UsedClass{Name: cl.name}
		if cl.layout == object && !r.library.tags {
			for _, f := range cl.fieldsOf().fields {
				u.Fields = append(u.Fields, f.name)
			}
		}
		used = append(used, u)
	}
	return used
}

// Stopped implements decode.VaryingReader.
func (r *classReader) Stopped() (class, field string) {
	if r.stopped.class == nil {
		return "", ""
	}
	return decode.JavaName(r.stopped.class.name), r.stopped.field
}

// Vary implements decode.VaryingReader. Only objects in consistent mode depend on what fields the class has.
func (r *classReader) Vary(v *decode.Variation) bool {
	r.variation = nil
	if v == nil {
		return true
	}
	if r.library.tags {
		return false
	}
	cl := r.library.class(v.Class)
	if cl.layout != object || v.Type != "" && !v.Replaces && !r.library.canHave(cl.fieldsOf().fields, v) {
		return false
	}
	r.variation = v
	return true
}

// added returns a field of a type.
func (l *library) added(descriptor string) field {
	f := field{name: "#added", typ: descriptor, is: primitiveTypes[descriptor[0]]}
	if len(descriptor) > 1 {
		c := l.describe(descriptor)
		f.is = &declared{class: c, final: c.final, tracked: c.isTracked()}
	}
	return f
}

// canHave reports whether a field with any name that is added may stand there among the others.
func (l *library) canHave(fields []field, v *decode.Variation) bool {
	f := l.added(v.Type)
	if v.Index > 0 {
		f.own = "\uffff"
		if l.compare(fields[v.Index-1], f) > 0 {
			return false
		}
	}
	f.own = ""
	return v.Index >= len(fields) || l.compare(f, fields[v.Index]) <= 0
}

// vary returns the fields that a class with another field, or without one, has.
func (r *Reader) vary(fields []field) []field {
	v := r.variation
	all := append(r.varied[:0], fields...)
	switch {
	case v.Type == "" && v.Index < len(all):
		all = slices.Delete(all, v.Index, v.Index+1)
	case v.Type != "" && v.Replaces && v.Index < len(all):
		f := r.library.added(v.Type)
		f.name, f.own, f.by = all[v.Index].name, all[v.Index].own, all[v.Index].by
		all[v.Index] = f
		slices.SortStableFunc(all, r.library.compare)
	case v.Type != "":
		all = slices.Insert(all, min(v.Index, len(all)), r.library.added(v.Type))
	}
	r.varied = nil // a nested object of the class takes another one
	return all
}
