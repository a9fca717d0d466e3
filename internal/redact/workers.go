package redact

import (
	"dubbo-wire/internal/redact/scrub"
	"dubbo-wire/internal/rpc"
)

// copied is a message and its copy with other values.
type copied struct {
	both   []byte // the message, and after n bytes the copy
	n      int
	m      rpc.Message
	memory *slab
	result scrub.Result
	batch  *batch     // that has it; nil once the copy is known to be complete
	number int64      // of the frame
	last   rpc.Origin // the packet that completed it
}

// batch is messages for a worker.
type batch struct {
	jobs  []*copied
	bytes int
	sent  bool
	done  chan struct{} // closed when all are copied
}

// A batch is sent when it has so many bytes of messages, or when one of its copies is needed.
const batchBytes = 128 << 10

// maxBatches bounds the batches that wait for a worker, for each worker.
const maxBatches = 2

// slab is memory for messages and their copies, which is used again when no claim needs any of it.
type slab struct {
	b    []byte
	used int
	refs int
}

const (
	slabSize = 256 << 10
	maxSlabs = 256 // that are kept without use
	// fewAllocations are made one by one.
	fewAllocations = 6
)

// original returns the bytes of a message, with room for as many, and the slab that they are in, as room does. If the protocol
// may have a message in several places, the bytes are valid until the next call, because claims copy them.
func (r *Redactor) original(m *rpc.Message) ([]byte, *slab) {
	n := 2 * (len(m.Head) + len(m.Body))
	both, s := r.pieced[:0], (*slab)(nil)
	if m.Protocol.ScrubHead == nil {
		both, s = r.room(n)
	} else if cap(both) < n {
		both = make([]byte, 0, n)
		if n <= slabSize {
			r.pieced = both
		}
	}
	return append(append(both, m.Head...), m.Body...), s
}

// room returns an empty slice with room for n bytes, and the slab that it is in, which is nil for long ones. The slab is needed until release is
// called for it.
func (r *Redactor) room(n int) ([]byte, *slab) {
	if n > slabSize/2 {
		return make([]byte, 0, n), nil
	}
	s := r.slab
	if s == nil || len(s.b)-s.used < n {
		if s != nil {
			r.release(s)
		}
		if k := len(r.slabs); k > 0 {
			s, r.slabs = r.slabs[k-1], r.slabs[:k-1]
		} else {
			s = &slab{b: r.allocate(slabSize)}
		}
		s.used, s.refs = 0, 1
		r.slab = s
	}
	b := s.b[s.used : s.used : s.used+n]
	s.used += n
	s.refs++
	return b, s
}

// allocate returns n bytes for messages or packets. After the first ones they are parts of one allocation for most that is kept.
func (r *Redactor) allocate(n int) []byte {
	if r.allocated++; r.allocated == fewAllocations {
		r.mapped = mapMemory(r.opt.Memory + r.opt.Window/2)
		r.block = r.mapped
	}
	if len(r.block) < n {
		return make([]byte, n)
	}
	b := r.block[:n:n]
	r.block = r.block[n:]
	return b
}

// release says that something needs its bytes of a slab no more.
func (r *Redactor) release(s *slab) {
	if s == nil {
		return
	}
	if s.refs--; s.refs == 0 && len(r.slabs) < maxSlabs {
		r.slabs = append(r.slabs, s)
	}
}

// Instead is for [pipeline.Options]: it copies messages of which no tree is needed. With several jobs workers copy them: which messages
// these are is known before, and it does not matter when they are copied. While the workers have enough to do it copies them itself, which
// takes one walk less.
func (r *Redactor) Instead() func(m *rpc.Message) any {
	if r.opt.Jobs > 1 {
		r.startWorkers()
	}
	one := new(copied)
	return func(m *rpc.Message) any {
		if len(r.queue) < cap(r.queue) && m.Protocol.ScrubHead == nil { // workers do not know the connection, which heads with values need
			if !r.scrubber.MayBody(m) {
				return nil
			}
			return r.enqueue(m)
		}
		both, memory := r.original(m)
		both, ok := r.scrubber.Body(both, m)
		if !ok {
			if memory != nil { // the next message takes these bytes
				memory.used -= 2 * len(both)
			}
			r.release(memory)
			return nil
		}
		one.both, one.memory = both, memory
		return one
	}
}

// startWorkers starts the workers.
func (r *Redactor) startWorkers() {
	r.queue = make(chan *batch, (r.opt.Jobs-1)*maxBatches)
	for range r.opt.Jobs - 1 {
		s := scrub.New(r.opt.Formats, r.opt.Key)
		r.workers.Go(func() {
			for b := range r.queue {
				for _, c := range b.jobs {
					c.scrub(s)
				}
				close(b.done)
			}
		})
	}
}

// enqueue gives a message to the workers.
func (r *Redactor) enqueue(m *rpc.Message) *copied {
	c := &copied{n: len(m.Head) + len(m.Body), m: *m}
	c.both, c.memory = r.original(m)
	c.both = c.both[:2*c.n]
	c.m.Head, c.m.Body = c.both[:len(m.Head):len(m.Head)], c.both[len(m.Head):c.n:c.n]
	c.m.Native, c.m.Pieces = nil, nil // what is known of the connection does not matter to such a body
	if r.batch == nil {
		r.batch = &batch{done: make(chan struct{})}
	}
	b := r.batch
	c.batch = b
	b.jobs = append(b.jobs, c)
	if b.bytes += c.n; b.bytes >= batchBytes {
		r.send()
	}
	return c
}

// send gives the collected messages to a worker.
func (r *Redactor) send() {
	r.batch.sent = true
	r.queue <- r.batch
	r.batch = nil
}

// scrub makes the copy.
func (c *copied) scrub(s *scrub.Scrubber) {
	out, ok := s.Body(c.both[:c.n], &c.m)
	if !ok {
		out, c.result = s.Decoded(c.both[:c.n], &c.m)
	}
	if len(out) != 2*c.n || &out[0] != &c.both[0] {
		panic("redact: the copy of a frame has another length")
	}
	c.m = rpc.Message{}
}

// await returns once the copy is complete.
func (r *Redactor) await(c *copied) {
	b := c.batch
	if b == nil {
		return
	}
	if !b.sent {
		r.send()
	}
	<-b.done
	for _, of := range b.jobs {
		of.batch = nil
		r.report(of.number, &of.last, &of.result, "")
	}
	b.jobs = nil
}
