package measure

import (
	"cmp"
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/term"
)

// CallSorts are the keys by which calls are sorted: time from the first on, the others from the largest on.
var CallSorts = []string{"time", "latency", "request", "response"}

// CallOrder keeps calls until all are known, and then passes them on in an order.
type CallOrder struct {
	by    string
	calls []*call.Call
	bytes int
}

// Limits of calls that are sorted, and of their values in bytes.
const (
	maxSorted      = 1 << 20
	maxSortedBytes = 512 << 20
)

// NewCallOrder returns an empty order by one of CallSorts.
func NewCallOrder(by string) *CallOrder { return &CallOrder{by: by} }

// Add adds a copy of a borrowed call.
func (o *CallOrder) Add(c *call.Call) {
	if o.full() {
		return
	}
	k := *c
	k.Request, k.Response = o.copy(c.Request), o.copy(c.Response)
	o.calls = append(o.calls, &k)
}

func (o *CallOrder) full() bool { return len(o.calls) > maxSorted || o.bytes > maxSortedBytes }

func (o *CallOrder) copy(m *call.Message) *call.Message {
	if m == nil {
		return nil
	}
	k := *m
	k.OwnValues()
	o.bytes += len(m.Values) + len(m.AttachmentsJSON)
	k.Next = o.copy(m.Next)
	return &k
}

// Earliest returns the time of the call that began first, 0 if there are no calls.
func (o *CallOrder) Earliest() (at int64) {
	for i, c := range o.calls {
		if t := cmp.Or(c.Request, c.Response).FirstTime; i == 0 || t < at {
			at = t
		}
	}
	return at
}

// Print passes the calls to write. Equal ones keep their order.
func (o *CallOrder) Print(write func(*call.Call)) error {
	if o.full() {
		return exit.Usagef("--sort keeps at most %s with 512 MiB of values in memory; select fewer calls, or add --no-values", term.Counted(maxSorted, "call"))
	}
	key := func(c *call.Call) int64 {
		m := cmp.Or(c.Request, c.Response)
		switch o.by {
		case "latency":
			if ns, ok := c.Latency(); ok {
				return -ns
			}
			return 1 // after those with a latency
		case "request":
			return -c.Request.BodyBytes()
		case "response":
			return -c.Response.BodyBytes()
		}
		return m.FirstTime
	}
	slices.SortStableFunc(o.calls, func(a, b *call.Call) int { return cmp.Compare(key(a), key(b)) })
	for _, c := range o.calls {
		write(c)
	}
	return nil
}
