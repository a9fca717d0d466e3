package hessian2

import (
	"encoding/binary"

	"dubbo-wire/internal/decode"
)

// Counting walks values and adds their bytes up by class, without a node for each. It takes what real bodies consist of
// and gives up on the rest: on whatever is not legal, on references behind objects that writers count differently, on
// bodies of more values than a tree takes. Then the body has to be read into a tree, which counts in the same way.
//
// What is no value is rarer than values: only names, and the bytes between values, are added up on the way.

// count is what a counting walk knows of a body.
type count struct {
	classes  []countedClass
	types    int // in the type table
	objects  int // in the object table
	odd      bool
	names    int // bytes of class and field names
	overhead int // bytes of opcodes, types, lengths and ends
	nodes    int // what a tree would hold of it, at least
}

// countedClass is an entry of the class table.
type countedClass struct {
	fields int32
	odd    bool // writers count its objects differently
}

// Count starts counting behind the first bytes of the body that Reset was given without a tree.
func (r *Reader) Count(at int) {
	r.c.Off = at
	r.counts = count{classes: emptied(r.counts.classes)}
}

// CountValue takes one value.
func (r *Reader) CountValue(into *decode.PartBytes) bool {
	w := &r.counts
	at, names, overhead := r.c.Off, w.names, w.overhead
	end := w.values(r.c.Buf, at, 1, 1)
	if end < 0 || w.nodes > maxCounted {
		return false
	}
	r.c.Off = end
	names, overhead = w.names-names, w.overhead-overhead
	into[decode.ClassNames] += int32(names)
	into[decode.ClassOverhead] += int32(overhead)
	into[decode.ClassValues] += int32(end - at - names - overhead)
	return true
}

// maxCounted is how many nodes a body may have: fewer than a tree takes, by more than an envelope needs.
const maxCounted = decode.DefaultMaxNodes - 64

// CountAttachments takes the attachments: a map, null, or a reference to a map.
func (r *Reader) CountAttachments(into *decode.PartBytes) bool {
	b, at := r.c.Buf, r.c.Off
	if at >= len(b) {
		return false
	}
	switch grammar[b[at]].rule {
	case dict, null, reference:
	default:
		return false
	}
	end := r.counts.values(b, at, 1, 1)
	if end < 0 || r.counts.nodes > maxCounted {
		return false
	}
	r.c.Off = end
	into[decode.ClassAttachments] += int32(end - at)
	return true
}

// maxStep is how many bytes behind its opcode a value has at most that a single look takes.
const maxStep = 32

// steps is, by opcode, how many bytes a value has if it is a scalar, or a text of at most 31 units that is ASCII, and how
// many of them are text. Taking both in one way leaves the processor no branch to guess wrong.
var steps = func() (s [256]struct{ bytes, text uint8 }) {
	for op := range s {
		s[op].bytes = grammar[op].size
		if op <= 0x1f {
			s[op].bytes, s[op].text = uint8(1+op), uint8(op)
		}
	}
	return s
}()

// untilEnd as a number of values: up to the end mark, which is not taken.
const untilEnd = -1

// values goes over n values from offset at, which stand depth deep, and returns the offset behind them; -1 when it gives
// up.
func (w *count) values(b []byte, at, n, depth int) int {
	for ; n != 0; n-- {
		if at >= len(b) {
			return -1
		}
		op := b[at]
		if step := int(steps[op].bytes); step != 0 && len(b)-at > maxStep {
			// The next 32 bytes, those of a text at once: which of them are its own and no ASCII.
			m, text := &asciiMasks[steps[op].text&31], b[at+1:at+1+maxStep]
			if m[0]&binary.LittleEndian.Uint64(text)|m[1]&binary.LittleEndian.Uint64(text[8:])|
				m[2]&binary.LittleEndian.Uint64(text[16:])|m[3]&binary.LittleEndian.Uint64(text[24:]) == 0 {
				at += step
				continue
			}
		}
		g := grammar[op]
		if g.size != 0 {
			at += int(g.size)
			continue // beyond the end of b nothing but the end of this loop follows
		}
		switch g.rule {
		case text:
			if op&^3 == 0x30 && at+1 < len(b) {
				left := 0
				if at, left = skipUnits(b, at+2, int(op&3)<<8+int(b[at+1])); left != 0 {
					return -1
				}
				continue
			}
			at = skipText(b, at)
		case blob:
			at = skipBlob(b, at)
		case definition, object:
			at = w.object(b, at, depth)
		case list:
			at = w.list(b, at, depth)
		case dict:
			at = w.dict(b, at, depth)
		case reference:
			at = w.reference(b, at)
		case end:
			if n < 0 {
				w.nodes -= n // one for each value
				return at
			}
			return -1
		default:
			return -1
		}
		if at < 0 {
			return -1
		}
	}
	if at > len(b) {
		return -1
	}
	return at
}

// object takes the definitions of new classes and an object.
func (w *count) object(b []byte, at, depth int) int {
	if depth > decode.MaxDepth {
		return -1
	}
	for at < len(b) && b[at] == 'C' {
		if at = w.define(b, at); at < 0 {
			return -1
		}
	}
	if at >= len(b) {
		return -1
	}
	from, class := at, int(b[at])-0x60
	at++
	if uint(class) > 15 {
		if b[from] != 'O' {
			return -1
		}
		if class, at = shortInt(b, at); at < 0 {
			return -1
		}
	}
	if uint(class) >= uint(len(w.classes)) {
		return -1
	}
	c := w.classes[class]
	w.odd = w.odd || c.odd
	w.objects++
	w.overhead += at - from
	w.nodes += 2 + int(c.fields)
	return w.values(b, at, int(c.fields), depth+1)
}

// define takes the definition of a class.
func (w *count) define(b []byte, at int) int {
	from := at
	stop := skipText(b, at+1)
	if stop < 0 {
		return -1
	}
	name, first := b[at+1:stop], []byte(nil)
	fields, at := shortInt(b, stop)
	if at < 0 || fields < 0 || fields > len(b)-at {
		return -1
	}
	length := at - stop
	for i := range fields {
		end := skipText(b, at)
		if end < 0 {
			return -1
		}
		if i == 0 {
			first = b[at:end]
		}
		at = end
	}
	if compactOf(name, fields) != "" {
		return -1
	}
	w.overhead += length
	w.names += at - from - length
	w.nodes += 2 + fields
	w.classes = append(w.classes, countedClass{int32(fields), countedAs(name, first) != once})
	return at
}

// list takes a list of any kind; see [Reader.list].
func (w *count) list(b []byte, at, depth int) int {
	if depth > decode.MaxDepth {
		return -1
	}
	op, from, n := b[at], at, untilEnd
	at++
	w.objects++
	switch {
	case op == 'W':
		w.objects-- // an Iterator or Enumeration has no place in the table
	case op == 'U' || op == 'V' || op >= 0x70 && op <= 0x77:
		if at = w.listType(b, at); at < 0 {
			return -1
		}
	}
	switch {
	case op == 'V' || op == 'X':
		if n, at = shortInt(b, at); at < 0 || n < 0 || n > len(b)-at {
			return -1
		}
	case op >= 0x70:
		n = int(op & 7)
	}
	w.overhead += at - from
	w.nodes += 4
	if n >= 0 {
		w.nodes += n
		return w.values(b, at, n, depth+1)
	}
	return w.ended(w.values(b, at, untilEnd, depth+1))
}

// ended takes an end mark.
func (w *count) ended(at int) int {
	if at < 0 {
		return -1
	}
	w.overhead++
	return at + 1
}

// dict takes a map.
func (w *count) dict(b []byte, at, depth int) int {
	if depth > decode.MaxDepth {
		return -1
	}
	from, op := at, b[at]
	at++
	w.objects++
	if op == 'M' {
		if at = w.listType(b, at); at < 0 {
			return -1
		}
	}
	w.overhead += at - from
	w.nodes += 3
	for at < len(b) && b[at] != 'Z' {
		if at = w.values(b, at, 2, depth+1); at < 0 {
			return -1
		}
		w.nodes += 2
	}
	if at >= len(b) {
		return -1
	}
	return w.ended(at)
}

// listType takes a type: its name, or its index in the type table.
func (w *count) listType(b []byte, at int) int {
	if at < len(b) && grammar[b[at]].rule == text {
		w.types++
		return skipText(b, at)
	}
	i, stop := shortInt(b, at)
	if stop < 0 || i < 0 || i >= w.types {
		return -1
	}
	return stop
}

// reference takes a reference to an object before it.
func (w *count) reference(b []byte, at int) int {
	i, stop := shortInt(b, at+1)
	if w.odd || stop < 0 || i < 0 || i >= w.objects {
		return -1
	}
	return stop
}

// shortInt returns the int at offset at and the offset behind it, -1 where there is none.
func shortInt(b []byte, at int) (n, stop int) {
	if at >= len(b) {
		return 0, -1
	}
	op := b[at]
	if op >= 0x80 && op <= 0xbf {
		return int(op) - 0x90, at + 1
	}
	g := grammar[op]
	if stop = at + int(g.size); g.rule != integer || stop > len(b) {
		return 0, -1
	}
	return int(number(b[at:stop])), stop
}

// skipText returns the offset behind the string at offset at, -1 where there is none.
func skipText(b []byte, at int) int {
	if at < len(b) && b[at] <= 0x1f { // the common case of the general one below
		stop, left := skipUnits(b, at+1, int(b[at]))
		if left != 0 {
			return -1
		}
		return stop
	}
	for more := true; more; {
		if at >= len(b) {
			return -1
		}
		head, again, ok := asText(b[at])
		if !ok || len(b)-at < head {
			return -1
		}
		left := 0
		if at, left = skipUnits(b, at+head, chunkLen(b[at:at+head])); left != 0 {
			return -1
		}
		more = again
	}
	return at
}

// skipBlob returns the offset behind the binary at offset at, -1 where there is none.
func skipBlob(b []byte, at int) int {
	for more := true; more; {
		if at >= len(b) {
			return -1
		}
		head, again, ok := asBytes(b[at])
		if !ok || len(b)-at < head {
			return -1
		}
		if n := chunkLen(b[at : at+head]); n <= len(b)-at-head {
			at += head + n
		} else {
			return -1
		}
		more = again
	}
	return at
}
