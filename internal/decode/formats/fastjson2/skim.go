package fastjson2

import "dubbo-wire/internal/decode"

// Without a tree all that is asked of a value is where it ends and what its bytes are for. skim finds that in one pass over
// the bytes, for values that are as a writer makes them; any other is left to the reader, which says what is wrong with it.

// skim is a walk: it adds up what is neither value nor anything else, and the nodes that a tree would have.
type skim struct {
	*Reader
	names, overhead, nodes int
}

// gone is returned in place of an offset where a value is not one for skim.
const gone = -1

// sizes are those of what follows the first byte of a value, where that alone tells them; 0xff where it does not.
var sizes = func() (t [256]uint8) {
	const more = 0xff
	for op := range t {
		switch {
		case op <= opIntMax, op >= opIntMin, op >= opLong, op == opNull, op == opFalse, op == opTrue, op == opDouble0, op == opDouble1:
		case op < opInt19, op >= opLong12, op == opInt8:
			t[op] = 1
		case op < opInt32, op >= opLong19, op == opInt16:
			t[op] = 2
		case op == opInt32, op == opInt64Int, op == opFloat, op == opSeconds, op == opMinutes, op == opLocalDate:
			t[op] = 4
		case op == opInt64, op == opDouble, op == opMillis:
			t[op] = 8
		default:
			t[op] = more
		}
		if op >= opASCII0 && op < opASCII {
			t[op] = uint8(op - opASCII0)
		} else if op >= opASCII && op < opNull && op != opMillis && op != opSeconds && op != opMinutes && op != opLocalDate {
			t[op] = more
		}
	}
	for _, op := range []byte{opDoubleLong, opFloatInt, opDecimalLong, opDecimal, opBigIntLong, opBigInt} {
		t[op] = more
	}
	return t
}()

// skim takes so many values and counts them, if it can.
func (r *Reader) skim(count int) bool {
	if !r.Counting() || r.slow {
		return false
	}
	w, symbols, repeated := skim{Reader: r}, len(r.symbols), r.repeated
	off := r.Off
	for ; count > 0 && off >= 0; count-- {
		off = w.value(off, 0)
	}
	return w.done(off, symbols, repeated)
}

// skimObject takes the fields of a bean or the entries of a map, and the end of it.
func (r *Reader) skimObject(bean bool) bool {
	if !r.Counting() || r.slow {
		return false
	}
	w, symbols, repeated := skim{Reader: r}, len(r.symbols), r.repeated
	return w.done(w.object(r.Off, 0, bean), symbols, repeated)
}

// done counts what was passed up to off. Where that is gone the rest of the document is not skimmed, so that nothing is
// passed more than twice.
func (w *skim) done(off, symbols, repeated int) bool {
	r := w.Reader
	if off < 0 {
		r.slow = true
		r.symbols, r.repeated = r.symbols[:symbols], repeated
		return false
	}
	r.Off = off
	r.Tally(w.overhead, w.nodes)
	r.Recount(decode.ClassNames, w.names)
	return true
}

// value passes a value, which is depth levels below the reader's.
func (w *skim) value(off, depth int) int {
	if off >= len(w.Buf) {
		return gone
	}
	w.nodes++
	op := w.Buf[off]
	off++
	if n := sizes[op]; n != 0xff {
		if off += int(n); off > len(w.Buf) {
			return gone
		}
		return off
	}
	switch {
	case op == opObject:
		w.overhead++
		if off >= len(w.Buf) {
			return gone
		}
		return w.object(off, depth+1, w.Buf[off] == opSymbol)
	case op >= opArray0 && op <= opArray:
		return w.array(op, off, depth+1)
	case op == opTyped:
		return w.typed(off, depth)
	case op >= opASCII && op <= opGB18030, op == opBinary:
		return w.bytes(off)
	case op == opSymbol:
		off, _ = w.symbol(off)
		return off
	case op == opReference:
		return w.text(off)
	}
	return w.rare(op, off)
}

// array passes the elements of an array.
func (w *skim) array(op byte, off, depth int) int {
	count, start := int(op-opArray0), off-1
	if op == opArray {
		var n int32
		if n, off = w.int(off); off < 0 || n < 0 || int(n) > len(w.Buf)-off {
			return gone
		}
		count = int(n)
	}
	w.overhead += off - start
	w.nodes++
	if w.Level()+depth > decode.MaxDepth {
		return gone
	}
	for ; count > 0 && off >= 0; count-- {
		off = w.value(off, depth)
	}
	return off
}

// object passes fields or entries up to the end of an object.
func (w *skim) object(off, depth int, bean bool) int {
	w.nodes += 2
	if w.Level()+depth > decode.MaxDepth {
		return gone
	}
	referred := ""
	for off >= 0 && off < len(w.Buf) {
		op := w.Buf[off]
		switch {
		case op == opObjectEnd:
			w.overhead++
			return off + 1
		case !bean:
			if op != opSymbol && !isText(op) {
				off = w.value(off, depth)
			} else {
				w.nodes++
				off, _ = w.name(off)
			}
		case op == opNull:
			w.overhead++
			w.nodes++
			off++
			continue
		default:
			start, name := off, ""
			if id := w.next(off); op == opSymbol && int(id) < len(w.symbols) && id <= opIntMax {
				name = w.symbols[id].text
				if w.repeated += len(name); w.repeated > maxRepeated {
					return gone
				}
				off += 2
			} else {
				off, name = w.name(off)
			}
			if off < 0 || off >= len(w.Buf) {
				return gone
			}
			w.nodes++
			if w.Buf[off] == opNull && referred != "" && referred == name {
				off++
				w.names += off - start
				referred = ""
				continue
			}
			w.names += off - start
			referred = ""
			if w.Buf[off] == opReference {
				referred = name
			}
		}
		if off < 0 || off >= len(w.Buf) {
			return gone
		}
		if n := sizes[w.Buf[off]]; n != 0xff { // most values
			w.nodes++
			if off += 1 + int(n); off > len(w.Buf) {
				return gone
			}
			continue
		}
		off = w.value(off, depth)
	}
	return gone
}

// next returns the byte behind off, 0xff where there is none.
func (w *skim) next(off int) byte {
	if off+1 < len(w.Buf) {
		return w.Buf[off+1]
	}
	return 0xff
}

// typed passes a class and a value that is neither typed nor a reference.
func (w *skim) typed(off, depth int) int {
	start := off - 1
	off, _ = w.symbol(off)
	if off < 0 || off >= len(w.Buf) || w.Buf[off] == opTyped || w.Buf[off] == opReference || w.Level()+depth >= decode.MaxDepth {
		return gone
	}
	w.names += off - start
	w.nodes++
	return w.value(off, depth)
}

// name passes a symbol or a text and returns it.
func (w *skim) name(off int) (int, string) {
	if off < len(w.Buf) && w.Buf[off] == opSymbol {
		return w.symbol(off + 1)
	}
	return w.shared(off)
}

// symbol passes what follows the byte that announces a symbol.
func (w *skim) symbol(off int) (int, string) {
	if off < len(w.Buf) {
		if id := w.Buf[off]; int(id) < len(w.symbols) && id <= opIntMax {
			s := w.symbols[id].text
			if w.repeated += len(s); w.repeated > maxRepeated {
				return gone, ""
			}
			return off + 1, s
		}
	}
	return w.otherSymbol(off)
}

// otherSymbol is symbol for those that are named here or have a large number.
func (w *skim) otherSymbol(off int) (int, string) {
	if off >= len(w.Buf) {
		return gone, ""
	}
	if !isText(w.Buf[off]) {
		id, off := w.int(off)
		if off < 0 {
			return gone, ""
		}
		s := w.lookup(id)
		if s == nil || w.repeated+len(s.text) > maxRepeated {
			return gone, ""
		}
		w.repeated += len(s.text)
		return off, s.text
	}
	off, name := w.shared(off)
	id, off := w.int(off)
	if off < 0 {
		return gone, ""
	}
	w.define(id, symbol{text: name})
	return off, name
}

// shared passes a text and returns it.
func (w *skim) shared(off int) (int, string) {
	end := w.text(off)
	if end < 0 {
		return gone, ""
	}
	at := w.Off
	w.Off = off + 1
	t := w.Reader.text(w.Buf[off])
	w.Off = at
	return end, w.share(t)
}

// text passes a text.
func (w *skim) text(off int) int {
	if off >= len(w.Buf) {
		return gone
	}
	op := w.Buf[off]
	switch {
	case op >= opASCII0 && op < opASCII:
		if off += 1 + int(op-opASCII0); off <= len(w.Buf) {
			return off
		}
	case op >= opASCII && op <= opGB18030:
		return w.bytes(off + 1)
	}
	return gone
}

// bytes passes a length and so many bytes.
func (w *skim) bytes(off int) int {
	n, off := w.int(off)
	if off < 0 || n < 0 || int(n) > len(w.Buf)-off {
		return gone
	}
	return off + int(n)
}

// int passes an int and returns it.
func (w *skim) int(off int) (int32, int) {
	if off < 0 || off >= len(w.Buf) {
		return 0, gone
	}
	op := w.Buf[off]
	if op > opInt32 && op < opIntMin {
		return 0, gone
	}
	end := off + 1 + int(sizes[op])
	if end > len(w.Buf) {
		return 0, gone
	}
	b := w.Buf[off+1 : end]
	switch {
	case op <= opIntMax, op >= opIntMin:
		return int32(int8(op)), end
	case op < opInt19:
		return (int32(op)-opInt12Zero)<<8 + int32(b[0]), end
	case op < opInt32:
		return (int32(op)-opInt19Zero)<<16 + int32(b[0])<<8 + int32(b[1]), end
	}
	return int32(b[0])<<24 | int32(b[1])<<16 | int32(b[2])<<8 | int32(b[3]), end
}

// integer passes an integer of any width.
func (w *skim) integer(off int) int {
	if off >= len(w.Buf) || !isInteger(w.Buf[off]) {
		return gone
	}
	if off += 1 + int(sizes[w.Buf[off]]); off > len(w.Buf) {
		return gone
	}
	return off
}

// rare passes what follows the first byte of the other values.
func (w *skim) rare(op byte, off int) int {
	switch op {
	case opChar, opFloatInt:
		_, off = w.int(off)
	case opLocalTime:
		_, off = w.int(off + 3)
	case opLocalDateTime:
		_, off = w.int(off + 7)
	case opZoned:
		if _, off = w.int(off + 7); off >= 0 && off < len(w.Buf) && w.Buf[off] == opSymbol {
			off, _ = w.symbol(off + 1)
			return off
		}
		if off >= 0 {
			return w.text(off)
		}
	case opTimestamp:
		if off = w.integer(off); off >= 0 {
			_, off = w.int(off)
		}
	case opDoubleLong, opDecimalLong, opBigIntLong:
		return w.integer(off)
	case opDecimal:
		if _, off = w.int(off); off < 0 || off >= len(w.Buf) {
			return gone
		}
		switch w.Buf[off] {
		case opBigInt:
			return w.bigInt(off + 1)
		case opBigIntLong:
			off++
		}
		return w.integer(off)
	case opBigInt:
		return w.bigInt(off)
	default:
		return gone
	}
	return off
}

// bigInt passes a length and the bytes of a number that the reader takes.
func (w *skim) bigInt(off int) int {
	n, _ := w.int(off)
	if n > maxBigInt {
		return gone
	}
	return w.bytes(off)
}
