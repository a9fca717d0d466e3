package kryo

import (
	"fmt"
	"slices"
	"strconv"

	"dubbo-wire/internal/decode"
)

// Serializers of Kryo that write fields in other ways than FieldSerializer does, for classes with annotation @DefaultSerializer:
// each field after its tag; a version; the names of the fields before the first object of a class.

// tagged takes what TaggedFieldSerializer wrote: a count, in Kryo 5 one more, and fields after their tags.
func (r *Reader) tagged(cl *class, plan *plan) {
	at := r.Off
	n := int64(r.varint("the number of fields"))
	if r.d.isKryo5 {
		n--
	}
	if most := len(plan.fields); n < 0 || n > int64(most) && r.OK() {
		r.misread = true
		r.FailAt(at, decode.Malformed, fmt.Sprintf("the number of fields with a tag, up to %d", most), fmt.Sprint(n))
	}
	r.Role("length")
	r.otherVersion = r.otherVersion || n != int64(plan.written)
	o := r.beginChunked()
	defer r.endChunked()
	last := -1
	for range n {
		at := r.Off
		tag := r.varint("a tag")
		i := slices.IndexFunc(plan.fields, func(f field) bool { return f.tag == tag && !f.added })
		if i < 0 && last+1 < len(plan.fields) && plan.fields[last+1].added {
			i = last + 1
		}
		r.within = place{cl, plan.fields, last + 1}
		switch {
		case !r.OK():
			return
		case i < 0:
			r.misread = true
			r.FailAt(at, decode.Malformed, "a tag of class "+cl.name, "tag "+strconv.Itoa(int(tag))+", which no field of the class path has")
			return
		}
		r.Role("field")
		last = i
		r.within.field = i
		if f := &plan.fields[i]; f.annexed {
			r.chunkedField(&o, f)
		} else {
			r.field(f, nil)
		}
		if !r.OK() {
			return
		}
	}
}

// chunkedField takes a field whose data are in chunks.
func (r *Reader) chunkedField(o *chunked, f *field) {
	var c chunks
	if r.openChunks(o, &c) {
		r.field(f, nil)
		r.closeChunks(&c)
	}
}

// versioned takes what VersionFieldSerializer wrote: the version of the class, in Kryo 5 one more, and the fields of that version.
func (r *Reader) versioned(cl *class, plan *plan) {
	at := r.Off
	version := int64(r.varint("the version of a class"))
	if r.d.isKryo5 {
		version--
	}
	varied := plan == &r.varied
	if r.OK() && (version < 0 || version > int64(plan.version) && !varied) {
		r.misread = true
		r.within = place{cl, nil, 0}
		r.FailAt(at, decode.Malformed, fmt.Sprintf("version %d of class %s, as in the class path, or an earlier one", plan.version, cl.name), fmt.Sprint("version ", version))
	}
	r.Role("type")
	r.otherVersion = r.otherVersion || version != int64(plan.version)
	for i := range plan.fields {
		f := &plan.fields[i]
		if int64(f.since) > version {
			continue
		}
		r.within = place{cl, plan.fields, i}
		if r.field(f, nil); !r.OK() {
			return
		}
	}
}

// schema is the fields of a class as CompatibleFieldSerializer names them, before the first object of the class in a top-level object.
type schema struct {
	class  *class
	fields []schemaField
}

type schemaField struct {
	number int    // in the plan, -1 if that does not have it
	name   string // in that case
}

// maxSchemaFields bounds the fields of a class.
const maxSchemaFields = 1 << 12

// schemaOf returns the fields of a class, which it takes if this is the first object of the class.
func (r *Reader) schemaOf(cl *class, plan *plan) []schemaField {
	for i := range r.schemas {
		if r.schemas[i].class == cl {
			return r.schemas[i].fields
		}
	}
	n, _ := r.count("the number of fields", 1, 0)
	if n > maxSchemaFields {
		r.Fail(decode.Limit, fmt.Sprintf("at most %d fields of a class", maxSchemaFields), fmt.Sprint(n))
	}
	r.Role("length")
	var fields []schemaField
	if k := len(r.schemas); k < cap(r.schemas) {
		fields = r.schemas[:k+1][k].fields[:0] // keeps the memory of an earlier body
	}
	next := 0
	for range n {
		at := r.Off
		x := r.text()
		if !r.OK() {
			return nil
		}
		f := schemaField{number: -1}
		for k := range plan.fields {
			i := (next + k) % len(plan.fields)
			if w := &plan.fields[i]; !w.added && x.is(fieldName(w.name)) && !slices.Contains(fields, schemaField{number: i}) {
				f.number, next = i, i+1
				break
			}
		}
		if f.number < 0 {
			f.name = r.Name([]byte(x.decode()))
			if x.null || !decode.CanBeName(f.name) || f.name == "" {
				r.misread = true
				r.FailAt(at, decode.Malformed, "the name of a field of class "+cl.name, strconv.Quote(f.name[:min(len(f.name), 64)]))
				return nil
			}
		}
		fields = append(fields, f)
		r.Role("field")
	}
	r.otherVersion = r.otherVersion || n != len(plan.fields) || slices.ContainsFunc(fields, func(f schemaField) bool { return f.number < 0 })
	r.schemas = append(r.schemas, schema{cl, fields})
	return fields
}

// compatible takes what CompatibleFieldSerializer wrote: in Kryo 4 each field in chunks, in Kryo 5 after the class of its value.
func (r *Reader) compatible(cl *class, plan *plan) {
	fields := r.schemaOf(cl, plan)
	o := r.beginChunked()
	defer r.endChunked()
	for _, s := range fields {
		r.within = place{cl, plan.fields, s.number}
		var f *field
		if s.number >= 0 {
			f = &plan.fields[s.number]
		} else {
			r.within.field = len(plan.fields)
		}
		switch {
		case r.d.isKryo5 && f == nil:
			r.otherField(cl, s.name)
		case r.d.isKryo5:
			r.classedField(f)
		case f == nil:
			r.skipChunks(&o, cl, s.name)
		default:
			r.chunkedField(&o, f)
		}
		if !r.OK() {
			return
		}
	}
}

// classedField takes the class of a value and the value, which is not null.
func (r *Reader) classedField(f *field) {
	p := r.At(decode.ByField, f.name, 0)
	if f.problem != "" {
		r.failField(f)
		return
	}
	cl := r.class(&p)
	switch {
	case !r.OK():
	case cl == nil:
		r.Scalar(p, decode.Null)
	case f.kind == primitiveField && cl.layout == f.class.layout:
		r.primitive(f, p)
	case f.kind == primitiveField || !r.fits(cl, f.class):
		r.misread = true
		r.FailAt(p.Start, decode.Malformed, "a value of "+f.class.name, "one of "+cl.name)
	default:
		if f.generic != nil {
			r.generics.push(f.generic)
		}
		r.nonNull(r.library.writtenBy(cl, f.by), p)
		if f.generic != nil {
			r.generics.pop()
		}
	}
}

// otherField takes a field of Kryo 5's that the class of the class path does not have.
func (r *Reader) otherField(of *class, name string) {
	p := r.At(decode.ByField, name, decode.Undeclared)
	cl := r.class(&p)
	switch {
	case !r.OK():
	case cl == nil:
		r.Scalar(p, decode.Null)
	case cl.isGeneric():
		// The type arguments of the declared type decide how it is written.
		r.open(p, decode.Object, cl)
		r.Fail(decode.Unsupported, "field "+name+" of class "+of.name, "an object whose type arguments only the writer's version of the class tells")
	default:
		r.nonNull(cl, p)
	}
}

// isGeneric reports whether the type arguments of a field decide how Kryo 5 writes objects of this class.
func (c *class) isGeneric() bool {
	switch {
	case c.elem != nil:
		return c.layout == array && c.elem.isGeneric()
	case c.layout >= collection && c.layout <= singleMap, c.layout == optional, c.layout == pair, c.layout == wrapped:
		return true
	}
	return c.model != nil && c.layout >= object && c.layout <= versioned && len(c.fieldsOf().variables.variables) > 0
}
