package capture

import (
	"cmp"
	"io"
	"unsafe"
)

// Next delivers the earliest packet of all files. Among equally early packets, the file that started earlier comes
// first, so the files of a rotated set follow each other; among files that started at the same time, the earlier input.
// The packets of one file keep their order, even if their times do not increase. Next returns io.EOF at the end of the
// last file; Inputs and Problems tell what could not be read.
func (f *Files) Next(p *Packet) error {
	_, err := f.NextBatch(unsafe.Slice(p, 1))
	return err
}

// NextBatch is Next for as many packets as are read already, at most as many as ps has room for. It returns their number, which is 0 only
// with an error. All of them are valid until the next call of Next or NextBatch.
func (f *Files) NextBatch(ps []Packet) (int, error) {
	if f.closed {
		return 0, ErrClosed
	}
	if fl := f.current; fl != nil {
		fl.stream.window.endIfCut()
		if f.alone() { // the usual case needs no copy and no heap
			return f.nextAlone(fl, ps)
		}
		f.advance(fl)
	}
	n := 0
	for n < len(ps) {
		f.openDue()
		if len(f.open) == 0 {
			break
		}
		fl := f.open[0]
		ps[n] = fl.queue[0]
		ps[n].File = fl.index
		fl.in.count(ps[n : n+1])
		n++
		if fl.queue = fl.queue[1:]; len(fl.queue) == 0 && (f.alone() || !fl.refill()) {
			f.current = fl // where its next packet is now may be read over
			break
		}
		f.siftDown(0)
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// nextAlone is NextBatch for the only file that is left.
func (f *Files) nextAlone(fl *file, ps []Packet) (n int, err error) {
	if len(ps) > 1 {
		n = fl.stream.reader.ready(ps)
	}
	if n == 0 {
		if fl.stream.reader.next(&ps[0]) != nil {
			f.removeFirst(fl)
			return 0, io.EOF
		}
		n = 1
	}
	for i := range ps[:n] {
		ps[i].File = fl.index
	}
	fl.in.count(ps[:n])
	return n, nil
}

// alone reports whether only one file is left.
func (f *Files) alone() bool { return len(f.open) == 1 && len(f.pending) == 0 }

// maxQueue is the number of packets of a file that wait for those of others.
const maxQueue = 32

// refill fills the queue of a file with packets that were read already, and reports whether there are any.
func (fl *file) refill() bool {
	if len(fl.space) < maxQueue {
		fl.space = make([]Packet, maxQueue)
	}
	fl.queue = fl.space[:fl.stream.reader.ready(fl.space)]
	return len(fl.queue) > 0
}

// Preload begins to load a packet that NextBatch delivers later: its headers and the first bytes after them, or the complete packet if whole is set.
// It is called once for each packet, when that packet is handled.
func (f *Files) Preload(whole bool) {
	if len(f.open) > 0 {
		f.open[0].stream.window.preloadNext(whole)
	}
}

// advance reads the next packet of the first file of the heap, all of whose packets were delivered.
func (f *Files) advance(fl *file) {
	f.current = nil
	if fl.stream.reader.next(&fl.space[0]) == nil {
		fl.queue = fl.space[:1]
	} else {
		f.removeFirst(fl)
	}
	f.siftDown(0)
}

// removeFirst closes the first file of the heap, which has ended, and puts the last one in its place.
func (f *Files) removeFirst(fl *file) {
	f.current = nil
	f.release(fl)
	last := len(f.open) - 1
	f.open[0] = f.open[last]
	f.open[last] = nil
	f.open = f.open[:last]
}

// openDue opens the files whose first packet is not later than the earliest packet that is ready. So only files that
// overlap in time are open together.
func (f *Files) openDue() {
	for len(f.pending) > 0 {
		fl := f.pending[0]
		if len(f.open) > 0 && compareTime(fl.first, fl.rank, f.open[0].queue[0].Time, f.open[0].rank) > 0 {
			return
		}
		f.pending = f.pending[1:]
		if fl.stream == nil {
			if err := f.start(fl, f.bufferSize()); err != nil {
				fl.in.Err = err // it could be read when it was probed
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

// bufferSize returns the buffer size in bytes for one more open file. All buffers together stay near two full ones,
// down to a minimum size each.
func (f *Files) bufferSize() int {
	return max(bufferSize>>len(f.open), minBufferSize)
}

// compareTime orders by time, then by rank.
func compareTime(at int64, ai int, bt int64, bi int) int {
	return cmp.Or(cmp.Compare(at, bt), cmp.Compare(ai, bi))
}

// earlier is the order of the heap of open files.
func (f *Files) earlier(i, j int) bool {
	a, b := f.open[i], f.open[j]
	return compareTime(a.queue[0].Time, a.rank, b.queue[0].Time, b.rank) < 0
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

// Close closes all open files. After Close, Next returns ErrClosed, and packets are not valid, even if they were kept.
func (f *Files) Close() error {
	f.closed = true
	for _, fl := range append(f.open, f.pending...) {
		f.release(fl)
	}
	f.open, f.pending, f.current = nil, nil, nil
	f.kept.recycle(f.Retired())
	return nil
}
