package java

import (
	"encoding/binary"
	"time"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

func be16(b []byte) uint16 { return binary.BigEndian.Uint16(b) }
func be32(b []byte) uint32 { return binary.BigEndian.Uint32(b) }

// collSerMap is the tag of a map in java.util.CollSer; 1 is a list, 2 a set.
const collSerMap = 3

const bigInteger = "java.math.BigInteger"

// Bounds of numbers that are printed, in bytes of their magnitude: conversion takes more than linear time, and many
// BigDecimals may share one magnitude.
const (
	maxMagnitude = 1 << 12
	maxShared    = 1 << 6
)

// A BigInteger is a sign and a magnitude, a BigDecimal a scale and a BigInteger. While it is read its node keeps
// the sign in Num, the scale in Float and the magnitude in Raw.

// magnitude takes a byte array as the magnitude of the number that is node i.
func (r *Reader) magnitude(i int) {
	at := r.Off
	r.unwrap(i, whole)
	if r.Off-at > maxShared { // it may be too long to be written out
		r.NeedTree()
	}
}

// unscaled takes a BigInteger, or a reference to one, into the BigDecimal that is node i.
func (r *Reader) unscaled(i int) {
	tc, _ := r.Peek()
	if tc != tcReference {
		r.unwrap(i, whole)
		return
	}
	r.Off++
	h, ok := r.refer()
	r.Role("ref")
	n := r.Tree.Node(i)
	if n == nil || !r.OK() || !ok || r.handles[h].kind != toInteger || r.handles[h].node < 0 {
		return
	}
	from := &r.Tree.Nodes[r.handles[h].node]
	if from.Kind == decode.Overhead {
		n.Kind = decode.Opaque
		return
	}
	n.Kind, n.Num, n.Raw = decode.Bytes, from.Num, from.Raw
	if len(n.Raw) > maxShared {
		n.Kind = decode.Opaque
	}
}

// decimalText turns node i into a number, after its sign, magnitude and scale were read.
func (r *Reader) decimalText(i int, s shape) {
	n := r.Tree.Node(i)
	if n == nil || !r.OK() || n.Kind != decode.Bytes && n.Kind != decode.Decimal {
		return
	}
	n.Kind = decode.Decimal
	if s == shapeBigDecimal {
		n.Class = "java.math.BigDecimal"
	}
	if !r.Values() {
		return
	}
	if len(n.Raw) > maxMagnitude {
		n.Kind = decode.Opaque
		return
	}
	n.Text = jdk.Integer(n.Raw, n.Num < 0).String()
	if s == shapeBigDecimal {
		n.Text = jdk.Decimal(n.Text, int32(n.Float))
	}
}

// integerText returns the text of a BigInteger that lies within the BigDecimal of node n; handle h refers to it.
func (r *Reader) integerText(h int32, n *decode.Node) string {
	if s, ok := r.texts[h]; ok {
		return s
	}
	return r.keep(h, jdk.Integer(n.Raw, n.Num < 0).String())
}

// dateOf fills n with a java.util.Date: milliseconds since 1970.
func dateOf(n *decode.Node, b []byte, values bool) bool {
	if len(b) != 8 {
		return false
	}
	n.Kind = decode.Date
	n.Num = int64(binary.BigEndian.Uint64(b))
	if values {
		n.Text = jdk.Instant(time.UnixMilli(n.Num))
	}
	return true
}

// addNanos adds the nanoseconds of the second to a java.sql.Timestamp, of which n has the milliseconds.
func addNanos(n *decode.Node, nanos int32) {
	if n.Kind != decode.Date || n.Text == "" {
		return
	}
	n.Text = jdk.Instant(time.Unix(time.UnixMilli(n.Num).Unix(), int64(nanos)))
}
