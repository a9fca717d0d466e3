package assemble

// A stream that was joined midway may get bytes before its start: they were captured late, or retransmitted from before
// the capture. While all bytes that follow them are held, they become the start. Otherwise they are late: they were not
// seen before, so they are not retransmitted; the bytes after them were handed on, so they have no place in the stream.

// lateSpans are the positions of late bytes of both sides, which are compared with later copies. Few spans are enough:
// if there are more, the bytes between two of them count as seen.
type lateSpans [2][4]span32

// span32 is a range of positions before the start of a stream; both are negative or 0. It is empty if both are 0.
type span32 struct{ from, to int32 }

// at reports whether a position was seen, and up to which position that holds.
func (s *lateSpans) at(i int, place int32) (seen bool, until int32) {
	if s == nil {
		return false, 0
	}
	for _, x := range s[i] {
		if x.from <= place && place < x.to {
			return true, x.to
		}
		if x.from > place {
			until = min(until, x.from)
		}
	}
	return false, until
}

// add notes positions that were not seen before.
func (s *lateSpans) add(i int, x span32) {
	all := &s[i]
	for k := 0; k < len(all); k++ { // join the spans that it touches
		if y := all[k]; y != (span32{}) && x.from <= y.to && y.from <= x.to {
			x = span32{min(x.from, y.from), max(x.to, y.to)}
			all[k] = span32{}
		}
	}
	nearest, gap := 0, int32(-1)
	for k, y := range all {
		if y == (span32{}) {
			all[k] = x
			return
		}
		if g := max(x.from-y.to, y.from-x.to); gap < 0 || g < gap {
			nearest, gap = k, g
		}
	}
	y := all[nearest]
	all[nearest] = span32{min(x.from, y.from), max(x.to, y.to)}
}

// moveStart makes seq the start of a stream that was joined midway and of which nothing was handed on yet.
func (c *Connection) moveStart(i int, seq uint32) bool {
	d := &c.sides[i]
	if c.flow.ways[i].pos > 0 || d.syn && !d.guessed {
		return false
	}
	d.next = seq
	return true
}

// takeBeforeStart takes n payload bytes of side i that are below bytes before the start of its stream, of which b were
// captured.
func (a *Assembler) takeBeforeStart(c *Connection, i, n int, b []byte, below int64) {
	for n > 0 {
		place := int32(-below)
		spans := a.late[c]
		seen, until := spans.at(i, place)
		r := min(n, int(until-place))
		captured := min(r, len(b))
		if seen {
			a.repeat(c, i, r, -below)
		} else {
			if spans == nil {
				spans = new(lateSpans)
				a.late[c] = spans
			}
			spans.add(i, span32{place, place + int32(r)})
			cut := int64(r - captured)
			a.overhead()
			a.Ledger.Late += int64(captured)
			a.Ledger.Stream += int64(captured)
			a.Ledger.BeyondSnap += cut
			a.meta.Pos = -below
			c.flow.ways[i].stream.Late(b[:captured], cut, &a.meta)
			a.meta.Overhead, a.isNew = 0, true
		}
		n, b, below = n-r, b[captured:], below-int64(r)
	}
}
