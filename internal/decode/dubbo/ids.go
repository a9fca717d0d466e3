package dubbo

// idWindow remembers the ids of one direction and kind: the highest of late, and which of the latestIDs up to it were seen.
type idWindow struct {
	last   int64
	latest uint64 // bit n: last-n was seen; the highest bit: repeats
}

// latestIDs is how many ids a window tells of.
const latestIDs = 63

// repeats: an id came twice; it tells frames from copies of frames no more.
const repeats = 1 << latestIDs

// seen reports whether there was an id.
func (w *idWindow) seen() bool { return w.latest != 0 }

// maxIDStep is how far apart the ids around a gap may lie: ids are counted per JVM, over all its connections.
const maxIDStep = 1 << 20

// nextIDStep is how far apart the ids of frames that follow each other lie on a connection that is not one of many.
const nextIDStep = 1 << 10

func (w *idWindow) see(id int64) {
	d := id - w.last
	kept := w.latest & repeats
	switch {
	case d > 0 && d < latestIDs:
		w.latest = w.latest<<d&^repeats | kept | 1
		w.last = id
	case d <= 0 && d > -latestIDs && w.seen():
		bit := uint64(1) << -d
		if w.latest&bit != 0 {
			bit |= repeats
		}
		w.latest |= bit
	default:
		w.last, w.latest = id, kept|1
	}
}

// near reports whether id may be one of a frame around those seen.
func (w *idWindow) near(id int64) bool { return w.within(id, maxIDStep) }

func (w *idWindow) within(id, step int64) bool {
	d := id - w.last
	return !w.seen() || d <= step && d >= -step
}

// again reports whether id was seen lately: a frame with it is a copy.
func (w *idWindow) again(id int64) bool {
	d := w.last - id
	return w.latest&repeats == 0 && d >= 0 && d < latestIDs && w.latest&(1<<d) != 0
}

// goesOn reports whether an id is one of the next, or was overtaken lately.
func (w *idWindow) goesOn(id int64) bool {
	d := id - w.last
	return w.seen() && d > -latestIDs-1 && d <= nextIDStep
}
