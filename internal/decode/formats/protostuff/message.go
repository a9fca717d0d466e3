package protostuff

import (
	"encoding/binary"
	"fmt"
	"math"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// header has the offsets of the bytes before a value: the end of the two lengths, the end of the class name.
type header struct{ lengths, class int }

// head opens the node of a value and records its header.
func (r *Reader) head(k decode.Kind, p decode.Place, h header, class string) int {
	i := r.Open(k, p.Label, p.Name, p.Index)
	if n := r.Tree.Node(i); n != nil && class != wrapper {
		n.Class = class
	}
	r.UpTo(h.lengths, "length")
	r.UpTo(h.class, "class")
	return i
}

// scalar records a message that is one value: the node owns the message.
func (r *Reader) scalar(k decode.Kind, p decode.Place, h header) *decode.Node {
	i := r.head(k, p, h, "")
	r.Fill(i)
	r.Close()
	if !r.OK() {
		return nil
	}
	return r.Tree.Node(i)
}

// message takes the fields of an object to the end of the buffer. It fails for classes that are not read.
func (r *Reader) message(class string, p decode.Place, h header) {
	switch class {
	case wrapper:
		r.wrapped(p, h)
	case "java.lang.String":
		r.javaString(p, h)
	case "java.lang.Boolean", "java.lang.Byte", "java.lang.Short", "java.lang.Integer", "java.lang.Long", "java.lang.Character", "java.lang.Float", "java.lang.Double":
		r.box(class, p, h)
	case "java.math.BigInteger":
		r.bigInteger(p, h)
	case "java.util.UUID":
		r.head(decode.Object, p, h, class)
		r.uuid()
		r.Close()
	case "java.util.Collections$EmptyList", "java.util.Collections$EmptySet":
		r.head(decode.List, p, h, "")
		r.Close()
	case "java.util.Collections$EmptyMap":
		r.head(decode.Map, p, h, "")
		r.Close()
	case "java.util.Arrays$ArrayList":
		r.wrapped(p, h)
	default:
		if r.inParts(class) {
			s := r.parts(class)
			if n := r.scalar(decode.Date, p, h); n != nil && r.Values() {
				n.Text = s()
			}
			return
		}
		s := r.usable(class)
		switch {
		case s != nil && s.constantOf != "":
			var v leaf
			r.constantWithBody(s, nested{outer: r.Buf}, &v)
			r.one(&v, p, h)
		case s != nil && isCollection(class):
			r.ownCollection(s, p, h)
		case s != nil:
			r.head(decode.Object, p, h, class)
			r.members(s, nested{outer: r.Buf})
			r.Close()
		case p.Throwable:
			r.throwable(class, p, h)
		default:
			r.Fail(decode.Unsupported, "the fields of class "+class, "numbers of fields")
		}
	}
}

// constantWithBody takes a constant of an enum that has a class of its own: Dubbo does not take it for a constant, so that it is written as
// an object, with the private fields of Enum, and by ObjectSchema from then on.
func (r *Reader) constantWithBody(s *schema, m nested, v *leaf) {
	r.use(s)
	r.expect(tagOf(1, delimited))
	off := r.Off
	name := r.delimited("the name of a constant")
	ordinal := int32(r.field(2))
	if of := r.schemaOf(s.constantOf); of != nil && r.OK() && (int(ordinal) >= len(of.ordinals) || ordinal < 0 || of.ordinals[ordinal] != string(name)) {
		r.misfits(off, "constant "+fmt.Sprint(ordinal)+" of enum "+s.constantOf, "another one")
	}
	r.unseen(m) // fields of its own
	v.kind, v.class, v.num, v.name = decode.Enum, s.constantOf, uint64(ordinal), r.text(name)
}

// wrapped takes the one field of a Wrapper: nothing for null, else an object of any class. A list made by
// Arrays.asList looks the same.
func (r *Reader) wrapped(p decode.Place, h header) {
	if r.Left() == 0 {
		r.scalar(decode.Null, p, h)
		return
	}
	r.dynamic(p, anyObject, r.part(1), h)
}

// throwable takes an exception's message; its other fields are opaque.
func (r *Reader) throwable(class string, p decode.Place, h header) {
	r.head(decode.Object, p, h, class)
	if b, _ := r.Peek(); b == byte(tagOf(1, delimited)) {
		r.Off++
		raw := r.delimited("a message")
		r.FillUTF8(r.Leaf(decode.String, decode.ByField, "detailMessage", 0), raw)
	}
	if n := r.Left(); n > 0 {
		r.Skip(n, "")
		r.Leaf(decode.Opaque, decode.Whole, "opaque", 0)
	}
	r.Close()
}

// javaString takes the private fields that String has since JDK 9: bytes, coder, hash, whether the hash is 0.
func (r *Reader) javaString(p decode.Place, h header) {
	r.expect(tagOf(1, delimited))
	raw := r.delimited("the bytes of a string")
	r.expect(tagOf(2, varintWire))
	coder := r.varint("a coder")
	for r.Left() > 0 && r.OK() {
		if f, w := r.tag(); f < 3 || f > 4 || w != varintWire {
			r.Fail(decode.Unsupported, "a field of String", fmt.Sprintf("field %d", f))
		}
		r.varint("a hash")
	}
	if coder > 1 {
		r.Fail(decode.Malformed, "a coder, 0 or 1", fmt.Sprint(coder))
	}
	switch n := r.scalar(decode.String, p, h); {
	case n == nil || !r.Values():
	case coder == 0:
		n.Text = decode.Latin1(raw)
	default:
		n.Text = decode.UTF16(raw, binary.LittleEndian) // the order of nearly every machine that runs Java
	}
}

// box takes the one field of a box.
func (r *Reader) box(class string, p decode.Place, h header) {
	s := scalars[class]
	r.expect(tagOf(1, s.wire))
	v := r.raw(s.wire)
	if n := r.scalar(s.kind, p, h); n != nil {
		s.set(n, v)
		r.classify(n, s)
	}
}

// classify gives a box its class, which estimates need. Without the application's classes there is nothing to estimate.
func (r *Reader) classify(n *decode.Node, s scalarType) {
	if r.library != nil {
		n.Class = s.class
	}
}

// A scalarType is how a primitive type, or its box, is written.
type scalarType struct {
	wire  byte
	kind  decode.Kind
	bits  int
	class string // of the box, where the value does not tell it
}

var scalars = map[string]scalarType{
	"java.lang.Boolean":   {varintWire, decode.Bool, 1, ""},
	"java.lang.Byte":      {varintWire, decode.Int, 8, "java.lang.Byte"},
	"java.lang.Character": {varintWire, decode.Char, 16, ""},
	"java.lang.Short":     {varintWire, decode.Int, 16, "java.lang.Short"},
	"java.lang.Integer":   {varintWire, decode.Int, 32, "java.lang.Integer"},
	"java.lang.Long":      {varintWire, decode.Int, 64, "java.lang.Long"},
	"java.lang.Float":     {fixed32Wire, decode.Float32, 32, ""},
	"java.lang.Double":    {fixed64Wire, decode.Float64, 64, ""},
}

// set fills a node from the raw number.
func (s scalarType) set(n *decode.Node, v uint64) {
	switch {
	case s.kind == decode.Bool:
		n.Num = int64(min(v, 1))
	case s.kind == decode.Char:
		n.Text = string(rune(uint16(v)))
	case s.kind == decode.Float32:
		n.Float = float64(math.Float32frombits(uint32(v)))
	case s.kind == decode.Float64:
		n.Float = math.Float64frombits(v)
	case s.bits == 8:
		n.Num = int64(int8(v))
	case s.bits == 16:
		n.Num = int64(int16(v))
	case s.bits == 32:
		n.Num = int64(int32(v))
	default:
		n.Num = int64(v)
	}
}

// maxWords limits the numbers that are printed, in words of 32 bits: conversion to decimal is not linear.
const maxWords = 1024

// bigInteger takes the private fields of BigInteger: sign, magnitude as an int[] (1 length, 2 elements), caches.
func (r *Reader) bigInteger(p decode.Place, h header) {
	r.expect(tagOf(1, varintWire))
	sign := int32(r.varint("a sign"))
	ints := r.part(2)
	r.expect(tagOf(1, varintWire))
	r.varint("a length")
	var mag []byte
	for r.OK() {
		f, w, more := r.next(ints)
		if !more {
			break
		}
		if f != 2 || w != varintWire || len(mag) >= 4*maxWords {
			r.Fail(decode.Unsupported, "an int of the magnitude", fmt.Sprintf("field %d", f))
		}
		mag = binary.BigEndian.AppendUint32(mag, uint32(r.varint("an int")))
	}
	for r.Left() > 0 && r.OK() {
		if f, w := r.tag(); f < 3 || w != varintWire {
			r.Fail(decode.Unsupported, "a field of BigInteger", fmt.Sprintf("field %d", f))
		}
		r.varint("a cached number")
	}
	if n := r.scalar(decode.Decimal, p, h); n != nil && r.Values() {
		n.Text = jdk.Integer(mag, sign < 0).String()
	}
}

// uuid takes the private fields of a UUID as its text.
func (r *Reader) uuid() {
	hi, lo := r.field(1), r.field(2)
	if n := r.Leaf(decode.String, decode.ByField, "value", 0); n != nil && r.Values() {
		n.Text = jdk.UUID(hi, lo)
	}
}

// field takes a varint field with a given number.
func (r *Reader) field(n uint64) uint64 {
	r.expect(tagOf(n, varintWire))
	return r.varint("a number")
}
