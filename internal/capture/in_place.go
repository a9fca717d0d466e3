package capture

import (
	"io"
	"math"
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
	pace    *pace
}

// minInPlace is the least size in bytes of a file that is looked at in place.
var minInPlace int64 = 32 << 20

// newInPlace returns nil if the file cannot be mapped. Otherwise the file is closed by close. The pace may have begun with other files.
func newInPlace(raw *countingReader, pace *pace) *inPlace {
	if file := mapped.Open(raw.file); file != nil {
		pace.nextFile()
		return &inPlace{file: file, raw: raw, pace: pace}
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
	w.lookahead = lookahead{}
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
	w.lookahead = lookahead{}
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
