package redact

import (
	"slices"

	"dubbo-wire/internal/redact/scrub"
	"dubbo-wire/internal/rpc"
)

// copied is a message and its copy with other values.
type copied struct {
	both   []byte // the message, and after n bytes the copy
	n      int
	m      rpc.Message
	memory *slab
	batch  *batch     // that has it; nil if the copy is complete
	number int64      // of the frame
	last   rpc.Origin // the packet that completed it
	// headers is the memory of m.Headers, pieces that of the places of runs.
	headers []rpc.Header
	pieces  []rpc.Piece
	runs    []run // that the worker copies to the memory of claims
}

// run is bytes of a message that follow each other in its stream.
type run struct {
	from     int64
	pieces   []rpc.Piece
	original []byte
	copy     []byte // bytes of the copy, once it is complete
	memory   *slab
}

// append appends bytes of a message, or of its copy, that is in of. head is the length of its head.
func (x *run) append(b, of []byte, head int) []byte {
	for _, p := range x.pieces {
		at := p.Off
		if p.Body {
			at += head
		}
		b = append(b, of[at:at+p.Len]...)
	}
	return b
}

// batch is messages for a worker.
type batch struct {
	*work         // nil once all are copied
	reports       []reported
	bytes         int
	sent, awaited bool
	done          chan struct{} // closed when all are copied
	records       []*record     // of the packets that completed the messages, which wait for the batch; nil for those that are not taken yet
}

// work is the memory of a batch until it is done, which is used again.
type work struct {
	jobs []copied
	buf  []byte // messages whose bytes are in several places of a stream
}

// reported is what is to be reported of a message.
type reported struct {
	job    int // its place in the batch
	number int64
	last   rpc.Origin
	result scrub.Result
}

const (
	// A batch is sent when it has so many bytes of messages, or when one of its copies is needed.
	batchBytes = 128 << 10
	maxJobs    = batchBytes / minForWorkers // of a batch
	// A worker is worth the way there and back for bodies of so many bytes: they are walked before, to see whether they need no tree.
	minForWorkers = 1 << 10
	// A copy that is needed before its batch is sent was needed at once: with many connections most packets of a message are written before its end.
	// So many messages after it are not given to workers, which would be waited for.
	hurried = 1 << 8
)

// reuse makes the memory ready for another batch.
func (w *work) reuse(spare chan *work) {
	for i := range w.jobs {
		c := &w.jobs[i]
		*c = copied{headers: emptied(c.headers), pieces: emptied(c.pieces), runs: emptied(c.runs)}
	}
	w.jobs, w.buf = w.jobs[:0], w.buf[:0]
	select {
	case spare <- w:
	default:
	}
}

// maxKept is how many parts of a message the memory that is used again has room for: one message may have millions.
const maxKept = 1 << 10

// emptied returns list without its elements, or nil if it is long.
func emptied[T any](list []T) []T {
	if cap(list) > maxKept {
		return nil
	}
	clear(list)
	return list[:0]
}

// newWork returns memory for a batch.
func (r *Redactor) newWork() *work {
	select {
	case w := <-r.spare:
		return w
	default:
		return &work{jobs: make([]copied, 0, maxJobs)}
	}
}

// room returns an empty slice with room for n bytes.
func (w *work) room(n int) []byte {
	if n > cap(w.buf)-len(w.buf) {
		if n > batchBytes || len(w.buf) > 0 {
			return make([]byte, 0, n)
		}
		w.buf = make([]byte, 0, 3*batchBytes)
	}
	at := len(w.buf)
	w.buf = w.buf[:at+n]
	return w.buf[at:at:len(w.buf)]
}

// enqueue gives a message to the workers. The head, which may depend on the connection, is copied here.
func (r *Redactor) enqueue(m *rpc.Message) *copied {
	if b := r.batch; b != nil && (b.bytes >= batchBytes || len(b.jobs) == maxJobs) {
		r.send()
	}
	if r.batch == nil {
		r.batch = &batch{work: r.newWork(), done: make(chan struct{})}
		if len(r.batches) == cap(r.batches) {
			r.batches = slices.DeleteFunc(r.batches, (*batch).isReported)
		}
		r.batches = append(r.batches, r.batch)
	}
	b := r.batch
	b.jobs = b.jobs[:len(b.jobs)+1]
	c := &b.jobs[len(b.jobs)-1]
	c.batch, c.n, c.m = b, len(m.Head)+len(m.Body), *m
	head := len(m.Head)
	if m.Protocol.ScrubHead == nil {
		c.both, c.memory = r.original(m)
		c.m.Head = c.both[:head:head]
		c.m.Native = nil // what is known of the connection does not matter to such a body
	} else {
		c.both = append(append(b.room(2*c.n+head), m.Head...), m.Body...)
		c.m.Head = r.scrubber.Head(c.both[2*c.n:2*c.n], m)
		c.headers = append(c.headers, m.Headers...)
		c.m.Headers = c.headers
		if m.Native != nil {
			c.m.Native = m.Native.Clone()
		}
	}
	c.both = c.both[: 2*c.n : 2*c.n]
	c.m.Body = c.both[head:c.n:c.n]
	c.m.Pieces = nil
	b.bytes += c.n
	b.records = append(b.records, nil)
	return c
}

// send gives the collected messages to a worker.
func (r *Redactor) send() {
	r.batch.sent = true
	r.queue <- r.batch
	r.batch = nil
}

// scrub makes the copies of a batch.
func (b *batch) scrub(s *scrub.Scrubber) {
	for i := range b.jobs {
		c := &b.jobs[i]
		out, ok := s.Body(c.both[:c.n], &c.m)
		if !ok {
			var result scrub.Result
			out, result = s.Decoded(c.both[:c.n], &c.m)
			result.Filled = slices.Clone(result.Filled) // valid until the next message
			if c.number > 0 {
				b.reports = append(b.reports, reported{i, c.number, c.last, result})
			}
		}
		if len(out) != 2*c.n || &out[0] != &c.both[0] {
			panic("redact: the copy of a frame has another length")
		}
		for i := range c.runs {
			c.runs[i].append(c.runs[i].copy, out[c.n:], len(c.m.Head))
		}
	}
}

// isReported reports whether nothing is left to report of a batch.
func (b *batch) isReported() bool {
	select {
	case <-b.done:
		return len(b.reports) == 0
	default:
		return false
	}
}

// await returns once the copies of a batch are complete.
func (r *Redactor) await(b *batch) {
	if b.awaited {
		return
	}
	if !b.sent {
		r.hurry = hurried
		r.send()
	}
	<-b.done
	b.awaited = true
	for i := range b.reports {
		x := &b.reports[i]
		text := r.count(x.number, &x.result, "")
		if rec := b.records[x.job]; rec != nil {
			rec.comment(x.number, text)
		} else {
			r.note(x.number, &x.last, text)
		}
	}
	b.reports, b.records = nil, nil
}

// completing is a message of a batch whose last packet is not taken yet.
type completing struct {
	batch *batch
	job   int
	last  rpc.Origin
}

// complete notes which packets complete messages that may still be copied; rec is that of the packet that was taken last.
func (r *Redactor) complete(rec *record) {
	for _, c := range r.completing {
		to := r.noted(rec, c.last.File, c.last.Packet)
		if to == nil || c.batch.awaited {
			continue
		}
		if to.waits != nil && to.waits != c.batch {
			r.await(to.waits)
		}
		c.batch.records[c.job], to.waits = to, c.batch
	}
	clear(r.completing)
	r.completing = r.completing[:0]
}
