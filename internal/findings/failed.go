package findings

import (
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/rpc"
)

// failure is the failed calls of a method of one kind: a status, or exceptions with status OK.
type failure struct {
	status int32
	text   string // the protocol's name for the status, or why the exchange was aborted; "" for exceptions
	calls  int64
	first  place
}

// failed counts a call that failed.
func (k *Collector) failed(c *call.Call, m *method) {
	p := c.Answer()
	m.errors++
	kind := failure{status: rpc.NoStatus, text: c.Aborted}
	switch {
	case p == nil:
		kind.first = placeOf(c.Request)
	case p.Failed:
		kind.status, kind.text, kind.first = p.Status, p.StatusText(), placeOf(p)
	default:
		kind.first = placeOf(p)
	}
	at := slices.IndexFunc(m.failures, func(f failure) bool { return f.status == kind.status && f.text == kind.text })
	if at < 0 {
		if at = len(m.failures); at == maxFailures {
			return
		}
		m.failures = append(m.failures, kind)
	}
	m.failures[at].calls++
	if p == nil {
		return
	}
	if x := p.Protocol.Exhausted; x != 0 && int(p.Status) == x {
		k.exhausted(c)
	}
	if p.Failed && p.Details != nil && p.ErrorMessage != "" {
		m.refusal(p)
	}
}

// maxFailures is how many kinds of failures of a method are kept apart: there are fewer, but for texts of aborts.
const maxFailures = 256

// maxServers is how many servers are kept apart that had no thread.
const maxServers = 1 << 12

// exhausted is the calls that a server had no thread for.
type exhausted struct {
	server string
	status int32
	text   string // the protocol's name for it
	calls  int64
	first  place
	bytes  int64
}

func (k *Collector) exhausted(c *call.Call) {
	server := c.Server()
	e := k.pools[server]
	if e == nil {
		if len(k.pools) >= maxServers {
			return
		}
		p := c.Answer()
		e = &exhausted{server: server, status: p.Status, text: p.StatusText(), first: placeOf(p)}
		k.pools[server] = e
		k.poolOrder = append(k.poolOrder, e)
	}
	e.calls++
	e.bytes += c.Response.FrameBytes()
	if c.Request != nil {
		e.bytes += c.Request.FrameBytes()
	}
}

// refused is the answers that Dubbo refused to send: it writes the length and the limit into the message of the error.
type refused struct {
	calls          int64
	largest, limit int64
	first          place
}

// refusal counts an error whose text says that a body was too large.
func (m *method) refusal(p *call.Message) {
	size, limit, ok := tooLarge(p.ErrorMessage)
	if !ok {
		return
	}
	if m.refused == nil {
		m.refused = &refused{first: placeOf(p)}
	}
	m.refused.calls++
	if size > m.refused.largest {
		m.refused.largest, m.refused.limit, m.refused.first = size, limit, placeOf(p)
	}
}

// tooLarge reads the two numbers of "Data length too large: 21018, max payload: 20000", which is what Dubbo's
// AbstractCodec.checkPayload throws.
func tooLarge(text string) (size, limit int64, ok bool) {
	_, rest, found := strings.Cut(text, "Data length too large: ")
	if !found {
		return 0, 0, false
	}
	if size, rest, ok = number(rest); !ok {
		return 0, 0, false
	}
	rest, found = strings.CutPrefix(rest, ", max payload: ")
	if !found {
		return 0, 0, false
	}
	limit, _, ok = number(rest)
	return size, limit, ok
}

// number reads the digits at the start of a text.
func number(s string) (n int64, rest string, ok bool) {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(s[:end], 10, 64)
	return n, s[end:], err == nil
}
