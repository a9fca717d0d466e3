package smartbuf

import "dubbo-wire/internal/decode"

// Where bytes are counted, most values are taken here: scalars, objects, and arrays of objects, numbers and strings. The sums
// are those of value, members and slice, to which everything else and every error is left.

// frame is an object, or an array and the slice of it that is being read, whose values are counted.
type frame struct {
	left    int
	kind    frameKind
	more    bool       // another slice of the array follows
	of      *structure // of the objects of a slice
	lasting bool       // that is a lasting one
}

type frameKind uint8

const (
	ofValues  frameKind = iota // with heads
	ofObjects                  // of one struct
	ofStrings                  // numbers of entries
	ofNumbers
)

// countValues takes the values of a container, unless there is an error.
func (r *Reader) countValues(f frame) {
	base := len(r.frames)
	r.frames = append(r.frames, f)
	for r.OK() && !r.countCommon(base) {
		f := &r.frames[len(r.frames)-1]
		if f.left == 0 {
			head := uint64(r.U16("the head of a slice"))
			r.Role("type")
			f.more = head&1 != 0
			r.slice(byte(head>>1&15), 0, head>>5)
			continue
		}
		switch f.left--; f.kind {
		case ofValues:
			r.value(decode.ByIndex, "", 0)
		case ofObjects:
			r.members(decode.ByIndex, "", 0, f.of, f.lasting)
		case ofStrings:
			r.string(decode.ByIndex, "", 0, r.uvarint("a string"))
		case ofNumbers:
			r.varint(0)
		}
	}
	r.frames = r.frames[:base]
}

// sums are what was counted of the bytes from the last node on: bytes that are overhead, bytes of pools, and nodes.
type sums struct{ overhead, pooled, nodes int }

// countCommon takes common values up to the end of frame base, and reports whether it came there. If not, what comes next is
// something else.
func (r *Reader) countCommon(base int) (done bool) {
	b, at := r.Buf, r.Off
	var c sums
	f := &r.frames[len(r.frames)-1]
loop:
	for {
		switch {
		case f.left == 0:
			k := len(r.frames) - 1
			if done = k == base; done || f.more {
				break loop
			}
			r.frames = r.frames[:k]
			f = &r.frames[k-1]
			r.Leave()
			continue
		case f.kind == ofObjects: // which have no head
			if !r.beginObject(f, f.of, f.lasting, &c) {
				break loop
			}
			f = &r.frames[len(r.frames)-1]
			continue
		case f.kind == ofNumbers:
			n, stop := f.left, at
			for n > 0 {
				size := decode.VarintSize(b, stop)
				if size > 8 {
					break
				}
				stop += size
				n--
			}
			if stop == at {
				break loop
			}
			at = stop
			c.nodes += f.left - n
			f.left = n
			continue
		}
		if f.kind == ofValues {
			if at, f.left = r.countPlain(b, at, f.left, &c); f.left == 0 {
				continue
			}
		}
		if at >= len(b) {
			break
		}
		head, size := uvarintAt(b[at:])
		if size == 0 {
			break
		}
		if f.kind == ofStrings {
			if head == 0 || head > maxEntries {
				break
			}
			head = head<<kindBits | kindString
		}
		switch id := head >> kindBits; head & kindMask {
		case kindVarint, kindFloat, kindDouble, kindString:
			if list := r.lists[head&3]; id > 1 && (id-2 >= uint64(len(list)) || !r.countPooled(&list[id-2], size, &c)) {
				break loop
			}
			at += size
			c.nodes++
			f.left--
			continue
		case kindObject:
			list := r.tmpStructs
			if id&1 == 1 {
				list = r.structs
			}
			i := id>>1 - 1
			if i >= uint64(len(list)) || !r.beginObject(f, &list[i], id&1 == 1, &c) {
				break loop
			}
			at += size
			c.overhead += size
			c.nodes++
		case kindArray:
			n := r.beginArray(b[at+size:], f, id, &c)
			if n < 0 {
				break loop
			}
			at += size + n
			c.overhead += size
			c.nodes += 2
		default:
			break loop
		}
		f = &r.frames[len(r.frames)-1]
	}
	r.Off = at
	r.Tally(c.overhead, 0)
	r.TallyPooled(c.pooled, c.nodes)
	return done
}

// uvarintAt returns the number at the start of b and its size; that is 0 for one that is not complete or has more than 9 bytes.
func uvarintAt(b []byte) (v uint64, size int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	for i, c := range b[:min(len(b), maxVarint-1)] {
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// countPlain takes up to left values, from offset at on, as long as they are constants, empty maps and entries of pools whose heads have one
// byte or two. It returns the offset after them and how many are left, and stops where pooled would fail.
func (r *Reader) countPlain(b []byte, at, left int, c *sums) (next, more int) {
	c.nodes += left
	for ; left > 0 && uint(at) < uint(len(b)); left-- {
		head, size := uint(b[at]), 1
		if head >= 0x80 {
			if at+1 >= len(b) || b[at+1] >= 0x80 {
				break
			}
			head, size = head&0x7f|uint(b[at+1])<<7, 2
		}
		id, list := head>>kindBits, r.lists[head&3]
		if kind := head & kindMask; kind > kindString {
			if kind > kindObject || (kind == kindObject) != (id == 0) {
				break
			}
			id, list = id+1, r.symbols // an empty map is like a number that is zero
		}
		if id > 1 {
			if id -= 2; id >= uint(len(list)) {
				break
			}
			e := &list[id]
			n := int(e.end - e.off)
			if !e.used {
				e.used = true
				c.overhead += size
				c.pooled += n
				c.nodes++
			} else if r.repeated += n; r.repeated > maxRepeated {
				break
			}
		}
		at += size
	}
	c.nodes -= left
	return at, left
}

// countPooled counts, but for one node, a value whose content is an entry of a pool and that itself has size bytes. It returns false
// where pooled would fail.
func (r *Reader) countPooled(e *entry, size int, c *sums) bool {
	n := int(e.end - e.off)
	if e.used {
		r.repeated += n
		return r.repeated <= maxRepeated
	}
	e.used = true
	c.overhead += size
	c.pooled += n
	c.nodes++
	return true
}

// beginObject begins an object of struct s, a value of f. It returns false where members would fail.
func (r *Reader) beginObject(f *frame, s *structure, lasting bool, c *sums) bool {
	if r.Level() >= decode.MaxDepth || !r.countNames(s, lasting, c) {
		return false
	}
	r.Enter()
	c.nodes++
	f.left--
	r.push().left = int(s.n)
	return true
}

// push adds a frame, which the caller fills in place: a processor waits for one that is made elsewhere and copied.
func (r *Reader) push() *frame {
	n := len(r.frames)
	if n == cap(r.frames) {
		r.frames = append(r.frames, frame{})
	}
	r.frames = r.frames[:n+1]
	f := &r.frames[n]
	f.kind, f.more = ofValues, false
	return f
}

// countNames counts the names of an object of struct s, which are keys of a map if the struct is temporary. It returns false where
// countRepeat would fail.
func (r *Reader) countNames(s *structure, lasting bool, c *sums) bool {
	if lasting || s.used {
		r.repeated += s.bytes
	} else {
		for _, id := range r.tmpFields[s.first : s.first+s.n] {
			e := &r.tmpNames[id]
			if n := int(e.end - e.off); e.used {
				r.repeated += n
			} else {
				e.used = true
				c.pooled += n
			}
		}
		s.used = true
	}
	if !lasting {
		c.nodes += int(s.n)
	}
	return r.repeated <= maxRepeated
}

// beginArray begins an array, a value of f, whose head ends where b starts. It returns the bytes after its head that its first
// slice has before its elements, -1 for a slice that is not common and where slice would fail.
func (r *Reader) beginArray(b []byte, f *frame, head uint64, c *sums) (n int) {
	if r.Level() >= decode.MaxDepth {
		return -1
	}
	kind, of, lasting := ofValues, (*structure)(nil), false
	switch typ := head >> 1 & 15; {
	case typ == sliceMixed:
	case typ == sliceShort || typ == sliceInt || typ == sliceLong:
		kind = ofNumbers
	case typ == sliceString:
		kind = ofStrings
	case typ == sliceObject:
		var id uint64
		if id, n = uvarintAt(b); n == 0 {
			return -1
		}
		list := r.tmpStructs
		if lasting = id&1 == 1; lasting {
			list = r.structs
		}
		i := id>>1 - 1
		if i >= uint64(len(list)) || list[i].n == 0 {
			return -1
		}
		kind, of = ofObjects, &list[i]
	default:
		return -1
	}
	if head>>5 > uint64(len(b)-n) {
		return -1
	}
	if n > 0 {
		c.overhead += n
		c.nodes++
	}
	r.Enter()
	f.left--
	slice := r.push()
	slice.left, slice.kind, slice.more = int(head>>5), kind, head&1 != 0
	if kind == ofObjects {
		slice.of, slice.lasting = of, lasting
	}
	return n
}
