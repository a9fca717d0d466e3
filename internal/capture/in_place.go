package capture

import (
	"io"
	"math"
	"slices"
	"time"

	"dubbo-wire/internal/capture/mapped"
)

// inPlace lets a window look at the bytes of a file where the system has them, instead of copying them to buffers, as long as
// that is faster. Of most packets only the headers are needed, so most of the bytes are then never loaded.
type inPlace struct {
	file    *mapped.File
	raw     *countingReader
	active  bool   // the buffer of the window is the file
	until   int64  // position in the file where the stretch ends
	loaded  int    // end of the bytes that may be looked at
	retired int    // what is before it holds no later packet
	spare   []byte // the window's buffer meanwhile, if packets are not kept
	pace    pace
}

// minInPlace is the least size in bytes of a file that is looked at in place.
var minInPlace int64 = 32 << 20

// newInPlace returns nil if the file cannot be mapped. Otherwise the file is closed by close.
func newInPlace(raw *countingReader) *inPlace {
	if file := mapped.Open(raw.file); file != nil {
		return &inPlace{file: file, raw: raw}
	}
	return nil
}

func (p *inPlace) on() bool { return p != nil && p.active }

// more adds the next bytes of the file to the window. It returns false if they are to be read.
func (p *inPlace) more(w *window) bool {
	if at := w.base + int64(w.end); at >= p.until {
		p.pace.kept = w.kept != nil
		p.until, w.largest = at+p.pace.stretch(), 0
		if inPlace := p.pace.next(time.Now(), at); inPlace && !p.active {
			p.enter(w)
		} else if !inPlace && p.active {
			p.leave(w)
		}
	}
	if !p.active {
		return false
	}
	to := min(w.end+bufferSize, len(w.buf))
	loaded := 0
	if to > w.end {
		began := time.Now()
		loaded = p.file.Load(w.end, to)
		p.pace.loading += time.Since(began)
	}
	if loaded == 0 {
		p.leave(w)
		return false
	}
	p.retire(w, w.pos)
	p.raw.add(int64(to - w.end))
	w.end, p.loaded = to, loaded
	return true
}

// retire says that the bytes before a position hold no later packet.
func (p *inPlace) retire(w *window, before int) {
	if before <= p.retired {
		return
	}
	p.retired = before
	if w.kept != nil {
		w.kept.retired = append(w.kept.retired, Space{file: p.file, before: before})
	} else {
		p.file.Drop(before)
	}
}

// enter replaces the buffer of the window by the file.
func (p *inPlace) enter(w *window) {
	file := p.file.Bytes()
	from, to := w.base+int64(w.pos), w.base+int64(w.end)
	if to >= int64(len(file)) {
		return
	}
	if p.loaded = p.file.Load(int(from), int(to)); p.loaded == 0 {
		return
	}
	if w.ahead != nil {
		w.ahead.close()
		w.ahead = nil
		if read, err := p.raw.file.Seek(0, io.SeekCurrent); err == nil {
			p.raw.add(to - read)
		}
	}
	if w.kept != nil {
		w.kept.retire(w.buf)
	} else {
		p.spare = w.buf
	}
	w.base, w.buf, w.pos, w.end = 0, file, int(from), int(to)
	p.active, p.retired = true, w.pos
}

// leave replaces the file by a buffer with the bytes that are not consumed. What follows them is read.
func (p *inPlace) leave(w *window) {
	rest := w.rest()
	buf := p.spare
	if size := max(bufferSize, 2*len(rest)); len(buf) < size {
		buf = w.kept.get(size)
	}
	copy(buf, rest)
	p.retire(w, w.pos)
	_, w.err = p.raw.file.Seek(int64(w.end), io.SeekStart)
	w.base, w.buf, w.pos, w.end = int64(w.pos), buf, 0, len(rest)
	p.active, p.spare = false, nil
}

// endIfCut ends a window that is the file where that ends now, if another process has cut it, and reports whether it did. Packets that were delivered may
// have zeros instead of bytes.
func (w *window) endIfCut() bool {
	p := w.place
	if !p.on() || p.file.Cut() < 0 {
		return false
	}
	if info, err := p.raw.file.Stat(); err == nil && info.Size() < int64(w.end) {
		w.end = max(w.pos, int(info.Size()))
	}
	p.leave(w)
	p.until = math.MaxInt64
	return true
}

// close closes the file, or lets the users of its packets do that.
func (p *inPlace) close(w *window) {
	if w.kept != nil {
		w.kept.retired = append(w.kept.retired, Space{file: p.file, last: true})
	} else {
		p.file.Close()
	}
}

// pace finds out which way of reading a file is the faster one, stretch by stretch. Copying costs more on some processors, waiting for memory on
// others, small pages of the page cache make mapping slower, and so do other threads, which all must forget what is not mapped any more.
type pace struct {
	kept      bool // packets are kept: other goroutines handle them up to keptStretch later
	stretches int  // since the trial began
	again     int  // the number of them after which the next one begins
	began     time.Time
	from      int64         // position in the file where the stretch began
	loading   time.Duration // what it took to map its pages
	// took is what a MiB took that was read, and one in place without mapping its pages.
	took [2][maxTimed]time.Duration
	// mapping is the mean of what it took to map the pages of a MiB, of about the last maxMapped times.
	mapping time.Duration
	mapped  int
	inPlace bool
}

const (
	// trialEvery is the number of stretches from one trial to the next. If stretches are short, the second one begins soon: in the first the program has just started.
	trialEvery, secondTrial = 256, 32
	maxTimed, maxMapped     = 4, 16
)

// keptStretch is the stretch in bytes if packets are kept.
var keptStretch int64 = 12 << 20

// stretch returns the bytes of a stretch; what is read at once may add to them.
func (p *pace) stretch() int64 {
	if p.kept {
		return keptStretch
	}
	return 2 << 20
}

// trials returns the number of stretches of a trial. Each way of reading has two in turn, of which the second is timed.
func (p *pace) trials() int {
	if p.kept {
		return 8
	}
	return 4 * maxTimed
}

// next ends a stretch, if one has begun, and returns whether the next one, from a position in the file on, is looked at in place. Some parts of a file have
// smaller pages than others: then mapping them may take longer than it did in the trial.
func (p *pace) next(now time.Time, at int64) bool {
	k := p.stretches
	if k > 0 {
		mib := float64(at-p.from) / (1 << 20)
		took, mapping := time.Duration(float64(now.Sub(p.began))/mib), time.Duration(float64(p.loading)/mib)
		way := p.way(k - 1)
		if way == 1 {
			p.mapped = min(p.mapped+1, maxMapped)
			p.mapping += (mapping - p.mapping) / time.Duration(p.mapped)
		}
		if k <= p.trials() && k%2 == 0 {
			p.took[way][(k-1)/4] = took - mapping
		}
		if k == p.trials() || k > p.trials() && p.inPlace {
			p.inPlace = p.fastest(1)+p.mapping < p.fastest(0)
		}
	}
	if k == p.again {
		k, p.mapped = 0, 0
		if p.again == 0 && !p.kept {
			p.again = secondTrial
		} else {
			p.again = trialEvery
		}
	}
	p.stretches, p.began, p.from, p.loading = k+1, now, at, 0
	return p.way(k) == 1
}

// way returns 1 if stretch k is looked at in place. In a trial the first, the fourth and so on are read, since all become faster in the beginning.
func (p *pace) way(k int) int {
	switch {
	case k < p.trials():
		return (k/2 + 1) / 2 % 2
	case p.inPlace:
		return 1
	}
	return 0
}

// fastest returns the mean of the faster half of the times of a way: others may have been interrupted.
func (p *pace) fastest(way int) (mean time.Duration) {
	timed := p.took[way]
	faster := timed[:p.trials()/4]
	slices.Sort(faster)
	faster = faster[:len(faster)/2]
	for _, t := range faster {
		mean += t / time.Duration(len(faster))
	}
	return mean
}
