package protostuff

import (
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
)

// With returns f, a format of this package, with readers that know the classes of p.
func With(f decode.Format, p *classpath.Path) decode.Format {
	if p == nil {
		return f
	}
	var libraries [2]*library
	for _, side := range []decode.Side{decode.Consumer, decode.Provider} {
		libraries[side] = newLibrary(p, side)
		if !p.Sided() {
			libraries[side] = libraries[0]
		}
	}
	f.New = func() decode.Reader {
		return &classReader{Reader: &Reader{library: libraries[0]}, libraries: libraries}
	}
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
		clear(r.known)
		r.last = namedSchema{}
	}
}

// Misfits implements decode.ClassReader.
func (r *classReader) Misfits(*decode.Error) bool { return r.misfit != nil }

// Distrust implements decode.ClassReader.
func (r *classReader) Distrust(err *decode.Error) { r.distrust = err }

// Fault implements decode.Faulter.
func (r *classReader) Fault() *decode.Error {
	if r.misfit != nil {
		return r.misfit
	}
	return r.fault
}

// note keeps why a part could not be read.
func (r *Reader) note(err *decode.Error) {
	if r.library == nil {
		return
	}
	own := *err
	if r.fault == nil {
		r.fault = &own
	}
	if r.misfit == nil && r.entered && r.distrust == nil && own.Class == "" && own.Misfit == nil && !r.OK() {
		r.misfit = &own
	}
}

// misfits fails because bytes at an offset are not what the class path says.
func (r *Reader) misfits(off int, expected, found string) {
	cause := decode.Malformed
	if r.library == nil {
		cause = decode.Unsupported
	}
	r.FailAt(off, cause, expected, found)
}

// schemaOf returns what is known of a class, nil without a library, if the class is not in the class path, or if it does not fit.
func (r *Reader) schemaOf(class string) *schema {
	if r.library == nil || r.distrust != nil {
		return nil
	}
	s := r.find(class)
	if s == nil || s.missing != "" {
		return nil
	}
	return s
}

// find returns the schema of a class, nil if that cannot be the name of one.
func (r *Reader) find(class string) *schema {
	if r.last.schema != nil && r.last.name == class {
		return r.last.schema
	}
	if s := r.known[class]; s != nil {
		r.last = namedSchema{class, s}
		return s
	}
	if !decode.IsClassName(class) {
		return nil
	}
	s := r.library.schema(class).built()
	if len(r.known) >= maxSchemas || r.known == nil {
		r.known = map[string]*schema{}
	}
	r.known[class] = s
	return s
}

// usable returns the schema by which objects of a class are read, and notes why they are not, if it is nil.
func (r *Reader) usable(class string) *schema {
	switch {
	case r.library == nil || !r.OK():
		return nil
	case r.distrust != nil:
		err := *r.distrust
		err.At = r.Off
		r.note(&err)
		return nil
	}
	s := r.find(class)
	switch {
	case s == nil:
		r.note(&decode.Error{Cause: decode.Unsupported, At: r.Off, Expected: "the name of a class", Found: "other bytes"})
		return nil
	case s.missing != "":
		s.ask()
		r.note(&decode.Error{
			Cause: decode.Unsupported, At: r.Off, Expected: "the fields of class " + class,
			Found: "fields that cannot be named without the class definition", Class: s.missing,
		})
		return nil
	case s.refused != "":
		r.note(&decode.Error{Cause: decode.Unsupported, At: r.Off, Expected: "the fields of class " + class, Found: s.refused})
		return nil
	}
	return s
}

// use notes that fields of a class are read.
func (r *Reader) use(s *schema) {
	r.entered = true
	if n := len(r.used); n > 0 && r.used[n-1] == s {
		return
	}
	if !slices.Contains(r.used, s) {
		s.ask()
		r.used = append(r.used, s)
	}
}

// allows reports whether the declared type of a value allows a member of a dynamic message, and fails if it does not.
func (r *Reader) allows(x *shape, id uint64, off int) bool {
	if x == nil || x == anyObject || !r.OK() {
		return r.OK()
	}
	ok := true
	switch name := x.name; {
	case name == "java.lang.Number":
		ok = id >= idByte && id <= idDouble && id != idChar || id == idBigDecimal || id == idBigInteger || id == idPojo
	case name == "java.lang.Class":
		ok = id >= idClass && id <= idClassArray+1
	case name == "java.lang.Enum":
		ok = id == idEnum
	case !decode.IsJDKClass(name):
		ok = id == idEnum || id == idCollection || id == idMap || id == idDelegate || id == idThrowable || id == idPojo
	}
	if !ok {
		r.misfits(off, "an object of class "+decode.JavaName(x.name), "another one")
	}
	return ok
}

// checkClass fails if the declared type of a value does not allow objects of a class.
func (r *Reader) checkClass(x *shape, class string, off int) {
	if x == nil || x == anyObject || decode.IsJDKClass(x.name) || x.name == "" || strings.HasPrefix(x.name, "[") || r.distrust != nil {
		return
	}
	if is, err := r.library.types.Is(class, x.name); err == nil && !is {
		r.misfits(off, "an object of class "+decode.JavaName(x.name), "one of class "+class)
	}
}

// Used implements decode.VaryingReader.
func (r *classReader) Used() []decode.UsedClass {
	used := make([]decode.UsedClass, 0, len(r.used))
	for _, s := range r.used {
		if decode.IsJDKClass(s.name) {
			continue
		}
		u := decode.UsedClass{Name: s.name}
		for i := range s.fields {
			u.Fields = append(u.Fields, s.fields[i].name)
		}
		used = append(used, u)
	}
	return used
}

// Stopped implements decode.VaryingReader.
func (r *classReader) Stopped() (class, field string) {
	if r.within.of == nil {
		return "", ""
	}
	if r.within.field != nil {
		field = r.within.field.name
	}
	return decode.JavaName(r.within.of.name), field
}

// Vary implements decode.VaryingReader.
func (r *classReader) Vary(v *decode.Variation) bool {
	r.variation, r.varies = v, nil
	return true
}

// vary returns the fields that a class with another field, or without one, has: those after it have other numbers.
func (r *Reader) vary(s *schema) []field {
	if r.varies == s {
		return r.varied
	}
	v := r.variation
	fields := append(make([]field, 0, len(s.fields)+1), s.fields...)
	added := field{name: "#added", always: len(v.Type) == 1}
	if v.Type != "" {
		class := className(v.Type)
		added.shape = anyObject
		if id := inline[class]; id != 0 {
			added.shape = &shape{kind: scalarKind, name: class, id: id}
		}
	}
	last := func(i int) uint64 {
		if i == 0 {
			return 0
		}
		return fields[i-1].number
	}
	switch {
	case v.Type == "" && v.Index < len(fields):
		fields = slices.Delete(fields, v.Index, v.Index+1)
		for i := v.Index; i < len(fields); i++ {
			fields[i].number--
		}
	case v.Type != "" && v.Replaces:
		added.number, added.name = fields[v.Index].number, fields[v.Index].name
		fields[v.Index] = added
	case v.Type != "":
		at := min(v.Index, len(fields))
		added.number = last(at) + 1
		fields = slices.Insert(fields, at, added)
		for i := at + 1; i < len(fields); i++ {
			fields[i].number++
		}
	}
	r.varies, r.varied = s, fields
	r.variedSimple = appendSimple(r.variedSimple[:0], fields)
	return fields
}
