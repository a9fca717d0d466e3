package dubbo

// Where nobody knows yet whether bodies of a direction hold frames, a chain that did not break before the next gap is
// neither believed nor skipped, but put off. When a later one is believed, and no body of it has a frame inside, what was
// put off is searched again, as in a direction whose bodies hold none. When a body has one, or the stream ends, it is
// skipped.

// maxLater is how many searches of a direction are put off.
const maxLater = 16

// gap is a gap as it was told to the framer.
type gap struct {
	wire  int64
	chunk Chunk
}

// mayWait reports whether the search may be put off.
func (f *Framer) mayWait() bool {
	if f.nested || !f.doubtful() || f.cfg.Buffers.crowded() || !f.search.orderly() {
		return false
	}
	n := 0
	for s := f.later; s != nil; s = s.older {
		n++
	}
	return n < maxLater
}

// putOff puts the search off, from its chain on.
func (f *Framer) putOff() {
	s := f.search
	s.givenUp = false
	f.dropSearch(s.cand)
	s.begun = elsewhere
	s.older, f.later, f.search = f.later, s, nil
	f.endRun()
}

// laterHits is how many writes speak for the chains that were put off.
func (f *Framer) laterHits() int {
	n := 0
	for s := f.later; s != nil; s = s.older {
		n += s.hits
		if last := len(s.win) - int(s.tip-s.base); last == 0 {
			n++
		}
	}
	return n
}

// resolve is called when the search's chain is believed and there are others that were put off. If all of it is believed
// and none of its bodies has a frame inside, it searches all anew and returns true.
func (f *Framer) resolve() bool {
	s := f.search
	if f.nested || !f.doubtful() || s.accept != s.cand || s.kinds == 0 {
		f.forget()
		return false
	}
	f.clear = true
	var first *search
	for l := f.later; l != nil; {
		l, l.older, first = l.older, first, l
	}
	f.later, f.search = nil, nil
	for first != nil {
		l := first
		first, l.older = l.older, nil
		f.begun, f.behind = elsewhere, true
		f.again(l)
		// What was skipped since is missing, too.
		next := s
		if first != nil {
			next = first
		}
		f.Gap(next.marks[0].chunk.Pos-l.end(), l.gap.wire, &l.gap.chunk)
		f.release(l)
	}
	f.begun = elsewhere
	f.again(s)
	f.release(s)
	return true
}

// again takes the bytes of a search's window once more.
func (f *Framer) again(s *search) {
	for i := range s.marks {
		end := len(s.win)
		if i+1 < len(s.marks) {
			end = s.marks[i+1].off
		}
		f.Data(s.win[s.marks[i].off:end], &s.marks[i].chunk)
	}
}

// end is the place in the stream behind the window.
func (s *search) end() int64 {
	last := &s.marks[len(s.marks)-1]
	return last.chunk.Pos + int64(len(s.win)-last.off)
}

// forget skips what was put off.
func (f *Framer) forget() {
	for l := f.later; l != nil; l = f.later {
		f.later = l.older
		f.skip(int64(len(l.win)))
		f.release(l)
	}
}
