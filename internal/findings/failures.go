package findings

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/rpc"
)

// cause is what failed calls have in common.
type cause struct {
	// status is the failure's status, or rpc.NoStatus, or unknownStatus; aborted the reason of an abort, or "" if there is none or a
	// status.
	status  int32
	aborted string
	// text is what CauseOf tells of the error's text, or the class of the exception; "" if it was not read.
	text          string
	serialization string // of the request
	client        *client
	method        *method
}

// unknownStatus is the status of responses that failed if the capture lacks the header with the status.
const unknownStatus = rpc.NoStatus - 1

// failure counts the failed calls of a cause.
type failure struct {
	cause
	sum
	name     string // of the status, "" for protocols whose users know the numbers
	answered int32  // the status of the response of a call that ended in an exception, else rpc.NoStatus
}

// maxFailures limits the causes in memory.
const maxFailures = 1 << 14

// addFailure counts a failed call. Those that another rule reports, because a thread pool was exhausted or a body was too large,
// are left to it.
func (k *Collector) addFailure(c *call.Call, conn *conn, m *method) {
	p := c.Answer()
	by := cause{status: rpc.NoStatus, aborted: c.Aborted, serialization: cmp.Or(c.Request, p).SerializationName(), client: conn.client, method: m}
	if p != nil {
		if x := p.Protocol.Exhausted; x != 0 && int(p.Status) == x && k.addExhausted(c) {
			return
		}
		if p.Failed && m.addRefused(p) {
			return
		}
		switch {
		case p.Failed:
			by.status, by.aborted = p.Status, "" // the call had failed before it was aborted
			if p.Status == rpc.NoStatus {
				by.status = unknownStatus
			}
			if p.ErrorMessage != "" {
				by.text = cmp.Or(CauseOf(p.ErrorMessage), otherText)
			}
		case len(p.ExceptionClass) > maxKey:
			by.text = otherText
		default:
			by.text = p.ExceptionClass
		}
	}
	f := k.failures[by]
	if f == nil {
		if len(k.failures) >= maxFailures {
			k.untrackedFailures++
			return
		}
		f = &failure{cause: by, answered: rpc.NoStatus}
		if p != nil && p.Failed && !p.Protocol.Numbered && p.StatusText() != "" {
			f.name = " " + p.StatusText()
		}
		if p != nil && !p.Failed {
			f.answered = p.Status
		}
		k.failures[by] = f
		k.failureOrder = append(k.failureOrder, f)
	}
	f.add(sum{1, c.Request.FrameBytes() + c.Response.FrameBytes(), placeOf(cmp.Or(p, c.Request))})
}

// otherText stands for a text that CauseOf does not know.
const otherText = "?"

// causes are constant parts of the texts with which Dubbo and the serializations report failures. Only they are printed, because
// the rest of a text may have values.
var causes = []string{
	"Encountered unregistered class ID", "Unable to find class", "Class is not registered", "Buffer underflow", // Kryo
	"Not found exported service", "Service not found", "No such method", "is not in allow list", "is in disallow list", // Dubbo
	"Unexpected serialization id", "Decode dubbo protocol event failed", "Data length too large", "Thread pool is EXHAUSTED",
	"only support message type", "only supports google protobuf objects",
	"the input ended unexpectedly in the middle of a field", "expected map/object", "Infinite recursion", // the serializations
	"Cannot deserialize instance", "Cannot reflectively create enum objects",
}

// CauseOf returns what is known of an error's text and has no values: one of causes, else the class of the exception at its end,
// else how it starts; "" if nothing is known.
func CauseOf(text string) string {
	text = text[:min(len(text), maxErrorText)]
	for _, s := range causes {
		if strings.Contains(text, s) {
			return s
		}
	}
	line, _, _ := strings.Cut(text, "\n")
	for _, s := range []string{"cause: ", "due to: "} {
		if at := strings.LastIndex(line, s); at >= 0 {
			line = line[at+len(s):]
		}
	}
	class := ""
	for {
		s := exceptionClass.FindString(line)
		if s == "" || len(s) > maxKey {
			break
		}
		class = s
		rest, found := strings.CutPrefix(line[len(s):], ": ")
		if !found {
			break
		}
		line = rest
	}
	for _, s := range []string{"Fail to decode request", "Failed to send response"} {
		if class == "" && strings.HasPrefix(text, s) {
			return s
		}
	}
	return class
}

// maxErrorText is the number of bytes of an error's text that CauseOf reads.
const maxErrorText = 4 << 10

// exceptionClass matches the name of an exception with its package at the start of a text.
var exceptionClass = regexp.MustCompile(`^(?:[a-z_][A-Za-z0-9_]*\.)+[A-Z][A-Za-z0-9_$]*(?:Exception|Error)[A-Za-z0-9_$]*`)

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

// addExhausted counts a call that was rejected because of an exhausted thread pool, and reports whether there was space for it.
func (k *Collector) addExhausted(c *call.Call) bool {
	server := c.Server()
	e := k.exhausted[server]
	if e == nil {
		if len(k.exhausted) >= maxServers {
			return false
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
	return true
}

// refused counts the responses that Dubbo refused to send. The error's message has their length and the limit.
type refused struct {
	calls          int64
	largest, limit int64
	first          place
}

// addRefused counts an error if its message says that a body was too large, and reports whether it does.
func (m *method) addRefused(p *call.Message) bool {
	size, limit, ok := tooLarge(p.ErrorMessage)
	if !ok {
		return false
	}
	if m.refused == nil {
		m.rarely().refused = &refused{first: placeOf(p)}
	}
	m.refused.calls++
	if size > m.refused.largest {
		m.refused.largest, m.refused.limit, m.refused.first = size, limit, placeOf(p)
	}
	return true
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
