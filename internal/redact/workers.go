package redact

import (
	"dubbo-wire/internal/redact/scrub"
	"dubbo-wire/internal/rpc"
)

// maxTasks bounds the tasks that wait for a worker, for each worker.
const maxTasks = 2

// Instead is for [pipeline.Options]: it copies messages of which no tree is needed. With several jobs workers copy them: which messages
// these are is known before, and it does not matter when they are copied. While the workers have enough to do it copies them itself, which
// takes one walk less.
func (r *Redactor) Instead() func(m *rpc.Message) any {
	if r.opt.Jobs > 1 {
		r.startWorkers()
	}
	one := new(copied)
	return func(m *rpc.Message) any {
		if r.hurry > 0 {
			r.hurry--
		} else if len(m.Body) >= r.least && len(r.queue) < cap(r.queue) {
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

// task is what a worker does.
type task interface {
	run(w *worker)
}

// worker is what a goroutine needs for its tasks.
type worker struct {
	scrubber *scrub.Scrubber
	spare    chan *work
	finisher finisher
	file     File
}

// run implements [task].
func (b *batch) run(w *worker) {
	b.scrub(w.scrubber)
	b.work.reuse(w.spare)
	b.work = nil
	close(b.done)
}

// run implements [task].
func (p *part) run(w *worker) {
	p.write(w.file, &w.finisher)
	close(p.done)
}

// give gives a part of the output to a worker, unless they have enough to do.
func (r *Redactor) give(p *part) bool {
	if len(r.queue) == cap(r.queue) {
		return false
	}
	r.queue <- p
	return true
}

// startWorkers starts the workers.
func (r *Redactor) startWorkers() {
	r.queue = make(chan task, (r.opt.Jobs-1)*maxTasks)
	r.spare = make(chan *work, cap(r.queue)+r.opt.Jobs)
	for range r.opt.Jobs - 1 {
		w := &worker{
			scrubber: scrub.New(r.opt.Formats, r.opt.Key), spare: r.spare,
			finisher: finisher{r.addresses, newFiller(r.addresses, r.opt.Key, r.markers)}, file: r.opt.File,
		}
		w.scrubber.KeepHeads()
		r.workers.Go(func() {
			for t := range r.queue {
				t.run(w)
			}
		})
	}
}
