package findings

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/rpc"
)

// failure counts the failed calls of a method of one kind: a status, exceptions with status OK, or an abort.
type failure struct {
	status int32
	text   string // the protocol's name of the status, or the reason of the abort; "" for exceptions
	calls  int64
	first  place
}

// addFailure counts a failed call.
func (k *Collector) addFailure(c *call.Call, m *method) {
	p := c.Answer()
	m.errors++
	kind := failure{status: rpc.NoStatus, text: c.Aborted, first: placeOf(cmp.Or(p, c.Request))}
	if p != nil && p.Failed {
		kind.status, kind.text = p.Status, p.StatusText()
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
		k.addExhausted(c)
	}
	if p.Failed && p.Details != nil && p.ErrorMessage != "" {
		m.addRefused(p)
	}
}

// maxFailures limits the kinds of failures of a method. Only texts of aborts could exceed it.
const maxFailures = 256

// maxServers limits the servers with an exhausted thread pool.
const maxServers = 1 << 12

// exhausted counts the calls that a server rejected because its thread pool was exhausted.
type exhausted struct {
	server string
	status int32
	text   string // the protocol's name of the status
	calls  int64
	first  place
	bytes  int64
}

// addExhausted counts a call that was rejected because of an exhausted thread pool.
func (k *Collector) addExhausted(c *call.Call) {
	server := c.Server()
	e := k.exhausted[server]
	if e == nil {
		if len(k.exhausted) >= maxServers {
			return
		}
		p := c.Answer()
		e = &exhausted{server: server, status: p.Status, text: p.StatusText(), first: placeOf(p)}
		k.exhausted[server] = e
		k.servers = append(k.servers, e)
	}
	e.calls++
	e.bytes += c.Response.FrameBytes()
	if c.Request != nil {
		e.bytes += c.Request.FrameBytes()
	}
}

// refused counts the responses that Dubbo refused to send. The error's message has their length and the limit.
type refused struct {
	calls          int64
	largest, limit int64
	first          place
}

// addRefused counts an error if its message says that a body was too large.
func (m *method) addRefused(p *call.Message) {
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

// lengthAndLimit matches the message of Dubbo's AbstractCodec.checkPayload.
var lengthAndLimit = regexp.MustCompile(`Data length too large: (\d+), max payload: (\d+)`)

// tooLarge returns the two numbers of "Data length too large: 21018, max payload: 20000".
func tooLarge(text string) (size, limit int64, ok bool) {
	match := lengthAndLimit.FindStringSubmatch(text)
	if match == nil {
		return 0, 0, false
	}
	size, sizeErr := strconv.ParseInt(match[1], 10, 64)
	limit, limitErr := strconv.ParseInt(match[2], 10, 64)
	return size, limit, sizeErr == nil && limitErr == nil
}
