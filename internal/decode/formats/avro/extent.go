package avro

import (
	"bytes"
	"math"
	"strings"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// The rules in this file are those of Java's writer, measured with avro 1.8.2 and 1.11.3: an item of an array is never null
// (the writer throws), an array is one block, a varint has no more bytes than it needs, a boolean is 0 or 1, a text is
// UTF-8, and a collection as an argument throws, whatever its class.

// A presence is what an argument of a type can be on the wire.
type presence uint8

const (
	undecided presence = iota // a class decides: any bytes, or none
	datum                     // bytes whose type tells their end; none for null, unless the type is primitive
	fieldless                 // nothing: null, or a record without fields
	onlyNull                  // nothing: null, since anything else cannot be written
)

// collections are types whose values the writer cannot write, except null.
var collections = map[string]bool{
	"Ljava/util/Collection;": true, "Ljava/util/List;": true, "Ljava/util/Set;": true, "Ljava/util/SortedSet;": true,
	"Ljava/util/NavigableSet;": true, "Ljava/util/Queue;": true, "Ljava/util/Deque;": true,
	"Ljava/util/ArrayList;": true, "Ljava/util/LinkedList;": true, "Ljava/util/Vector;": true, "Ljava/util/Stack;": true,
	"Ljava/util/HashSet;": true, "Ljava/util/LinkedHashSet;": true, "Ljava/util/TreeSet;": true, "Ljava/util/EnumSet;": true,
	"Ljava/util/ArrayDeque;": true, "Ljava/util/PriorityQueue;": true,
}

func nature(typ string) presence {
	base := strings.TrimLeft(typ, "[")
	dimensions := len(typ) - len(base)
	s := builtin[base]
	switch {
	case dimensions > maxDimensions || s == nil && !collections[base]:
		return undecided
	case dimensions == 0 && s == voids:
		return fieldless
	case dimensions == 0 && s == nil:
		return onlyNull
	case s == voids || s == nil:
		return undecided
	}
	return datum
}

// An extent is the offset after a datum, or one of these.
const (
	noExtent  = -1 // the bytes are not a datum that the writer makes
	cutExtent = -2 // the datum ends after the captured bytes
)

// extent returns where a datum of a type that starts at offset off ends.
func (r *Reader) extent(off int, typ string) int {
	switch {
	case typ == "[B":
		_, end := r.block(off)
		return end
	case typ[0] == '[':
		return r.arrayExtent(off, typ[1:])
	}
	return r.scalarExtent(off, builtin[typ])
}

func (r *Reader) scalarExtent(off int, s *schema) int {
	r.plan.work++
	switch s.kind {
	case integer, char:
		v, end := r.number(off)
		if end >= 0 && (v < s.bounds.low || v > s.bounds.high) {
			return noExtent
		}
		return end
	case boolean:
		switch {
		case off == len(r.Buf):
			return cutExtent
		case r.Buf[off] > 1:
			return noExtent
		}
		return off + 1
	case float:
		return r.fixed(off, 4)
	case double:
		return r.fixed(off, 8)
	case str:
		raw, end := r.block(off)
		if !utf8.Valid(raw) {
			return noExtent
		}
		return end
	case number:
		raw, end := r.block(off)
		if end >= 0 && !isNumber(raw) {
			return noExtent
		}
		return end
	}
	return noExtent
}

func (r *Reader) fixed(off, n int) int {
	if n > len(r.Buf)-off {
		return cutExtent
	}
	return off + n
}

// number reads a varint of the fewest bytes.
func (r *Reader) number(off int) (v int64, end int) {
	u, size := varint(r.Buf[off:])
	switch {
	case size == 0 && len(r.Buf)-off >= 10:
		return 0, noExtent
	case size == 0:
		return 0, cutExtent
	case size > 1 && r.Buf[off+size-1] == 0:
		return 0, noExtent
	}
	return unzigzag(u), off + size
}

// block reads a length and that many bytes.
func (r *Reader) block(off int) (raw []byte, end int) {
	n, at := r.number(off)
	switch {
	case at < 0:
		return nil, at
	case n < 0 || n > math.MaxInt32:
		return nil, noExtent
	case n > int64(len(r.Buf)-at):
		return nil, cutExtent
	}
	r.plan.work += int(n)
	return r.Buf[at : at+int(n)], at + int(n)
}

// arrayExtent walks one block of items and the empty one after it. An item takes a byte at least.
func (r *Reader) arrayExtent(off int, elem string) int {
	r.plan.work++
	n, at := r.number(off)
	switch {
	case at < 0 || n == 0:
		return at
	case n < 0 || n > math.MaxInt32:
		return noExtent
	}
	s := builtin[elem] // nil for arrays
	for ; n > 0 && at >= 0; n-- {
		if s != nil {
			at = r.scalarExtent(at, s)
		} else {
			at = r.extent(at, elem)
		}
	}
	if at < 0 {
		return at
	}
	switch {
	case at == len(r.Buf):
		return cutExtent
	case r.Buf[at] != 0:
		return noExtent
	}
	return at + 1
}

// mayEnd reports whether rest can be arguments of these types. The first one has a type whose extent only its class tells.
func mayEnd(rest []byte, types []string) bool {
	least := 0
	for _, typ := range types[1:] {
		switch {
		case typ == "F":
			least += 4
		case typ == "D":
			least += 8
		case len(typ) == 1:
			least++
		}
	}
	if len(rest) < least {
		return false
	}
	if len(types) > 1 || types[0][0] != '[' || len(rest) == 0 {
		return true
	}
	// Items of some class, and an empty block after them.
	n, size := varint(rest)
	if n == 0 {
		return len(rest) == 1
	}
	return size > 0 && unzigzag(n) > 0 && len(rest) > size && rest[len(rest)-1] == 0
}

// typeNames reports whether the strings from off to end are names of Java types, at least one, with bytes after them.
func (r *Reader) typeNames(off, end int) bool {
	if end < 0 || end == len(r.Buf) && r.Short == decode.Malformed {
		return false
	}
	n, at := r.number(off)
	for ; n > 0; n-- {
		var name []byte
		name, at = r.block(at)
		if len(name) == 0 || bytes.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == utf8.RuneError }) {
			return false
		}
	}
	return at > off+1
}

// schemaExtent returns where a datum of a schema of the application that starts at offset off ends. Then r.walk has what it counted, if
// that has nodes.
func (r *Reader) schemaExtent(off int, s *schema) int {
	w := &r.walk
	end := w.over(off, s)
	if end >= 0 || end == noExtent && r.Short == decode.Malformed {
		r.plan.work += 1 + w.visits + max(end-off, 0)
		return end
	}
	w.extra = extra{}
	if r.trial == nil {
		r.trial = &Reader{}
	}
	x := r.trial
	x.Reset(r.Buf, r.Short, nil)
	x.Off, x.strict, x.variation = off, true, r.variation
	x.value(s, decode.ByIndex, "", 0)
	r.plan.work += 1 + x.visits + x.Off - off
	switch err := x.Err(); {
	case err == nil:
		return x.Off
	case r.Short != decode.Malformed && err.Cause == r.Short:
		return cutExtent
	}
	return noExtent
}
