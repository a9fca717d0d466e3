package dubboserialization

import (
	"bytes"

	"dubbo-wire/internal/decode"
)

// Where bytes are counted, most values are taken here: numbers, ASCII texts, references, boxes, lists, maps, and objects, as
// long as nothing has to be chosen. The sums are those of object and tagged, to which everything else and every error is
// left.

// frame is a container whose values are counted.
type frame struct {
	left        int    // its values that were not taken
	isFields    bool   // they are fields, without descriptors
	other, last follow // what may follow a value that is not the last, and the last

	// Of an object that may continue after its fields, of which there are n from offset from on.
	tails   bool
	n, from int
	known   int    // its class in Reader.known, -1 for one that is not named
	follow  follow // what may follow the object
}

// next counts a value as taken and returns what may follow it.
func (f *frame) next() follow {
	if f.left--; f.left == 0 {
		return f.last
	}
	return f.other
}

// counts reports whether countValues may be called.
func (r *Reader) counts() bool { return r.Counting() && r.source == nil && !r.unknownObjects }

// countValues takes the values of a container, unless there is an error.
func (r *Reader) countValues(f frame) {
	base := len(r.frames)
	r.frames = append(r.frames, f)
	for r.OK() && !r.countCommon(base) {
		f := &r.frames[len(r.frames)-1]
		switch {
		case f.left == 0:
			o, c := *f, class{}
			if r.frames = r.frames[:len(r.frames)-1]; o.known >= 0 {
				c = r.known[o.known].class
			}
			r.tail(fields{node: -1, n: o.n, from: o.from}, c, place{follow: o.follow})
			r.Leave()
		case f.isFields:
			r.tagged(class{}, place{Place: r.At(decode.ByField, "", 0), follow: f.next()})
		default:
			r.object(place{Place: r.At(decode.ByIndex, "", 0), follow: f.next()})
		}
	}
	r.frames = r.frames[:base]
}

// head is the start of a container, or the start of many: their bytes, those of them that are overhead or names, the nodes that they
// would have, and the calls of object and tagged.
type head struct{ size, overhead, names, nodes, works int }

// countCommon takes common values up to the end of frame base, and reports whether it came there. If not, the value that
// comes next, or what follows the fields of an object, is another one.
func (r *Reader) countCommon(base int) (done bool) {
	b, at := r.Buf, r.Off
	var c head // not counted yet, of the bytes from the last node to at
	f := &r.frames[len(r.frames)-1]
	for {
		if f.left == 0 {
			k := len(r.frames) - 1
			if done = k == base; done {
				break
			}
			if f.tails {
				if _, ok := continues(b[at:]); ok {
					break
				}
			}
			r.frames = r.frames[:k]
			f = &r.frames[k-1]
			r.Leave()
			continue
		}
		if stop := r.scalarEnd(at, f.isFields); stop > at {
			at = stop
			f.left--
			c.nodes++
			c.works++
			continue
		}
		h := r.begin(at, f)
		if h.size == 0 {
			break
		}
		at += h.size
		c.overhead += h.overhead
		c.names += h.names
		c.nodes += h.nodes
		c.works += h.works
		f = &r.frames[len(r.frames)-1]
	}
	r.Off = at
	r.Tally(c.overhead, c.nodes)
	r.Recount(decode.ClassNames, c.names)
	r.work += c.works * workPerObject
	return done
}

// scalarEnd returns the offset after a common value without parts at offset at. It is -1 for others and before an error.
func (r *Reader) scalarEnd(at int, isField bool) int {
	b := r.Buf
	if len(b)-at < 4 {
		return -1
	}
	tag := b[at]
	if isField {
		switch {
		case isNumber(tag):
			return numberEnd(b, at)
		case tag == tagBytes:
			return asciiEnd(b, at+1)
		case tag == tagValue:
			return numberEnd(b, at+1)
		case tag == tagRef:
			if v, n := uintAt(b[at+1:]); n > 0 && v < r.count {
				return at + 1 + n
			}
			return -1
		case tag == tagNothing:
			return at + 1
		}
	}
	switch {
	case tag == tagNull:
		return at + 1
	case tag != tagDescID || int(b[at+1]-0x80) >= len(numbered) || isField: // a field in a box would count twice as work
		return -1
	}
	switch numbered[b[at+1]-0x80].form {
	case number, character, float, double, date:
		if b[at+2] == tagValue {
			return numberEnd(b, at+3)
		}
	case str:
		if b[at+2] == tagBytes {
			return asciiEnd(b, at+3)
		}
	}
	return -1
}

// numberEnd returns the offset after the number at offset at, -1 if there is none.
func numberEnd(b []byte, at int) int {
	if at < len(b) {
		if n := numberSize(b[at]); n > 0 && n <= len(b)-at {
			return at + n
		}
	}
	return -1
}

// asciiEnd returns the offset after a text whose length is at offset at, -1 for one that has other characters than ASCII or
// is not complete.
func asciiEnd(b []byte, at int) int {
	v, n := uintAt(b[at:])
	if at += n; n == 0 || v > len(b)-at || !decode.IsASCII(b[at:at+v]) {
		return -1
	}
	return at + v
}

// begin takes the start of a container at offset at, in the one around, and puts a frame for it on the stack, or a value
// without parts whose class is named. The size is 0 for others and before an error; then it does nothing.
func (r *Reader) begin(at int, around *frame) (h head) {
	b := r.Buf[at:]
	if len(b) < 4 || r.Level() >= decode.MaxDepth {
		return head{}
	}
	f := frame{known: -1, follow: around.other}
	if around.left == 1 {
		f.follow = around.last
	}
	f.last = f.follow
	h.nodes, h.works = 2, 1
	if around.isFields {
		h.works++
	}
	var c knownClass
	switch tag := b[0]; {
	case tag == tagDesc:
		if f.known, h.names = r.knownAt(b); f.known < 0 {
			return head{}
		}
		c = r.known[f.known]
		h.nodes++
		h.works++
	case tag == tagDescID && int(b[1]-0x80) < len(numbered):
		if c.form = numbered[b[1]-0x80].form; c.form != list && c.form != mapping {
			return head{}
		}
		h.nodes++
		h.overhead = 2
	case !around.isFields:
		return head{}
	default:
		h.works = 1
	}
	from := h.names + h.overhead
	if len(b)-from < 2 {
		return head{}
	}
	tag := b[from]
	b = b[from+1:]
	if f.known >= 0 {
		if end := r.namedEnd(tag, b); end >= 0 {
			around.left--
			h.size, h.nodes = from+1+end, 2
			return h
		}
	}
	n, size := 0, 0
	switch {
	case tag == tagObject && (c.form == byTag || c.form == plain):
		if f.known < 0 && (b[0] >= 0x80 || longArray(b)) {
			return head{}
		}
		var v int64
		if v, size = varintAt(b); v < 0 || v > int64(len(b)) {
			return head{}
		}
		n = int(v)
		f.left, f.isFields, f.other = n, true, aNumber
		f.last = c.lastField(c.isCollection, f.follow)
		f.tails, f.n, f.from = c.form == byTag, n, at+from+1+size
	case tag == tagValues && (c.form == list || c.form == byTag && f.known < 0):
		n, size = uintAt(b)
		f.left, f.isFields = n, c.form == byTag
	case tag == tagMap && (c.form == mapping || c.form == byTag && f.known < 0):
		n, size = uintAt(b)
		f.left = 2 * n
	}
	if size == 0 || n > len(b)-size {
		return head{}
	}
	if tag == tagObject {
		r.refer(-1)
	}
	h.overhead += 1 + size
	h.size = from + 1 + size
	r.Enter()
	around.left--
	r.frames = append(r.frames, f)
	return h
}

// namedEnd returns where a value without parts of a class of the application ends, which starts with tag and goes on with b: a reference,
// null, or a constant of an enum. It is -1 for others.
func (r *Reader) namedEnd(tag byte, b []byte) int {
	switch tag {
	case tagRef:
		if v, n := uintAt(b); n > 0 && v < r.count {
			return n
		}
	case tagNull:
		return 0
	case tagBytes:
		return asciiEnd(b, 0)
	}
	return -1
}

// knownClass is a class whose objects are counted: of form byTag or plain.
type knownClass struct {
	class
	isCollection bool // of form byTag, by its name
}

// maxKnown bounds the classes that the descriptor of an object is compared with.
const maxKnown = 8

// knownAt returns the index in Reader.known of the class whose descriptor is at the start of b, and the bytes up to its end. The
// index is -1 for others and for what is not a descriptor.
func (r *Reader) knownAt(b []byte) (index, size int) {
	if b[1] != tagBytes {
		return -1, 0
	}
	n, k := uintAt(b[2:])
	if k == 0 || n > len(b)-2-k {
		return -1, 0
	}
	size = 2 + k + n
	desc := b[2+k : size]
	for i := range r.known {
		if bytes.Equal(r.known[i].desc, desc) {
			return i, size
		}
	}
	if len(r.known) == maxKnown || !decode.IsASCII(desc) || !descriptor(desc) {
		return -1, 0
	}
	c := classOf(desc)
	if c.form != byTag && c.form != plain {
		return -1, 0
	}
	r.known = append(r.known, knownClass{c, c.form == byTag && suffixed(desc, byTag) != byTag})
	return len(r.known) - 1, size
}
