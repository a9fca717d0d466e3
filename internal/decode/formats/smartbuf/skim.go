package smartbuf

import "dubbo-wire/internal/decode"

// Without a tree all that is asked of a value is where it ends and what its bytes are for. skim finds that in one pass, for
// values without anything wrong in them; where something is, a tree is made of the whole body.

// skim is a walk over the values of one packet.
type skim struct {
	*Reader
	overhead, nodes int
	pooled          int // bytes of entries that these values are the first to use
}

// gone is returned in place of an offset where a value is not one for skim.
const gone = -1

// skims reports whether values may be skimmed.
func (r *Reader) skims() bool { return !r.slow && r.Counting() }

// skim takes one value and counts it, if it can.
func (r *Reader) skim() bool {
	if !r.skims() {
		return false
	}
	w := skim{Reader: r}
	return w.done(w.value(r.Off, 0))
}

// skimArray takes the slices of an array that is open.
func (r *Reader) skimArray(head uint64) bool {
	if !r.skims() {
		return false
	}
	w := skim{Reader: r}
	return w.done(w.array(head, r.Off, 0))
}

// skimObject takes the fields of an object that is open.
func (r *Reader) skimObject(s structure, lasting bool) bool {
	if !r.skims() {
		return false
	}
	w := skim{Reader: r}
	return w.done(w.object(s, lasting, r.Off, 0))
}

// done counts what was passed up to off.
func (w *skim) done(off int) bool {
	r := w.Reader
	if off < 0 {
		r.slow = true
		r.NeedTree()
		return false
	}
	r.Off = off
	r.Tally(w.overhead, w.nodes)
	r.LeafAt(decode.String, decode.ByIndex, "", 0, 0, w.pooled)
	return true
}

// uvarint passes a number and returns it.
func (w *skim) uvarint(off int) (v uint64, next int) {
	if b := w.Buf; off+1 < len(b) {
		if b[off] < 0x80 {
			return uint64(b[off]), off + 1
		}
		if b[off+1] < 0x80 {
			return uint64(b[off]&0x7f) | uint64(b[off+1])<<7, off + 2
		}
	}
	for shift := 0; off < len(w.Buf) && shift < 70; shift += 7 {
		b := w.Buf[off]
		off++
		v |= uint64(b&0x7f) << min(shift, 63)
		if b < 0x80 {
			return v, off
		}
	}
	return 0, gone
}

// value passes a value, which is depth levels below the reader's.
func (w *skim) value(off, depth int) int {
	start := off
	var head uint64
	if b := w.Buf; off+1 < len(b) && b[off]&b[off+1] < 0x80 { // one byte or two
		head = uint64(b[off])
		if off++; head >= 0x80 {
			head = head&0x7f | uint64(b[off])<<7
			off++
		}
	} else if head, off = w.uvarint(off); off < 0 {
		return gone
	}
	w.nodes++
	if head <= constEmpty {
		return off
	}
	id := head >> kindBits
	switch head & kindMask {
	case kindVarint:
		return w.entry(w.varints, id, start, off)
	case kindFloat:
		return w.entry(w.floats, id, start, off)
	case kindDouble:
		return w.entry(w.doubles, id, start, off)
	case kindString:
		return w.entry(w.strings, id, start, off)
	case kindSymbol:
		return w.entry(w.symbols, id+1, start, off)
	case kindObject:
		if id == 0 {
			return off
		}
		w.overhead += off - start
		s, lasting, ok := w.structure(id)
		if !ok {
			return gone
		}
		return w.object(s, lasting, off, depth+1)
	case kindNative:
		return w.native(byte(id&7), id>>3, start, off)
	}
	w.overhead += off - start
	return w.array(id, off, depth+1)
}

// entry gives the entry of a pool that id means, and the bytes from start to off that refer to it, to what they are for. An
// id of 1 is none.
func (w *skim) entry(list []entry, id uint64, start, off int) int {
	if id == 1 {
		return off
	}
	if id == 0 || id-2 >= uint64(len(list)) {
		return gone
	}
	e := &list[id-2]
	if !e.used {
		e.used = true
		w.overhead += off - start
		w.pooled += int(e.end - e.off)
		w.nodes++
		return off
	}
	if w.repeated += int(e.end - e.off); w.repeated > maxRepeated {
		return gone
	}
	return off
}

// structure returns the struct of that id, as structOf does.
func (w *skim) structure(id uint64) (s structure, lasting, ok bool) {
	list := w.tmpStructs
	if lasting = id&1 == 1; lasting {
		list = w.structs
	}
	if i := id>>1 - 1; id > 1 && i < uint64(len(list)) {
		return list[i], lasting, true
	}
	return s, lasting, false
}

// object passes the values of a struct's fields. The names of a temporary one are keys.
func (w *skim) object(s structure, lasting bool, off, depth int) int {
	if w.Level()+depth > decode.MaxDepth {
		return gone
	}
	w.nodes += 1 + int(s.n)
	if lasting {
		if w.repeated += s.bytes; w.repeated > maxRepeated {
			return gone
		}
		for n := s.n; n > 0 && off >= 0; n-- {
			off = w.value(off, depth)
		}
		return off
	}
	for _, id := range w.tmpFields[s.first : s.first+s.n] {
		if e := &w.tmpNames[id]; !e.used {
			e.used = true
			w.pooled += int(e.end - e.off)
		} else if w.repeated += int(e.end - e.off); w.repeated > maxRepeated {
			return gone
		}
		if off = w.value(off, depth); off < 0 {
			return gone
		}
	}
	return off
}

// native passes an array of primitives. A byte array is one value.
func (w *skim) native(typ byte, count uint64, start, off int) int {
	if count > uint64(len(w.Buf)-off)*8/elementBits(typ) {
		return gone
	}
	n := int(count)
	if typ != nativeByte {
		w.overhead += off - start
		w.nodes += n + 1
	}
	switch typ {
	case nativeBool:
		n = (n + 7) / 8
	case nativeByte:
	case nativeShort:
		n *= 2
	case nativeInt, nativeLong:
		return w.varints7(n, off)
	case nativeFloat:
		n *= 4
	case nativeDouble:
		n *= 8
	default:
		return gone
	}
	return w.ahead(n, off)
}

func (w *skim) ahead(n, off int) int {
	if n > len(w.Buf)-off {
		return gone
	}
	return off + n
}

// varints7 passes so many numbers of 7 bits a byte.
func (w *skim) varints7(n, off int) int {
	for ; n > 0 && off >= 0; n-- {
		if off < len(w.Buf) && w.Buf[off] < 0x80 {
			off++
			continue
		}
		_, off = w.uvarint(off)
	}
	return off
}

// array passes slices as long as each says that there is another.
func (w *skim) array(head uint64, off, depth int) int {
	if w.Level()+depth > decode.MaxDepth {
		return gone
	}
	for {
		if off = w.slice(byte(head>>1&15), head>>5, off, depth); off < 0 || head&1 == 0 {
			return off
		}
		if off+2 > len(w.Buf) {
			return gone
		}
		head = uint64(w.Buf[off])<<8 | uint64(w.Buf[off+1])
		off += 2
		w.overhead += 2
		w.nodes++
	}
}

func (w *skim) slice(typ byte, size uint64, off, depth int) int {
	var s structure
	var lasting bool
	empty := typ == sliceNull
	if typ == sliceObject {
		start := off
		var id uint64
		if id, off = w.uvarint(off); off < 0 {
			return gone
		}
		if id != 0 {
			ok := false
			if s, lasting, ok = w.structure(id); !ok {
				return gone
			}
		}
		w.overhead += off - start
		w.nodes++
		empty = s.n == 0
	}
	if empty {
		if size > uint64(maxEmpty-w.empty) {
			return gone
		}
		w.empty += int(size)
		w.nodes += int(size)
		return off
	}
	if size > uint64(len(w.Buf)-off) {
		return gone
	}
	n := int(size)
	if typ < sliceObject {
		w.nodes += n
	}
	switch typ {
	case sliceBool:
		for range n {
			if v := w.Buf[off]; v != constFalse && v != constTrue {
				return gone
			}
			off++
		}
		return off
	case sliceFloat:
		return w.ahead(4*n, off)
	case sliceDouble:
		return w.ahead(8*n, off)
	case sliceByte:
		return w.ahead(n, off)
	case sliceShort, sliceInt, sliceLong:
		return w.varints7(n, off)
	case sliceString, sliceSymbol:
		list, plus := w.strings, uint64(0)
		if typ == sliceSymbol && w.stream {
			list, plus = w.symbols, 1
		}
		for ; n > 0 && off >= 0; n-- {
			start := off
			var id uint64
			if id, off = w.uvarint(off); off >= 0 {
				off = w.entry(list, id+plus, start, off)
			}
		}
		return off
	case sliceObject:
		for ; n > 0 && off >= 0; n-- {
			w.nodes++
			off = w.object(s, lasting, off, depth+1)
		}
		return off
	case sliceMixed:
		for ; n > 0 && off >= 0; n-- {
			off = w.value(off, depth)
		}
		return off
	}
	return gone
}
