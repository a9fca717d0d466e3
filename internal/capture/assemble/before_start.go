package assemble

// Where a stream was joined midway, bytes before its start were captured late, or sent again from before the capture.
// While all that follows them is held, they are the start. Else they are late: they were never seen, so they are no
// repeat; what follows them was handed on, so they have no place in the stream any more.

// lateSpans are the places of late bytes of both sides, for the time they come again. Few are enough: where there are
// more, what lies between two of them counts as seen.
type lateSpans [2][4]span32

// span32 is from one place before the start of a stream up to another; both negative or 0. Empty: both are 0.
type span32 struct{ from, to int32 }

// at reports whether a place was seen, and up to where that holds.
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

// add notes places that were not seen.
func (s *lateSpans) add(i int, x span32) {
	all := &s[i]
	for k := 0; k < len(all); k++ { // join those it touches
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

// earlier makes seq the start of a stream that was joined midway and of which nothing was handed on yet.
func (d *side) moveStart(seq uint32) bool {
	if d.pos > 0 || d.syn && !d.guessed {
		return false
	}
	d.next = seq
	return true
}

// beforeStart takes n payload bytes of side i that lie that far before the start of its stream, of which b were captured.
func (a *Assembler) takeBeforeStart(c *Connection, i, n int, b []byte, below int64) {
	for d := &c.sides[i]; n > 0; {
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
			d.stream.Late(int64(captured), cut, &a.meta)
			a.meta.Overhead, a.isNew = 0, true
		}
		n, b, below = n-r, b[captured:], below-int64(r)
	}
}
