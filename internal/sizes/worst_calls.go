package sizes

import (
	"cmp"
	"slices"

	"dubbo-wire/internal/call"
)

// Preset is a criterion for the worst calls.
type Preset string

// The presets.
const (
	BigRequests  Preset = "big-requests"
	BigResponses Preset = "big-responses"
	Slow         Preset = "slow"
	Errors       Preset = "errors"
)

// Worst collects the worst calls by a preset: the n with the largest number, or for Errors the first call of each kind of
// failure.
type Worst struct {
	Preset Preset
	n      int
	heap   []*CallRef // the n worst so far, the least bad first
	kinds  map[failure]*CallRef
	others int64 // failed calls of further kinds
}

// CallRef is a call in a report with its frame and its sizes.
type CallRef struct {
	// Number is the number it was chosen for: body bytes, nanoseconds, or failed calls of its kind.
	Number int64
	// File and Frame are those of the request or the response, depending on the preset.
	File            int
	Frame           int64
	Time            int64 // of its first byte, nanoseconds since the Unix epoch
	Client, Server  string
	Serialization   string
	Service, Method string
	// RequestBytes and ResponseBytes are sizes of bodies, -1 without one.
	RequestBytes, ResponseBytes int64
	// Latency is in nanoseconds; it is known if Timed is set.
	Latency int64
	Timed   bool
	// Status is that of the response, -1 without one.
	Status int
	// StatusName is the protocol's name of the status, or the reason why the exchange was aborted.
	StatusName string
	Exception  string // its class, if Thrown is set and the class is known
	Thrown     bool   // the response carries an exception
}

// failure is a kind of failed calls.
type failure struct {
	service, method, exception string
	status                     int
	thrown                     bool
}

// maxKinds limits the kinds of failures.
const maxKinds = 1 << 12

// NewWorst returns a collector of the n worst calls.
func NewWorst(p Preset, n int) *Worst {
	return &Worst{Preset: p, n: n, kinds: make(map[failure]*CallRef)}
}

// Call adds a closed call.
func (w *Worst) Call(c *call.Call) {
	n, m := int64(-1), c.Response
	switch w.Preset {
	case BigRequests:
		if m = c.Request; m != nil && m.Complete {
			n = m.BodyBytes()
		}
	case BigResponses:
		if m != nil && m.Complete {
			n = m.BodyBytes()
		}
	case Slow:
		if ns, ok := c.Latency(); ok {
			n = ns
		}
	case Errors:
		if c.Failed() {
			w.failed(c)
		}
		return
	}
	if n < 0 || len(w.heap) == w.n && n <= w.heap[0].Number {
		return
	}
	ref := newRef(c, m, n)
	if len(w.heap) == w.n {
		w.heap[0] = ref
	} else {
		w.heap = append(w.heap, ref)
	}
	// There are few calls, so sorting them is cheap.
	slices.SortStableFunc(w.heap, func(a, b *CallRef) int { return cmp.Compare(a.Number, b.Number) })
}

func newRef(c *call.Call, m *call.Message, n int64) *CallRef {
	of := firstMessage(c)
	r := &CallRef{
		Number: n, File: int(m.File), Frame: m.Number, Time: of.FirstTime, Client: c.Client(), Server: c.Server(),
		Serialization: string(appendSerialization(nil, of)), Service: of.Service(), Method: of.Method(),
		RequestBytes: -1, ResponseBytes: -1, Status: -1,
	}
	if c.Request != nil && c.Request.Complete {
		r.RequestBytes = c.Request.BodyBytes()
	}
	if c.Response != nil {
		if c.Response.Complete {
			r.ResponseBytes = c.Response.BodyBytes()
		}
		last := c.Answer()
		r.Status, r.StatusName, r.Thrown, r.Exception = int(last.Status), last.StatusName(), last.Exception, last.ExceptionClass
	}
	if c.Aborted != "" {
		r.StatusName = c.Aborted
	}
	if ns, ok := c.Latency(); ok {
		r.Latency, r.Timed = ns, true
	}
	return r
}

func (w *Worst) failed(c *call.Call) {
	m := firstMessage(c)
	k := failure{service: m.Service(), method: m.Method(), status: -1}
	if last := c.Answer(); last != nil {
		m = last
		k.exception, k.status, k.thrown = last.ExceptionClass, int(last.Status), last.Exception
	}
	ref := w.kinds[k]
	if ref == nil {
		if len(w.kinds) >= maxKinds {
			w.others++
			return
		}
		ref = newRef(c, m, 0)
		w.kinds[k] = ref
	}
	ref.Number++
}

// Calls returns the calls, the worst first; equal ones are in the order of their frames. others is the number of failed
// calls whose kind is not in the list.
func (w *Worst) Calls() (list []*CallRef, others int64) {
	list, others = slices.Clone(w.heap), w.others
	for _, ref := range w.kinds {
		list = append(list, ref)
	}
	slices.SortFunc(list, func(a, b *CallRef) int {
		return cmp.Or(cmp.Compare(b.Number, a.Number), cmp.Compare(a.File, b.File), cmp.Compare(a.Frame, b.Frame))
	})
	if w.Preset == Errors && len(list) > w.n {
		for _, ref := range list[w.n:] {
			others += ref.Number
		}
		list = list[:w.n]
	}
	return list, others
}
