package capture

import (
	"cmp"
	"io"
)

// Next delivers the earliest packet of all files, and of equally early ones that of
// the file that began earlier, so that of a rotated set no file begins before the
// one before it has ended; of files that began at one time that of the earlier input. The packets of one file stay in its order, even where their
// times do not. It returns io.EOF at the end of the last file; what was wrong on
// the way is in Inputs and Problems.
func (f *Files) Next(p *Packet) error {
	if f.closed {
		return ErrClosed
	}
	if fl := f.current; fl != nil {
		if len(f.open) == 1 && len(f.pending) == 0 { // the usual case: no copy, no order to keep
			if err := fl.stream.reader.next(p); err == nil {
				p.File = fl.index
				fl.in.count(p)
				return nil
			}
			f.release(fl)
			f.open, f.current = f.open[:0], nil
			return io.EOF
		}
		f.advance(fl)
	}
	f.openDue()
	if len(f.open) == 0 {
		f.current = nil
		return io.EOF
	}
	fl := f.open[0]
	f.current = fl
	*p = fl.packet
	fl.in.count(p)
	return nil
}

// advance replaces the delivered packet of the heap's first file by its next one.
func (f *Files) advance(fl *file) {
	if err := fl.stream.reader.next(&fl.packet); err != nil {
		f.release(fl)
		last := len(f.open) - 1
		f.open[0] = f.open[last]
		f.open[last] = nil
		f.open = f.open[:last]
	}
	f.siftDown(0)
}

// openDue opens the files whose first packet is not later than the earliest packet
// that is ready, so that only files that overlap in time are open together.
func (f *Files) openDue() {
	for len(f.pending) > 0 {
		fl := f.pending[0]
		if len(f.open) > 0 && compareTime(fl.first, fl.rank, f.open[0].packet.Time, f.open[0].rank) > 0 {
			return
		}
		f.pending = f.pending[1:]
		if fl.stream == nil {
			if err := f.start(fl, f.bufferSize()); err != nil {
				fl.in.Err = err // it was there when it was probed
				continue
			}
		}
		if fl.stream == nil {
			continue
		}
		fl.stream.count(&f.read)
		f.open = append(f.open, fl)
		for i := len(f.open)/2 - 1; i >= 0; i-- {
			f.siftDown(i)
		}
	}
}

// bufferSize is the size in bytes of the buffer of one more open file: together
// they stay near two full buffers, down to a floor.
func (f *Files) bufferSize() int {
	return max(bufferSize>>len(f.open), minBufferSize)
}

// compareTime orders by time, then by rank.
func compareTime(at int64, ai int, bt int64, bi int) int {
	return cmp.Or(cmp.Compare(at, bt), cmp.Compare(ai, bi))
}

// earlier orders the heap of open files.
func (f *Files) earlier(i, j int) bool {
	a, b := f.open[i], f.open[j]
	return compareTime(a.packet.Time, a.rank, b.packet.Time, b.rank) < 0
}

// siftDown moves the file at place i of the heap down to where it belongs.
func (f *Files) siftDown(i int) {
	for {
		child := 2*i + 1
		if child >= len(f.open) {
			return
		}
		if child+1 < len(f.open) && f.earlier(child+1, child) {
			child++
		}
		if !f.earlier(child, i) {
			return
		}
		f.open[i], f.open[child] = f.open[child], f.open[i]
		i = child
	}
}

// Close closes every file that is open. Next fails behind it.
func (f *Files) Close() error {
	f.closed = true
	for _, fl := range append(f.open, f.pending...) {
		f.release(fl)
	}
	f.open, f.pending, f.current = nil, nil, nil
	return nil
}
