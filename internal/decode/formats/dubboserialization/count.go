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

// counted is what countCommon has not told yet: the bytes that are overhead or names, the nodes, and the calls of object and tagged.
type counted struct{ overhead, names, nodes, works int }

// countCommon takes common values up to the end of frame base, and reports whether it came there. If not, the value that
// comes next, or what follows the fields of an object, is another one.
func (r *Reader) countCommon(base int) (done bool) {
	b, at := r.Buf, r.Off
	var c counted // of the bytes from the last node to at
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
		stop, left := r.commonScalars(at, f.left, f.isFields)
		taken := f.left - left
		at, f.left = stop, left
		c.nodes += taken
		c.works += taken
		if left == 0 {
			continue
		}
		if stop = r.begin(at, f, &c); stop == at {
			break
		}
		at = stop
		f = &r.frames[len(r.frames)-1]
	}
	r.Off = at
	r.Tally(c.overhead, c.nodes)
	r.Recount(decode.ClassNames, c.names)
	r.work += c.works * workPerObject
	return done
}

// window is how many bytes are looked at at once: a number in a box.
const window = 12

// commonScalars takes common values without parts from offset at on, up to one that is not or lies in the last bytes of the body, and returns how
// many of those that are left are left then.
func (r *Reader) commonScalars(at, left int, isField bool) (stop, after int) {
	b := r.Buf
	for ; left > 0 && at <= len(b)-window; left-- {
		tag, next := b[at], 0
		switch {
		case isField && tag <= tagLastNumber:
			next = at + int(tag) + 2
		case isField && tag == tagBytes:
			next = asciiEnd(b, at+1)
		case isField && isNumber(tag), tag == tagNull, isField && tag == tagNothing:
			next = at + 1
		case isField && tag == tagValue:
			next = numberEnd(b, at+1)
		case isField && tag == tagRef:
			if v, n := uintAt(b[at+1:]); n > 0 && v < r.count {
				next = at + 1 + n
			}
		case tag == tagDescID && !isField && int(b[at+1]-0x80) < len(numbered): // a field in a box would count twice as work
			switch numbered[b[at+1]-0x80].form {
			case number, character, float, double, date:
				if b[at+2] == tagValue {
					next = numberEnd(b, at+3)
				}
			case str:
				if b[at+2] == tagBytes {
					next = asciiEnd(b, at+3)
				}
			}
		}
		if next <= at {
			break
		}
		at = next
	}
	return at, left
}

// numberEnd returns the offset after the number at offset at, 0 if there is none.
func numberEnd(b []byte, at int) int {
	if n := numberSize(b[at]); n > 0 {
		return at + n
	}
	return 0
}

// asciiEnd returns the offset after a text whose length is at offset at, -1 for one that has other characters than ASCII or
// is not complete.
func asciiEnd(b []byte, at int) int {
	v, n := 0, 1
	if at < len(b) && b[at] >= 0x80 { // mostly
		v = int(b[at] & 0x7f)
	} else {
		v, n = uintAt(b[at:])
	}
	if at += n; n == 0 || v > len(b)-at || !decode.IsASCII(b[at:at+v]) {
		return -1
	}
	return at + v
}

// begin takes the start of a container at offset at, in the one around, and puts a frame for it on the stack, or a value
// without parts whose class is named, and adds it to sum. It returns the offset after it, at for others and before an error; then it does nothing.
func (r *Reader) begin(at int, around *frame, sum *counted) (stop int) {
	b := r.Buf[at:]
	if len(b) < 4 || r.Level() >= decode.MaxDepth {
		return at
	}
	known, names, overhead, nodes, works := -1, 0, 0, 2, 1
	if around.isFields {
		works++
	}
	var form form
	switch tag := b[0]; {
	case tag == tagDesc:
		if known, names = r.knownAt(b); known < 0 {
			return at
		}
		form = r.known[known].form
		nodes++
		works++
	case tag == tagDescID && int(b[1]-0x80) < len(numbered):
		if form = numbered[b[1]-0x80].form; form != list && form != mapping {
			return at
		}
		nodes++
		overhead = 2
	case !around.isFields:
		return at
	default:
		works = 1
	}
	from := names + overhead
	if len(b)-from < 2 {
		return at
	}
	tag := b[from]
	b = b[from+1:]
	if known >= 0 {
		if end := r.namedEnd(tag, b); end >= 0 {
			around.left--
			sum.names += names
			sum.nodes += 2
			sum.works += works
			return at + from + 1 + end
		}
	}
	left, size := 0, 0
	switch {
	case tag == tagObject && (form == byTag || form == plain):
		if known < 0 && (b[0] >= 0x80 || longArray(b)) {
			return at
		}
		var v int64
		if v, size = varintAt(b); v < 0 || v > int64(len(b)) {
			return at
		}
		left = int(v)
	case tag == tagValues && (form == list || form == byTag && known < 0):
		left, size = uintAt(b)
	case tag == tagMap && (form == mapping || form == byTag && known < 0):
		left, size = uintAt(b)
	}
	if size == 0 || left > len(b)-size {
		return at
	}
	if tag == tagObject {
		r.refer(-1)
	}
	r.Enter()
	stop = at + from + 1 + size
	sum.overhead += overhead + 1 + size
	sum.names += names
	sum.nodes += nodes
	sum.works += works
	follow := around.next()
	// A processor waits for the parts of a frame that is copied at once.
	k := len(r.frames)
	if k == cap(r.frames) {
		r.frames = append(r.frames, frame{})
	}
	r.frames = r.frames[:k+1]
	f := &r.frames[k]
	f.left, f.isFields, f.other, f.last = left, false, follow, follow
	f.tails, f.n, f.from = false, 0, 0
	f.known, f.follow = known, follow
	switch tag {
	case tagObject:
		c, isCollection := class{}, false
		if known >= 0 {
			c, isCollection = r.known[known].class, r.known[known].isCollection
		}
		f.isFields, f.other, f.last = true, aNumber, c.lastField(isCollection, follow)
		f.tails, f.n, f.from = form == byTag, left, stop
	case tagValues:
		f.isFields = form == byTag
	default:
		f.left = 2 * left
	}
	return stop
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
