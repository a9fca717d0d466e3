package live

import (
	"cmp"
	"slices"

	"dubbo-wire/internal/call"
)

// Call is a closed call of the opened method, without its values.
type Call struct {
	At             int64 // first byte of its first message, in nanoseconds since the Unix epoch
	Client, Server string
	ID             string
	Serialization  string
	// RequestBytes and ResponseBytes are sizes of bodies, -1 without a complete one. Latency is in nanoseconds, -1 without a
	// complete response.
	RequestBytes, ResponseBytes int64
	Latency                     int64
	// Outcome is "ok", "one-way" or what went wrong; Failed is set for errors, exceptions and resets.
	Outcome string
	Failed  bool
}

// callLists are the calls of the opened method that its page lists.
type callLists struct {
	latest, failed []Call // the newest last
	// slowest and largest are since the method was opened, in no order.
	slowest, largest []Call
}

// latestCalls is the number of latest calls, listedCalls the number of calls in every other list.
const latestCalls, listedCalls = 20, 10

// outcomes are the outcomes of calls without an error.
var outcomes = map[call.State]string{
	call.OK: "ok", call.NoResponse: "no response", call.NoRequest: "no request", call.OneWay: "one-way",
}

func newCall(c *call.Call) Call {
	m := c.Request
	k := Call{
		At: m.FirstTime, Client: c.Client(), Server: c.Server(), ID: m.ID(), Serialization: m.QualifiedSerialization(),
		RequestBytes: -1, ResponseBytes: -1, Latency: -1, Outcome: outcomes[c.State()], Failed: c.Failed(),
	}
	if !m.Incomplete() {
		k.RequestBytes = m.BodyBytes()
	}
	if c.Response != nil && !c.Response.Incomplete() {
		k.ResponseBytes = c.Response.BodyBytes()
	} else if c.Response != nil {
		k.Outcome = "incomplete"
	}
	if k.Failed {
		k.Outcome = errorName(c)
		if text := errorText(c); text != "" {
			k.Outcome += ": " + text
		}
	}
	if ns, ok := c.Latency(); ok {
		k.Latency = ns
	}
	return k
}

// add adds a call that has a request.
func (l *callLists) add(c *call.Call) {
	k := newCall(c)
	l.latest = appendNewest(l.latest, k, latestCalls)
	if k.Failed {
		l.failed = appendNewest(l.failed, k, listedCalls)
	}
	if k.Latency >= 0 {
		l.slowest = keepLargest(l.slowest, k, latencyOf)
	}
	l.largest = keepLargest(l.largest, k, sizeOf)
}

// appendNewest appends a call to a list of at most n, which drops its oldest.
func appendNewest(list []Call, k Call, n int) []Call {
	if len(list) < n {
		return append(list, k)
	}
	copy(list, list[1:])
	list[n-1] = k
	return list
}

// keepLargest adds a call to the calls with the largest numbers.
func keepLargest(list []Call, k Call, number func(Call) int64) []Call {
	if len(list) < listedCalls {
		return append(list, k)
	}
	least := 0
	for i := range list {
		if number(list[i]) < number(list[least]) {
			least = i
		}
	}
	if number(k) > number(list[least]) {
		list[least] = k
	}
	return list
}

func latencyOf(k Call) int64 { return k.Latency }
func sizeOf(k Call) int64    { return max(k.RequestBytes, k.ResponseBytes) }

// sorted returns copies of a list with the largest number first.
func sorted(list []Call, number func(Call) int64) []Call {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Call) int { return cmp.Compare(number(b), number(a)) })
	return list
}

// newest returns a copy of a list with the newest call first.
func newest(list []Call) []Call {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}
