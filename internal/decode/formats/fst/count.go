package fst

import (
	"bytes"
	"encoding/binary"
	"slices"

	"dubbo-wire/internal/decode"
)

// Where bytes are only counted, most values need no more than their length. The functions of this file take a value in one pass and
// add up what the functions of value.go, object.go and data.go would record of it. They take nothing, and return false, if the value
// is not one of the common ones or if anything is wrong with its first bytes; then those functions take it. So no error comes from here.

// tally is what was counted and not yet given to the Recorder: nodes, and the bytes of them that are overhead.
type tally struct{ nodes, overhead int }

// startCounting decides whether values of the top-level value that begins may be counted by the functions of this file.
func (r *Reader) startCounting() {
	r.quick = r.Tree == nil && r.classes != nil && r.distrusted == nil && !r.d.one
}

// mayCount reports whether values of the open container may be counted.
func (r *Reader) mayCount() bool { return r.quick && r.Counting() && !r.Hiding() }

// endTally gives to the Recorder what was counted. Then other functions may go on.
func (r *Reader) endTally() {
	if r.tally.nodes > 0 {
		r.Tally(r.tally.overhead, r.tally.nodes)
		r.tally = tally{}
	}
}

// countFields is fields, up to an error.
func (r *Reader) countFields(cl *class, fields []field) {
	version := byte(0)
	for i := 0; r.OK(); {
		for i < len(fields) && fields[i].version == version {
			if n := r.countUsual(fields[i:], version); n > 0 {
				i += n
				continue
			}
			f := &fields[i]
			switch {
			case f.kind == booleanField:
				if n := r.countBooleans(fields[i:]); n > 0 {
					i += n
					continue
				}
				r.endTally()
				i = r.booleans(cl, fields, i)
				if r.OK() {
					continue
				}
				return
			case f.usual == usualReference && r.countList(f), r.countField(f):
			default:
				r.endTally()
				r.field(f)
			}
			if !r.OK() {
				r.stop(cl, f)
				return
			}
			i++
		}
		want := byte(fieldsEnd)
		if i < len(fields) {
			want = fields[i].version
		}
		if r.Off < len(r.Buf) && r.Buf[r.Off] == want {
			r.Off++
			r.tally.nodes++
			r.tally.overhead++
		} else {
			r.endTally()
			r.endOfFields(cl, want)
		}
		if version = want; version == fieldsEnd {
			return
		}
	}
}

// usual says of which type a field is, if it is one of the types that most fields have.
type usual uint8

const (
	notUsual usual = iota
	usualByte
	usualShort // or a char
	usualInt
	usualLong
	usualFloat
	usualDouble
	usualText
	usualInteger
	usualLongObject
	usualReference // any other one
)

// usual finds out of which type the field is.
func (f *field) usualType() usual {
	switch {
	case f.kind == reference && (f.conditional || f.throwable), f.kind == intField && f.own == "size":
		return notUsual
	case f.kind != reference:
		return [...]usual{byteField: usualByte, charField: usualShort, shortField: usualShort, intField: usualInt, longField: usualLong, floatField: usualFloat, doubleField: usualDouble}[f.kind]
	}
	switch f.declared {
	case "java.lang.String":
		return usualText
	case "java.lang.Integer":
		return usualInteger
	case "java.lang.Long":
		return usualLongObject
	}
	return usualReference
}

// window is how many bytes countUsual looks at at once: more than the head of a value or list and the longest number have.
const window = 16

// countUsual takes the fields that fields begins with, as long as they are of this version and their values are usual: numbers, texts,
// constants, handles, and lists of numbers and handles. It returns how many there are.
func (r *Reader) countUsual(fields []field, version byte) (i int) {
	b, at, objects := r.Buf, r.Off, 0
loop:
	for ; i < len(fields) && at >= 0 && at <= len(b)-window; i++ {
		f := &fields[i]
		if f.version != version {
			break
		}
		w := (*[window]byte)(b[at:])
		switch f.usual {
		case usualByte:
			at++
			continue
		case usualShort:
			if at++; w[0] == escape {
				at += 2
			}
			continue
		case usualInt:
			at += intSize(w[0])
			continue
		case usualLong:
			at += longSize(w[0])
			continue
		case usualFloat:
			at += 4
			continue
		case usualDouble:
			at += 8
			continue
		case usualText:
			if w[0] != tagString {
				break
			}
			n := int(w[1])
			if n >= 0x80 || n > len(b)-at-2 {
				break loop
			}
			at += 2 + n
			if text := b[at-n : at]; n >= 8 {
				high := binary.LittleEndian.Uint64(text[n-8:]) // of which some are read again
				for ; len(text) > 8; text = text[8:] {
					high |= binary.LittleEndian.Uint64(text)
				}
				if high&highBits == 0 {
					objects++
					continue
				}
			} else if binary.LittleEndian.Uint64(w[2:])<<(64-8*n)&highBits == 0 {
				objects++
				continue
			}
			if bytes.IndexByte(b[at-n:at], escape) >= 0 {
				at -= 2 + n
				break loop
			}
			objects++
			continue
		case usualInteger:
			if w[0] == tagInteger {
				at += 1 + intSize(w[1])
				objects++
				continue
			}
		case usualLongObject:
			if w[0] == tagLong {
				at += 1 + longSize(w[1])
				objects++
				continue
			}
		case usualReference:
			switch w[0] {
			case tagEnum:
				if w[1] == escape && w[4] < f.constants && !r.skipped && f.fitted.usedIn == r.body {
					if id := int(binary.LittleEndian.Uint16(w[2:])) - firstNamed; id >= 0 && id < len(r.names) && r.names[id] == f.fitted {
						at += 5
						objects++
						continue
					}
				}
			case tagObject:
				n := int(w[2])
				if w[1] != f.list || f.list == 0 || n >= 0x80 || r.Level() == decode.MaxDepth {
					break loop
				}
				p, k := at+3, 0
			elements:
				for ; k < n && p >= 0 && p <= len(b)-window; k++ {
					w := (*[window]byte)(b[p:])
					switch w[0] {
					case tagInteger:
						p += 1 + intSize(w[1])
					case tagHandle:
						size := r.knownHandle(b, p, w)
						if size == 0 {
							break elements
						}
						p += size
					default:
						break elements
					}
				}
				if k < n {
					break loop
				}
				r.rememberPlace(at)
				at = p
				r.tally.nodes += 2 + n
				r.tally.overhead += 3
				objects += 1 + n
				continue
			}
		default:
			break loop
		}
		switch w[0] {
		case tagNull:
			at++
		case tagHandle, tagEnum:
			if r.Off = at; w[0] == tagHandle && !r.countHandle() || w[0] == tagEnum && !r.countEnum(f) {
				break loop
			}
			at = r.Off
			r.tally.nodes-- // which are counted below
		default:
			break loop
		}
		objects++
	}
	r.Off = at
	r.tally.nodes += i
	r.work += objects * workPerObject
	return i
}

// highBits are those of eight bytes.
const highBits = 0x8080808080808080

// knownHandle returns the length of a handle at an offset of b, of which w are the bytes, if it is one to an object that another handle
// meant before; else 0.
func (r *Reader) knownHandle(b []byte, at int, w *[window]byte) int {
	off, size := int(w[1]), 2
	if off == wide16 {
		off, size = int(binary.LittleEndian.Uint16(w[2:])), 4
	} else if off >= 0x80 {
		return 0
	}
	if off >= at || off >= 0x8000 || r.referred[off%len(r.referred)] != int32(off)+1 || b[off] != tagObject {
		return 0
	}
	return size
}

// countBooleans takes the booleans that fields begins with, if they are in one byte, and returns how many there are.
func (r *Reader) countBooleans(fields []field) int {
	n := 1
	for n < len(fields) && fields[n].kind == booleanField && fields[n].version == fields[0].version {
		n++
	}
	if n > 8 || r.Off == len(r.Buf) || r.Buf[r.Off]&(0xff>>n) != 0 {
		return 0
	}
	r.Off++
	r.tally.nodes += n
	return n
}

func (r *Reader) countField(f *field) bool {
	b := r.Buf[r.Off:]
	switch {
	case len(b) == 0:
		return false
	case f.kind == reference:
		return !f.conditional && !f.throwable && r.countValue(f)
	case f.kind == intField && f.own == "size":
		return false
	}
	return r.countLeaf(fieldSize(f.kind, b[0]))
}

// countLeaf takes n bytes that are a node.
func (r *Reader) countLeaf(n int) bool {
	if n > len(r.Buf)-r.Off {
		return false
	}
	r.Off += n
	r.tally.nodes++
	return true
}

// fieldSize returns the length of a number whose first byte is b.
func fieldSize(k kind, b byte) int {
	switch k {
	case charField, shortField:
		if b == escape {
			return 3
		}
	case intField:
		return intSize(b)
	case longField:
		return longSize(b)
	case floatField:
		return 4
	case doubleField:
		return 8
	}
	return 1
}

// intSize returns the length of an FInt whose first byte is b.
func intSize(b byte) int {
	switch b {
	case wide16:
		return 3
	case wide32:
		return 5
	}
	return 1
}

// longSize returns the length of an FLong whose first byte is b.
func longSize(b byte) int {
	if b == wide64 {
		return 9
	}
	return intSize(b)
}

// shortInt returns the FInt at the start of b if it is not negative, and its length, 0 if it is or if b ends in it.
func shortInt(b []byte) (v, size int) {
	switch {
	case len(b) > 0 && b[0] < 0x80:
		return int(b[0]), 1
	case len(b) > 2 && b[0] == wide16 && b[2] < 0x80:
		return int(binary.LittleEndian.Uint16(b[1:])), 3
	case len(b) > 4 && b[0] == wide32 && b[4] < 0x80:
		return int(binary.LittleEndian.Uint32(b[1:])), 5
	}
	return 0, 0
}

// charsEnd returns the offset after n UTF-16 units at the start of b, which is beyond b if that ends in the last one. If b ends
// before, left is how many there are after it.
func charsEnd(b []byte, n int) (off, left int) {
	for n > 0 && off < len(b) {
		if b[off] == escape {
			off += 3
			n--
			continue
		}
		k := bytes.IndexByte(b[off:min(off+n, len(b))], escape)
		if k < 0 {
			k = min(n, len(b)-off)
		}
		off += k
		n -= k
	}
	return off, n
}

// fits is holds for a class, which it remembers.
func (f *field) fits(cl *class) bool {
	if f == nil || f.fitted == cl {
		return true
	}
	if !f.holds(cl.name) {
		return false
	}
	f.fitted, f.list, f.constants = cl, 0, 0
	if cl.plan != nil && cl.plan.form == constant {
		f.constants = byte(min(len(cl.plan.constants), 0x80))
	}
	return true
}

// holds reports whether a class is known to be one that the value of a field may have; f is nil for other values.
func (f *field) holds(name string) bool {
	return f == nil || name == f.declared || name == f.accepted || f.declared == object || f.anything
}

// countValue is value. If it returns false, r is where it was.
func (r *Reader) countValue(f *field) bool {
	start := r.Off
	b := r.Buf[start:]
	if len(b) < 2 {
		return false
	}
	done := false
	switch b[0] {
	case tagNull:
		done = r.countLeaf(1)
	case tagString:
		n, size := shortInt(b[1:])
		if size == 0 || n > len(b) || !f.holds("java.lang.String") {
			break
		}
		if end, left := charsEnd(b[1+size:], n); left == 0 {
			done = r.countLeaf(1 + size + end)
		}
	case tagInteger:
		done = f.holds("java.lang.Integer") && r.countLeaf(1+intSize(b[1]))
	case tagLong:
		done = f.holds("java.lang.Long") && r.countLeaf(1+longSize(b[1]))
	case tagTrue, tagFalse:
		done = f.holds("java.lang.Boolean") && r.countLeaf(1)
	case tagHandle:
		done = r.countHandle()
	case tagEnum:
		done = r.countEnum(f)
	case tagObject, tagArray:
		r.rememberPlace(start)
		if cl := r.countClass(start + 1); cl == nil || !f.fits(cl) {
			break
		} else if b[0] == tagObject {
			done = r.countData(cl, start)
		} else {
			done = r.countArray(cl, start, f)
		}
	case tagTyped:
		if f == nil || f.class == nil || f.anything || f.top || f.class.layout == array || f.class.plan != nil && f.class.plan.emulated {
			break
		}
		r.rememberPlace(start)
		r.Off++
		done = r.countData(f.class, start)
	}
	if !done {
		r.Off = start
		return false
	}
	r.work += workPerObject
	return true
}

// countClass is class for one that was there before, whose id is at an offset; nil for others.
func (r *Reader) countClass(off int) *class {
	b := r.Buf[off:]
	id, size := 0, 1
	switch {
	case len(b) > 2 && b[0] == escape:
		id, size = int(binary.LittleEndian.Uint16(b[1:])), 3
	case len(b) > 0 && b[0] != escape:
		id = int(b[0])
	}
	r.Off = off + size
	switch {
	case id >= firstNamed && id-firstNamed < len(r.names) && !r.skipped:
		return r.names[id-firstNamed]
	case id >= firstKnown && id-firstKnown < len(r.d.own) && r.d.own[id-firstKnown].layout != unknown:
		return r.d.own[id-firstKnown]
	}
	return nil
}

// countHandle takes a handle to an object.
func (r *Reader) countHandle() bool {
	off, size := shortInt(r.Buf[r.Off+1:])
	if size == 0 || off >= r.Off || len(r.used) > 0 && r.Buf[off] < tagArray && r.Buf[off] > maxPredicted {
		return false
	}
	if known := &r.referred[off%len(r.referred)]; *known != int32(off)+1 {
		if _, found := slices.BinarySearch(r.places, int32(off)); found {
			*known = int32(off) + 1
		} else if r.Buf[off] != tagString || !r.counts(off, r.Off, false) {
			return false
		}
	}
	return r.countLeaf(1 + size)
}

// countEnum takes a constant of an enum of the class path.
func (r *Reader) countEnum(f *field) bool {
	start := r.Off
	cl := r.countClass(start + 1)
	if cl == nil || cl.plan == nil || cl.plan.form != constant || !f.fits(cl) {
		return false
	}
	v, size := shortInt(r.Buf[min(r.Off, len(r.Buf)):])
	if size == 0 || v >= len(cl.plan.constants) {
		return false
	}
	r.use(cl)
	return r.countLeaf(size)
}

// countList is countValue for a field that has a collection of the class that it had last, one of the JDK with a short number.
func (r *Reader) countList(f *field) bool {
	b, at := r.Buf, r.Off
	if len(b)-at < 3 || b[at] != tagObject || b[at+2] >= 0x80 || int(b[at+2]) > len(b)-at-3 || r.Level() == decode.MaxDepth {
		return false
	}
	id := int(b[at+1]) - firstKnown
	if id < 0 || id >= len(r.d.own) || b[at+1] == escape {
		return false
	}
	cl := r.d.own[id]
	if cl == nil || cl != f.fitted || cl.layout != collection || cl.plan != nil || cl.emulated != nil {
		return false
	}
	f.list = b[at+1]
	r.rememberPlace(at)
	n := int(b[at+2])
	end, i := countIntegers(b, at+3, n)
	r.Off = end
	r.tally.nodes += 3 + i
	r.tally.overhead += 3
	r.work += (1 + i) * workPerObject
	if i < n {
		r.Enter()
		r.countElements(i, n, nil, collection)
		r.Leave()
	}
	return true
}

// countHead counts a container: its node, and the head from start to here.
func (r *Reader) countHead(start int) {
	r.tally.nodes += 2
	r.tally.overhead += r.Off - start
}

// countLength counts the length in the head of a container, and takes it.
func (r *Reader) countLength(size int) {
	r.Off += size
	r.tally.nodes++
	r.tally.overhead += size
}

// countData is data, for an object that starts at start. Once it has counted its head, it returns true.
func (r *Reader) countData(cl *class, start int) bool {
	if r.Level() == decode.MaxDepth || r.Off >= len(r.Buf) {
		return false
	}
	if p := cl.plan; p != nil {
		if p.form != ofFields || p.emulated || p.wraps != "" {
			return false
		}
		r.use(cl)
		r.countHead(start)
		r.Enter()
		r.countFields(cl, p.fields)
		r.Leave()
		return true
	}
	b := r.Buf[r.Off:]
	switch {
	case cl.emulated != nil:
	case cl.layout == box:
		return r.countLeaf(fieldSize(elemKinds[cl.elem], b[0]))
	case cl.layout == date:
		return r.countLeaf(longSize(b[0]))
	case cl.layout == bigInteger:
		if n, size := shortInt(b); n > 0 && n <= maxDigits {
			return r.countLeaf(size + n)
		}
	case cl.layout == collection, cl.layout == mapping:
		n, size := shortInt(b)
		if size == 0 || n > len(b)-size {
			return false
		}
		r.countHead(start)
		r.countLength(size)
		r.Enter()
		if cl.layout == mapping {
			n *= 2
		}
		r.countElements(0, n, nil, cl.layout)
		r.Leave()
		return true
	}
	return false
}

// elemKinds are the kinds of fields that are written as elements are, of those that have one.
var elemKinds = [...]kind{bytes1: byteField, bool1: booleanField, char2: charField, short2: shortField, float4: floatField, double8: doubleField}

// countElements takes the values from number i on of n: elements of a collection or an array, or keys and values of a map.
func (r *Reader) countElements(i, n int, f *field, l layout) {
	for ; i < n && r.OK(); i++ {
		if f == nil {
			if end, k := countIntegers(r.Buf, r.Off, n-i); k > 0 {
				r.Off = end
				r.tally.nodes += k
				r.work += k * workPerObject
				i += k - 1
				continue
			}
		}
		if r.countValue(f) {
			continue
		}
		r.endTally()
		switch {
		case l != mapping:
			r.value(r.At(decode.ByIndex, "", i), f)
		case i%2 == 0:
			r.value(r.At(decode.ByKey, "", i/2), f)
		default:
			r.value(r.At(decode.ByEntry, "", i/2), f)
		}
	}
}

// countIntegers takes values from an offset of b on as long as they are objects of Integer, n at most. It returns the offset after them and how many there are.
func countIntegers(b []byte, at, n int) (end, taken int) {
	for ; taken < n && at+1 < len(b) && b[at] == tagInteger; taken++ {
		next := at + 1 + intSize(b[at+1])
		if next > len(b) {
			break
		}
		at = next
	}
	return at, taken
}

// countArray is array, for one that starts at start.
func (r *Reader) countArray(cl *class, start int, f *field) bool {
	if f != nil && f.top {
		f = nil
	}
	if cl.layout != array || cl.elem == nested || r.Level() == decode.MaxDepth || r.Off > len(r.Buf) {
		return false
	}
	b := r.Buf[r.Off:]
	n, size := shortInt(b)
	if size == 0 || n*elemSizes[cl.elem] > len(b)-size {
		return false
	}
	switch cl.elem {
	case bytes1:
		return r.countLeaf(size + n)
	case tagged:
		r.countHead(start)
		r.countLength(size)
		r.Enter()
		r.countElements(0, n, f.element(), array)
		r.Leave()
		return true
	case char2, short2:
		return false
	}
	r.countHead(start)
	r.countLength(size)
	r.Off += n * elemSizes[cl.elem]
	r.tally.nodes += n
	return true
}
