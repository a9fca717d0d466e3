package estimate

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

// VM is a Java virtual machine that encodes: the serializations of one release of Dubbo, with or without registered classes.
type VM struct {
	Release string
	// Targets are the serializations as the Java side knows them.
	Targets []string
	// Registered is set if classes are registered with those serializations that number them.
	Registered bool
}

// Runner starts Java virtual machines.
type Runner interface {
	// Start starts one. received is called with each result, in the order of the records, one call at a time. The end of ctx ends the machine.
	Start(ctx context.Context, vm *VM, timing bool, received func(Encoded)) (Child, error)
}

// Child is a Java virtual machine. If it dies at a message, that message fails and another machine goes on.
type Child interface {
	// JVM names it.
	JVM() string
	// Send sends a record that Record.Append made, which is the child's from then on. It may block until earlier ones are encoded. An error is final.
	Send(record []byte) error
	// Finish waits for all results and for the times. It must be called.
	Finish() ([]Timing, error)
}

// Encoded is what became of a record.
type Encoded struct {
	ID int64
	// Targets are the results by the index of the target.
	Targets []EncodedBody
}

// EncodedBody is a body that was encoded: its bytes, and the first bytes of their SHA-256; or the cause why it was not.
type EncodedBody struct {
	Bytes int
	Hash  [8]byte
	Cause string
}

// Timing is the CPU time per message of one kind and group, in nanoseconds, as a range; -1: not known.
type Timing struct {
	Target, Group         int
	Response              bool
	EncodeLow, EncodeHigh int64
	DecodeLow, DecodeHigh int64
	// Unreadable is why the bodies cannot be decoded again, "" if they can or this is not known.
	Unreadable string
}

// job is a message to encode.
type job struct {
	call     *sampled
	response bool
}

func (j *job) message() *message {
	if j.response {
		return &j.call.response
	}
	return &j.call.request
}

// run is the encoding of all messages in one machine.
type run struct {
	vm      *VM
	columns []column // by target of the machine
	jobs    []job
	spool   *spool

	done    int    // jobs with a result
	jvm     string // name
	timings []Timing
	err     error
}

// column is a target of a machine, in the results of calls.
type column struct {
	target int
	// calibrate compare bodies with those observed in the same serialization.
	calibrate []func(*sampled, *message, bool, EncodedBody)
}

// encode encodes all jobs. timing, if not nil, is locked while times are measured.
func (r *run) encode(ctx context.Context, runner Runner, timing *sync.Mutex, progress func(int)) {
	child, err := runner.Start(ctx, r.vm, timing != nil, func(e Encoded) {
		if r.done < len(r.jobs) {
			r.result(e)
			progress(1)
		}
	})
	if err != nil {
		if ctx.Err() == nil {
			r.err = err
		}
		return
	}
	r.jvm = child.JVM()
	err = r.send(child)
	if timing != nil {
		timing.Lock()
		defer timing.Unlock()
	}
	timings, end := child.Finish()
	r.timings = timings
	if err == nil {
		err = end
	}
	if ctx.Err() == nil {
		r.err = err
	}
}

// send sends the records of all jobs.
func (r *run) send(child Child) error {
	for i := range r.jobs {
		j := &r.jobs[i]
		m := j.message()
		values, err := r.spool.values(m)
		if err != nil {
			return fmt.Errorf("values in a temporary file: %w", err)
		}
		record := Record{
			ID: int64(i), Group: j.call.method.timed(), Response: j.response, Operation: j.call.op, ResultKind: m.result, Values: values,
		}
		if err := child.Send(record.Append(make([]byte, 0, len(values)+256))); err != nil {
			return err
		}
	}
	return nil
}

// maxTimed bounds the methods whose times are measured one by one; the others are measured together.
const maxTimed = 64

func (m *method) timed() int32 { return min(m.index, maxTimed-1) }

// result takes the result of the next job.
func (r *run) result(e Encoded) {
	j := &r.jobs[r.done]
	r.done++
	if e.ID != int64(r.done-1) {
		e.Targets = nil
	}
	for i, c := range r.columns {
		body := EncodedBody{Cause: "the Java virtual machine sent another answer"}
		if i < len(e.Targets) {
			body = e.Targets[i]
		}
		j.call.results[c.target].set(j.response, body)
		for _, compare := range c.calibrate {
			compare(j.call, j.message(), j.response, body)
		}
	}
}

// cell is a call in a target.
type cell struct {
	request, response             int32
	requestHeader, responseHeader int32 // change of the bytes of headers
	cause                         string
	state                         cellState
	got                           uint8 // messages with a result
}

type cellState uint8

const (
	notRun cellState = iota // or not a call of the target
	encoded
	failed
	notDecoded
)

// set takes the body of one message. The call counts as encoded when all its messages are.
func (c *cell) set(response bool, body EncodedBody) {
	c.got++
	if response {
		c.response = int32(body.Bytes)
	} else {
		c.request = int32(body.Bytes)
	}
	if body.Cause != "" && c.cause == "" {
		c.cause = body.Cause
		if response {
			c.cause = "response: " + c.cause
		}
	}
}

// finish sets the state of a cell of a call when its messages have results.
func (c *cell) finish(s *sampled) {
	messages := uint8(1)
	if s.hasResponse {
		messages = 2
	}
	switch {
	case c.got < messages:
		*c = cell{}
	case c.cause != "":
		c.state = failed
	default:
		c.state = encoded
	}
}

// encodeAll runs machines side by side, at most one for each processor.
func encodeAll(ctx context.Context, runner Runner, runs []*run, timing bool, progress func(int)) {
	var group sync.WaitGroup
	var exclusive *sync.Mutex // measures one machine at a time
	if timing {
		exclusive = new(sync.Mutex)
	}
	slots := make(chan struct{}, max(1, runtime.GOMAXPROCS(0)))
	for _, r := range runs {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			r.encode(ctx, runner, exclusive, progress)
		})
	}
	group.Wait()
}

func (r *run) problem() string {
	if r.err == nil {
		return ""
	}
	return fmt.Sprintf("Dubbo %s: %v", r.vm.Release, r.err)
}
