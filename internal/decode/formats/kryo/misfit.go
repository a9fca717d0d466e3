package kryo

import (
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
)

// classReader is a Reader that knows classes of the application.
type classReader struct {
	*Reader
	libraries [2]*library // by side
	older     [2]*library // the same, of the older release
	side      decode.Side
}

// WrittenBy implements decode.ClassReader.
func (r *classReader) WrittenBy(s decode.Side) {
	r.side = s
	if r.d.isKryo224 {
		r.know(r.older[s])
	} else {
		r.know(r.libraries[s])
	}
}

// SetOlder implements decode.OlderReader.
func (r *classReader) SetOlder(older bool) {
	r.Reader.SetOlder(older)
	r.WrittenBy(r.side)
}

// know makes r read objects by the classes of a library.
func (r *Reader) know(l *library) {
	if l != r.library {
		r.library = l
		clear(r.named)
		clear(r.allowed)
		clear(r.declares)
	}
}

// ResultType implements decode.ResultReader.
func (r *classReader) ResultType(s decode.Side, service, method string, parameters []string) string {
	needed := r.untagged || len(r.library.numbers.unordered) > 0
	return r.library.path.ReturnType(s, service, method, parameters, needed)
}

// SetNumbers implements decode.NumberReader.
func (r *classReader) SetNumbers(n decode.Numbers) { r.told = n }

// Numbers implements decode.NumberReader.
func (r *classReader) Numbers() decode.Numbers { return r.told }

// Misfits implements decode.ClassReader.
func (r *classReader) Misfits(err *decode.Error) bool {
	if r.misread {
		return true
	}
	if err.Cause == decode.Malformed || err.Cause == decode.Limit || r.garbage {
		return r.strict() || r.listed
	}
	return r.strict() && strings.HasPrefix(err.Class, "#") // may be another byte, if the fields before it were misread
}

// Listed implements decode.ListReader.
func (r *classReader) Listed() bool { return r.listed }

// SetRefuted implements decode.ListReader.
func (r *classReader) SetRefuted(refuted bool) { r.refuted = refuted }

// Refuted implements decode.ListReader.
func (r *classReader) Refuted() bool { return r.refuted }

// Distrust implements decode.ClassReader.
func (r *classReader) Distrust(err *decode.Error) { r.distrust = err }

// distrusted stops at an object of the application if its class does not fit the bytes.
func (r *Reader) distrusted(cl *class, p decode.Place) bool {
	if r.distrust == nil || isJDK(cl.name) {
		return false
	}
	r.open(p, decode.Object, cl)
	r.FailWith(r.distrust)
	return true
}

// use notes that fields of a class were read.
func (r *Reader) use(cl *class) {
	for _, used := range r.used {
		if used == cl {
			return
		}
	}
	r.ask(cl)
	r.used = append(r.used, cl)
}

// strict reports whether bytes are checked more than Kryo does, since they may not be what the class path says.
func (r *Reader) strict() bool { return len(r.used) > 0 }

// Used implements decode.VaryingReader.
func (r *classReader) Used() []decode.UsedClass {
	used := make([]decode.UsedClass, 0, len(r.used))
	for _, cl := range r.used {
		if isJDK(cl.name) {
			continue
		}
		u := decode.UsedClass{Name: cl.name}
		for _, f := range cl.fieldsOf().fields {
			u.Fields = append(u.Fields, f.name)
		}
		used = append(used, u)
	}
	return used
}

// Stopped implements decode.VaryingReader.
func (r *classReader) Stopped() (class, field string) {
	if r.within.class == nil {
		return "", ""
	}
	if fields := r.within.fields; r.within.field < len(fields) {
		field = fields[r.within.field].name
	}
	return decode.JavaName(r.within.class.name), field
}

// Vary implements decode.VaryingReader. Fields are written by name, and so there may be one of any type at any place.
func (r *classReader) Vary(v *decode.Variation) bool {
	r.variation, r.varied, r.varies = v, plan{}, nil
	if v != nil && v.Type != "" && r.library.class(v.Class).layout == compatible {
		return v.Replaces && !r.d.isKryo5 // else the body names the field, in Kryo 5 also the class of its value
	}
	return true
}

// vary returns the plan that a class with another field, or without one, has.
func (r *Reader) vary(p *plan) *plan {
	if r.varies == p {
		return &r.varied
	}
	v := r.variation
	r.varies, r.varied = p, *p
	fields := append(r.variedFields[:0], p.fields...) // one after the other: there may be thousands
	switch {
	case v.Type == "" && v.Index < len(fields):
		fields = slices.Delete(fields, v.Index, v.Index+1)
	case v.Type != "":
		added := field{name: "#added", typ: v.Type, class: r.library.describe(v.Type), added: true}
		if len(v.Type) > 1 {
			added.kind = added.class.kind()
		}
		if v.Replaces {
			is := &fields[min(v.Index, len(fields)-1)]
			added.tag, added.annexed, added.since, added.added = is.tag, is.annexed, is.since, false
			added.name = is.name
			*is = added
			break
		}
		fields = slices.Insert(fields, min(v.Index, len(fields)), added)
	}
	r.varied.fields, r.variedFields = fields, fields
	return &r.varied
}
