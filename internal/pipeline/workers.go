package pipeline

import (
	"errors"
	"io"
	"slices"
	"sync"
	"unsafe"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/assemble"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/prefetch"
)

// retainingSource is a source whose packets can stay valid while the next ones are read.
type retainingSource interface {
	capture.Source
	// Keep makes packets stay valid. Retired returns the memory that no later packet uses; Recycle takes it back, in the same order.
	Keep()
	Retired() []capture.Space
	Recycle([]capture.Space)
}

// batch is a run of packets on its way from the reader through the workers to the merging goroutine.
type batch struct {
	work    []portion       // by worker
	retired []capture.Space // free after this batch
	done    sync.WaitGroup
}

// portion is one worker's part of a batch: its input and its output.
type portion struct {
	items  []item
	events []event
}

// item is a segment for a lane, or a tick if lane is -1.
type item struct {
	segment packet.Segment
	origin  assemble.Origin
	lane    int
}

// inFlight is the number of batches in use at once, maxItems the maximum number of packets in one. With fewer batches goroutines wait for
// each other more often, with many more they push each other out of the cache.
const (
	inFlight = 12
	maxItems = 4096
)

// runJobs distributes the lanes to workers. After they end, this goroutine ends what is still open.
func (r *reader) runJobs(src retainingSource, out *delivery) ([]*lane, error) {
	src.Keep()
	whole := r.whole
	r.whole = false // the bodies are read on other processors
	jobs := min(r.opt.Jobs, Lanes)
	lanes := make([]*lane, Lanes)
	workers := make([]*worker, jobs)
	queues := make([]chan *batch, jobs)
	for i := range workers {
		events := &recorder{}
		workers[i] = newWorker(r.opt, events)
		queues[i] = make(chan *batch, inFlight)
		var own []*lane
		for k := i; k < Lanes; k += jobs {
			lanes[k] = newLane(k, workers[i])
			own = append(own, lanes[k])
		}
		go work(i, queues[i], own, lanes, events, whole)
	}
	free := make(chan *batch, inFlight)
	for range inFlight {
		free <- &batch{work: make([]portion, jobs)}
	}
	ordered := make(chan *batch, inFlight)
	merged := make(chan struct{})
	go func() {
		defer close(merged)
		for b := range ordered {
			b.done.Wait()
			out.merge(b.work)
			src.Recycle(b.retired)
			b.retired = b.retired[:0]
			free <- b
		}
	}()
	err := r.distribute(src, free, func(b *batch) {
		b.done.Add(jobs)
		ordered <- b
		for _, q := range queues {
			q <- b
		}
	})
	for _, q := range queues {
		close(q)
	}
	close(ordered)
	<-merged
	for _, w := range workers {
		w.out = out
	}
	finish(lanes)
	return lanes, err
}

// distribute reads to the end and sends batches.
func (r *reader) distribute(src retainingSource, free <-chan *batch, send func(*batch)) error {
	b := <-free
	var ticked int64
	for items := 0; ; {
		_, s, err := r.next()
		if err != nil {
			b.retired = append(b.retired, src.Retired()...)
			send(b)
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if n := r.origin.Ordinal / tickEvery; n != ticked {
			ticked = n
			for i := range b.work {
				b.work[i].items = append(b.work[i].items, item{origin: r.origin, lane: -1})
			}
		}
		lane := s.Lane(Lanes)
		w := &b.work[lane%len(b.work)]
		n := len(w.items)
		w.items = slices.Grow(w.items, 1)[:n+1]
		it := &w.items[n] // filled in place, since it is large
		if later := n + preloadedSpace; later < cap(w.items) {
			prefetch.Write(unsafe.Pointer(&w.items[:cap(w.items)][later]), unsafe.Sizeof(*it))
		}
		it.segment, it.origin, it.lane = *s, r.origin, lane
		if s.Extra > 0 { // reassembled from fragments in the decoder's memory
			it.segment.Payload = slices.Clone(s.Payload)
		}
		items++
		b.retired = append(b.retired, src.Retired()...)
		if len(b.retired) > 0 || items >= maxItems {
			send(b)
			b, items = <-free, 0
		}
	}
}

// Another processor has read the bytes of an item, and a worker has had its memory before. preloadedItems is how many items before its turn
// the payload of a segment is loaded, of which preloadedStart bytes are usually needed, and preloadedSpace how many before its turn the memory.
const preloadedItems, preloadedStart, preloadedSpace = 4, 128, 12

// work runs one worker: it handles its portion of each batch. whole is set if bodies are read in full.
func work(i int, queue <-chan *batch, own, lanes []*lane, out *recorder, whole bool) {
	for b := range queue {
		p := &b.work[i]
		out.reset(p.events, &own[0].pool)
		for k := range p.items {
			if next := k + preloadedItems; next < len(p.items) {
				b := p.items[next].segment.Payload
				if !whole {
					b = b[:min(len(b), preloadedStart)]
				}
				prefetch.Bytes(b)
			}
			if k%maxBatch == 0 && own[0].open >= manyConnections {
				next := p.items[k:min(len(p.items), k+maxBatch)]
				preloadConnections(len(next), func(i int) (*lane, *packet.Segment, int) {
					it := &next[i]
					if it.lane < 0 {
						return nil, nil, 0
					}
					return lanes[it.lane], &it.segment, it.origin.File
				})
			}
			it := &p.items[k]
			if it.lane >= 0 {
				lanes[it.lane].take(&it.segment, &it.origin)
				continue
			}
			for _, l := range own {
				l.tick(it.origin.Ordinal, it.origin.Clock)
			}
		}
		p.items, p.events = p.items[:0], out.events
		b.done.Done()
	}
}
