package dubbo

// idWindow remembers the recent ids of one direction and kind: the highest one, and which of the latestIDs up to it were seen.
type idWindow struct {
	last   int64
	latest uint64 // bit n: last-n was seen; the highest bit: sawRepeat
}

// latestIDs is the number of ids that a window remembers.
const latestIDs = 63

// sawRepeat is set when an id came twice: ids no longer distinguish frames from copies of frames.
const sawRepeat = 1 << latestIDs

// maxIDStep is the maximum distance between the ids around a gap: a JVM counts ids over all its connections.
const maxIDStep = 1 << 20

// nextIDStep is the maximum distance between the ids of successive frames if the JVM has few connections.
const nextIDStep = 1 << 10

// any reports whether the window has an id.
func (w *idWindow) any() bool { return w.latest != 0 }

func (w *idWindow) add(id int64) {
	d := id - w.last
	kept := w.latest & sawRepeat
	switch {
	case d > 0 && d < latestIDs:
		w.latest = w.latest<<d&^sawRepeat | kept | 1
		w.last = id
	case d <= 0 && d > -latestIDs && w.any():
		bit := uint64(1) << -d
		if w.latest&bit != 0 {
			bit |= sawRepeat
		}
		w.latest |= bit
	default:
		w.last, w.latest = id, kept|1
	}
}

// near reports whether a frame near those seen may have that id.
func (w *idWindow) near(id int64) bool { return w.within(id, maxIDStep) }

func (w *idWindow) within(id, step int64) bool {
	d := id - w.last
	return !w.any() || d <= step && d >= -step
}

// repeats reports whether id was seen recently, so that a frame with it is a copy.
func (w *idWindow) repeats(id int64) bool {
	d := w.last - id
	return w.latest&sawRepeat == 0 && d >= 0 && d < latestIDs && w.latest&(1<<d) != 0
}

// continues reports whether id is one of the next ids, or one that was overtaken recently.
func (w *idWindow) continues(id int64) bool {
	d := id - w.last
	return w.any() && d > -latestIDs-1 && d <= nextIDStep
}

func nearIDs(a, b int64) bool { return a-b <= maxIDStep && b-a <= maxIDStep }
