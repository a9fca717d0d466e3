package classfile

import (
	"encoding/binary"
	"math"
	"strings"
)

// Annotation is an annotation that a serialization reads at run time (JVMS 4.7.16). Only those of [serializers] are kept.
type Annotation struct {
	// Type is the annotation's class: com.esotericsoftware.kryo.serializers.TaggedFieldSerializer$Tag.
	Type string
	// Elements are the values that were written down, in order; defaults are not among them.
	Elements []Element
}

// Element is a named value of an annotation.
type Element struct {
	Name string
	// Value is an int32, int64, float32, float64, bool or string; a char is an int32; a class is a [*Type], an enum constant an
	// [EnumConstant], an annotation an [Annotation], an array a []any.
	Value any
}

// EnumConstant is a constant of an enum in an annotation.
type EnumConstant struct{ Type, Name string }

// Get returns the value of an element, nil if it was not written down.
func (a *Annotation) Get(name string) any {
	for i := range a.Elements {
		if a.Elements[i].Name == name {
			return a.Elements[i].Value
		}
	}
	return nil
}

// serializers are the packages whose annotations change what is written for a class or field.
var serializers = []string{
	"com.esotericsoftware.kryo.",                    // Kryo 4 and 5: DefaultSerializer, Bind, Optional, NotNull, Tag, Since, BindCollection, BindMap
	"org.nustaq.serialization.annotations.",         // FST 2: Version, Transient, Flat, Predict, OneOf, EqualnessIsIdentity, Serialize …
	"de.ruedigermoeller.serialization.annotations.", // FST 1
	"io.protostuff.",                                // Protostuff: Tag, Exclude, Morph
	"com.dyuproject.protostuff.",
	"org.apache.avro.reflect.",                    // AvroName, AvroIgnore, Nullable, Stringable, Union …
	"org.apache.avro.specific.",                   // FixedSize
	"org.msgpack.annotation.",                     // Message, Ignore, Optional …
	"com.baidu.bjf.remoting.protobuf.annotation.", // jprotobuf: Protobuf, ProtobufClass, Ignore
	"org.apache.fury.annotation.", "io.fury.annotation.", "org.furyio.fury.annotations.", "org.apache.fory.annotation.",
	"com.alibaba.fastjson.annotation.", // JSONField, JSONType
	"com.alibaba.fastjson2.annotation.",
	"com.google.gson.annotations.", // SerializedName, Expose, Since, Until, JsonAdapter
	"com.fasterxml.jackson.annotation.", "com.fasterxml.jackson.databind.annotation.",
	"java.beans.Transient",
	"java.lang.Deprecated", // Kryo does not write such fields with a tag
}

// isSerializers reports whether annotations of a type are kept.
func isSerializers(name string) bool {
	for _, prefix := range serializers {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// annotations reads a RuntimeVisibleAnnotations attribute.
func (p *parser) annotations(r *reader) []Annotation {
	var all []Annotation
	for range r.u2() {
		if p.values > maxValues {
			r.fail(r.at, "more than %d annotations", maxValues)
		}
		if r.err != nil {
			break
		}
		if a, kept := p.annotation(r, 0, false); kept {
			all = append(all, a)
		}
	}
	return all
}

// annotation reads an annotation. kept is false if it is not one of a serialization's; within another one, kept is given.
func (p *parser) annotation(r *reader, depth int, within bool) (a Annotation, kept bool) {
	a.Type = p.named(r, "the type of an annotation")
	kept = within || p.allAnnotations || isSerializers(a.Type)
	if kept {
		p.values++
	}
	for range r.u2() {
		if r.err != nil {
			break
		}
		e := Element{Name: p.pool.text(r, r.u2(), "the name of an annotation's element")}
		e.Value = p.elementValue(r, depth, kept)
		if kept {
			a.Elements = append(a.Elements, e)
		}
	}
	return a, kept
}

// named reads the descriptor of a class, and returns its name.
func (p *parser) named(r *reader, what string) string {
	i := r.u2()
	t := p.fieldType(i)
	if t == nil || t.Kind != Object {
		r.fail(r.at-2, "constant pool entry %d should be %s", i, what)
		return ""
	}
	return t.Name
}

// elementValue reads the value of an element (JVMS 4.7.16.1).
func (p *parser) elementValue(r *reader, depth int, kept bool) any {
	if p.values > maxValues {
		r.fail(r.at, "more than %d values in annotations", maxValues)
		return nil
	}
	if depth > maxValueDepth {
		r.fail(r.at, "more than %d annotations or arrays in each other", maxValueDepth)
		return nil
	}
	if kept {
		p.values++
	}
	at := r.at
	switch tag := r.u1(); tag {
	case 'B', 'C', 'I', 'S', 'Z', 'D', 'F', 'J', 's':
		return p.constant(r, r.u2(), byte(tag))
	case 'e':
		t := p.named(r, "an enum type")
		return EnumConstant{Type: t, Name: p.pool.text(r, r.u2(), "an enum constant")}
	case 'c':
		i := r.u2()
		t := p.fieldType(i)
		if string(p.pool.raw(i)) == "V" {
			t = primitives['V']
		}
		if r.err == nil && t == nil {
			r.fail(at, "constant pool entry %d should be the descriptor of a class", i)
		}
		return t
	case '@':
		a, _ := p.annotation(r, depth+1, kept)
		return a
	case '[':
		var all []any
		for range r.u2() {
			if r.err != nil {
				break
			}
			if v := p.elementValue(r, depth+1, kept); kept {
				all = append(all, v)
			}
		}
		return all
	default:
		r.fail(at, "unknown tag %d of an annotation's value", tag)
		return nil
	}
}

// constant returns a constant of the pool as a value of the primitive type tag, or of a string: s.
func (p *parser) constant(r *reader, i int, tag byte) any {
	if tag == 's' {
		return p.pool.text(r, i, "a string")
	}
	switch p.pool.tag(i) {
	case tagInteger:
		v := int32(binary.BigEndian.Uint32(p.pool.entry(i, tagInteger)))
		if tag == 'Z' {
			return v != 0
		}
		return v
	case tagInteger + 1:
		return math.Float32frombits(binary.BigEndian.Uint32(p.pool.entry(i, tagInteger+1)))
	case tagLong:
		return int64(binary.BigEndian.Uint64(p.pool.entry(i, tagLong)))
	case tagDouble:
		return math.Float64frombits(binary.BigEndian.Uint64(p.pool.entry(i, tagDouble)))
	}
	r.fail(r.at, "constant pool entry %d should be a number", i)
	return nil
}
