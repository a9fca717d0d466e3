package avro

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// A walk passes over a value of a schema of the application as a strict Reader without a tree reads it, and counts what that would count.
// Every class that an argument can be of is tried, and without a tree the value is then counted as it was tried.
type walk struct {
	buf       []byte
	variation *variation
	used      []*schema
	extra     // of the value
	limit     int
}

// extra is what is known of a value besides its end.
type extra struct {
	nodes    int
	overhead int // bytes of roles
	visits   int // as Reader.visits
	// firstUsed and lastUsed say where in walk.used the classes of the value are.
	firstUsed, lastUsed int
}

// unsure is an extent that only a Reader tells.
const unsure = -3

// begin starts to walk over the values of a body.
func (w *walk) begin(buf []byte, v *variation) {
	*w = walk{buf: buf, variation: v, used: w.used[:0], limit: smallVisits + visitsPerByte*len(buf)}
}

// over returns where a value at offset off ends: noExtent if it is none, or is cut.
func (w *walk) over(off int, s *schema) int {
	w.extra = extra{firstUsed: len(w.used)}
	end := w.value(s, off, 0, 0)
	w.lastUsed = len(w.used)
	if w.visits > w.limit {
		return noExtent
	}
	return end
}

// number returns a varint of the fewest bytes, and the offset after it.
func (w *walk) number(off int) (v int64, end int) {
	if off < len(w.buf) && w.buf[off] < 0x80 {
		return unzigzag(uint64(w.buf[off])), off + 1
	}
	u, size := binary.Uvarint(w.buf[off:])
	if size <= 0 || w.buf[off+size-1] == 0 {
		return 0, noExtent
	}
	return unzigzag(u), off + size
}

// block returns the offsets of the bytes after a length.
func (w *walk) block(off int) (from, end int) {
	n, at := w.number(off)
	if at < 0 || n < 0 || n > int64(len(w.buf)-at) {
		return 0, noExtent
	}
	return at, at + int(n)
}

func (w *walk) fixed(off, n int) int {
	if n > len(w.buf)-off {
		return noExtent
	}
	return off + n
}

// value passes over a value before which some bytes have no node, and that is in level others.
func (w *walk) value(s *schema, off, pending, level int) int {
	switch s.kind {
	case integer, char:
		v, end := w.number(off)
		if v < s.bounds.low || v > s.bounds.high {
			return noExtent
		}
		w.nodes++
		return end
	case boolean:
		if off == len(w.buf) || w.buf[off] > 1 {
			return noExtent
		}
		w.nodes++
		return off + 1
	case float:
		w.nodes++
		return w.fixed(off, 4)
	case double:
		w.nodes++
		return w.fixed(off, 8)
	case str:
		from, end := w.block(off)
		if end < 0 || !utf8.Valid(w.buf[from:end]) {
			return noExtent
		}
		w.nodes++
		if s.class != "" {
			w.nodes++
		}
		return end
	case number:
		from, end := w.block(off)
		if end < 0 || !isNumber(w.buf[from:end]) {
			return noExtent
		}
		w.nodes++
		return end
	case raw:
		w.nodes++
		_, end := w.block(off)
		return end
	}
	if w.visits++; w.visits > w.limit {
		return noExtent
	}
	switch s.kind {
	case null:
		w.nodes++
		return off
	case union:
		v, end := w.number(off)
		if end < 0 || uint64(v) >= uint64(len(s.branches)) || level >= decode.MaxDepth {
			return noExtent
		}
		return w.value(s.branches[v], end, pending+end-off, level+1)
	case record:
		return w.record(s, off, pending, level)
	case array, mapping, pairs:
		return w.items(s, off, pending, level)
	case enum:
		v, end := w.number(off)
		if end < 0 || uint64(v) >= uint64(len(s.symbols)) {
			return noExtent
		}
		w.use(s)
		w.nodes++
		return end
	case fixed:
		w.nodes++
		return w.fixed(off, s.size)
	case date:
		w.nodes++
		_, end := w.number(off)
		return end
	case nothing:
		if pending == 0 {
			w.nodes++
			return off
		}
	}
	return unsure
}

// role counts the bytes before the content of a container.
func (w *walk) role(pending int) {
	w.nodes++
	if pending > 0 {
		w.nodes++
		w.overhead += pending
	}
}

func (w *walk) record(s *schema, off, pending, level int) int {
	w.use(s)
	w.role(pending)
	if level >= decode.MaxDepth {
		return noExtent
	}
	fields := s.fields
	if v := w.variation; v != nil && v.class == s.class {
		fields = v.fields
	}
	if level+1 >= decode.MaxDepth {
		return unsure
	}
	buf, nodes := w.buf, 0
	for k := range fields {
		of, pending, in := fields[k].schema, 0, level+1
		if of.kind == union && off < len(buf) { // mostly of null and something
			if b := buf[off]; b&0x81 == 0 && int(b>>1) < len(of.branches) {
				of, pending, in = of.branches[b>>1], 1, level+2
				off++
				w.visits++
			}
		}
		// What most fields are is done here.
		switch {
		case of.kind == null && pending > 0:
			w.visits++
			nodes++
			continue
		case off >= len(buf) || buf[off] >= 0x80:
		case of.kind == integer:
			off++
			nodes++
			continue
		case of.kind == str && buf[off]&1 == 0 && of.class == "":
			if n := int(buf[off] >> 1); n < len(buf)-off {
				if !utf8.Valid(buf[off+1 : off+1+n]) {
					return noExtent
				}
				off += 1 + n
				nodes++
				continue
			}
		}
		if of.kind == record && w.visits < w.limit {
			w.visits++
			off = w.record(of, off, pending, in)
		} else {
			off = w.value(of, off, pending, in)
		}
		if off < 0 {
			return off
		}
	}
	w.nodes += nodes
	return off
}

// items passes over an array or a map.
func (w *walk) items(s *schema, off, pending, level int) int {
	w.role(pending)
	n, at := w.number(off)
	if at < 0 || n < 0 || n > math.MaxInt32 || level >= decode.MaxDepth {
		return noExtent
	}
	w.nodes++
	w.overhead += at - off
	if n == 0 {
		return at
	}
	if n > int64(len(w.buf)-at) {
		return w.fewer(s)
	}
	switch of := s.elem; {
	case s.key != nil:
		for ; n > 0; n-- {
			begin := at
			if at = w.value(s.key, at, 0, level+1); at < 0 {
				return at
			}
			if at = w.value(of, at, 0, level+1); at < 0 {
				return at
			}
			if at == begin {
				return unsure
			}
		}
	case of.kind == double || of.kind == float:
		width := int64(4)
		if of.kind == double {
			width = 8
		}
		if n*width > int64(len(w.buf)-at) {
			return noExtent
		}
		w.nodes += int(n)
		at += int(n * width)
	default:
		for ; n > 0; n-- {
			begin := at
			if at = w.value(of, at, 0, level+1); at <= begin {
				if at == begin {
					return unsure
				}
				return at
			}
		}
	}
	if at == len(w.buf) || w.buf[at] != 0 {
		return noExtent
	}
	w.nodes++
	w.overhead++
	return at + 1
}

// fewer is the extent of an array or a map with more items than bytes.
func (w *walk) fewer(s *schema) int {
	if s.elem.least() == 0 && (s.key == nil || s.key.least() == 0) {
		return unsure
	}
	return noExtent
}

// use notes a class of the application, each of a value once.
func (w *walk) use(s *schema) {
	if !s.own {
		return
	}
	for k := w.firstUsed; k < len(w.used); k++ {
		if w.used[k] == s {
			return
		}
	}
	w.used = append(w.used, s)
}

// tally counts a value as it was walked over: a container, as counts of others are not worth it. It returns false if it has to be read.
func (r *Reader) tally(s *schema, end int, x *extra, l decode.Label, name string, index int) bool {
	kind := decode.Object
	switch s.kind {
	case record:
	case array:
		kind = decode.List
	case mapping, pairs:
		kind = decode.Map
	default:
		return false
	}
	if r.Tree != nil || !r.OK() || x.nodes == 0 || r.Level() > 0 || r.Pending() > 0 || r.visits+x.visits > r.walk.limit {
		return false
	}
	r.visits += x.visits
	for _, of := range r.walk.used[x.firstUsed:x.lastUsed] {
		r.use(of)
	}
	r.Open(kind, l, name, index)
	r.Off = end
	r.Tally(x.overhead, x.nodes-1)
	r.Close()
	return true
}
