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
const maxBatches = 4

// originalOf returns the bytes of a message, with room for as many.
func originalOf(m *rpc.Message) []byte {
	both := append(make([]byte, 0, 2*(len(m.Head)+len(m.Body))), m.Head...)
	return append(both, m.Body...)
}

// Instead is for [pipeline.Options]: it copies messages of which no tree is needed. With several jobs workers copy them: which messages
// these are is known before, and it does not matter when they are copied.
func (r *Redactor) Instead() func(m *rpc.Message) any {
	if r.opt.Jobs < 2 {
		return func(m *rpc.Message) any {
			if both, ok := r.scrubber.Body(originalOf(m), m); ok {
				return &copied{both: both}
			}
			return nil
		}
	}
	r.queue = make(chan *batch, r.opt.Jobs*maxBatches)
	for range r.opt.Jobs {
		s := scrub.New(r.opt.Formats, r.opt.Key)
		go func() {
			for b := range r.queue {
				for _, c := range b.jobs {
					c.scrub(s)
				}
				close(b.done)
			}
		}()
	}
	return func(m *rpc.Message) any {
		if !r.scrubber.MayBody(m) {
			return nil
		}
		return r.enqueue(m)
	}
}

// enqueue gives a message to the workers.
func (r *Redactor) enqueue(m *rpc.Message) *copied {
	c := &copied{both: originalOf(m), n: len(m.Head) + len(m.Body), m: *m}
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
