package findings_test

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// needsClass matches an error's text that names a class.
var needsClass = regexp.MustCompile(`^(?:the fields of|elements of) (?:registered class|class|comparator) (\S+?)(?:, which this stream does not tell)?$`)

// message is one frame.
type message struct {
	number, id      int64
	conn            int
	side            int
	ends            [2]string
	dubbo           bool
	plainHTTP       bool
	interleaved     bool
	oldHTTP         bool
	unresolved      bool
	headers         []rpc.Header
	protocol        string
	request         bool
	twoWay          bool
	complete, ended bool
	status          int
	first, last     int64
	body, frame     int64
	serialization   string
	header          string
	service, method string
	target          bool // there is something about what is called
	version         string
	exception       bool
	classes         map[string]int64
	attachments     [][2]string // key, value
	attachmentBytes map[string]int64
	inHeader        int64 // bytes of attachments that are header fields
	fields          map[string]string
	text, class     string
	args            string // their bytes with a mark, "" if they were not read to the end
	whole           string // the body with a mark, "" if it is not whole
	taken           bool
	// header and its fields, as they are and without compression; the body without compression, -1 if it has none; the wait for flow control
	headerLen, fieldsLen, plainFields, plainBody, stalled int64
	encoded                                               bool
	numberFour                                            int64                // bytes of fields with that number in the first argument
	uses                                                  map[string]*fieldUse // by path; nil if something was not read
	missing                                               string               // the class without which bytes are opaque; "?": that of the result
}

// exchange is a request and its response, each the first message of its side; one may be nil.
type exchange struct {
	request, response   *message
	requests, responses []*message
	name                string
	reset               string // why it was reset
	resetAt             int64
}

// frames are the messages of a capture, and the resets, of which no frame tells.
type frames struct {
	list   []*message
	resets map[stream]reset
}

type stream struct {
	conn int
	id   int64
}

type reset struct {
	why string
	at  int64
}

func (s *frames) Call(c *call.Call, _ bool) {
	if c.Aborted == "" {
		return
	}
	m := c.Request
	if m == nil {
		m = c.Response
	}
	s.resets[stream{c.Conn.Number, int64(m.Exchange)}] = reset{c.Aborted, c.AbortedAt}
}

func (s *frames) Frame(r *pipeline.Row) {
	if r.Msg.Kind > rpc.Response {
		return
	}
	m := r.Msg
	one := &message{
		number: r.Number, id: int64(m.Exchange), conn: r.Conn.Number, side: r.Side, ends: r.Conn.Ends, request: m.Request, twoWay: m.TwoWay,
		complete: m.Complete, ended: m.Ends, status: int(m.Status), first: m.FirstTime, last: m.LastByte, body: int64(m.BodyLen),
		frame: int64(m.FrameLen()), protocol: m.Protocol.Name, dubbo: m.Protocol.Name == "dubbo", plainHTTP: m.Protocol.PlainHTTP, interleaved: m.Interleaved, oldHTTP: isOldHTTP(m.Head), unresolved: m.Unresolved, headers: slices.Clone(m.Headers), headerLen: int64(m.HeaderLen),
		fieldsLen: int64(m.FieldsLen), plainFields: int64(m.FieldsPlainLen), plainBody: -1, stalled: m.Stalled, encoded: m.Encoding != "",
		serialization: m.Serialization, exception: m.Exception, text: m.ErrorMessage, class: m.ExceptionClass,
		classes: map[string]int64{}, attachmentBytes: map[string]int64{}, fields: map[string]string{}, service: "?", method: "?",
	}
	if m.Encoding == "" && m.Complete {
		one.uses = fieldUses(m.Tree)
	}
	if m.Encoding != "" {
		one.plainBody = int64(m.UncompressedLen)
	}
	if m.HeaderFormat != nil {
		one.header = m.HeaderFormat.Name
	}
	if m.Operation != nil {
		one.target = true
		one.service, one.method, one.version = m.Operation.Service, m.Operation.Method, m.Operation.ProtocolVersion
		if m.GenericMethod != "" {
			one.method = m.GenericMethod
		}
	}
	if m.IsWhole() {
		one.whole = "body" + string(m.Body)
	}
	for i := 0; i < len(m.Tree.Nodes); i = int(m.Tree.Nodes[i].End) {
		if m.Tree.Nodes[i].Name == "args" && m.Err == nil {
			args := []byte("arguments")
			for _, n := range m.Tree.Nodes[i:m.Tree.Nodes[i].End] {
				args = append(args, m.Content()[n.Off:n.Off+n.Len]...)
			}
			one.args = string(args)
		}
	}
	for _, p := range m.Tree.Parts(nil, 0) {
		if strings.HasPrefix(p.Path, "args[0].#4") {
			one.numberFour += int64(p.Bytes)
		}
		one.classes[p.Class.String()] += int64(p.Bytes)
		if rest, ok := strings.CutPrefix(p.Path, "attachments"); ok {
			one.attachmentBytes[rest] += int64(p.Bytes)
		}
	}
	if m.Encoding != "" {
		one.classes = map[string]int64{"compressed": int64(m.Captured)}
	}
	if e := m.Err; e != nil && m.Format != nil && slices.Contains([]string{"kryo", "kryo2", "fst", "compactedjava"}, m.Format.Name) {
		if name := needsClass.FindStringSubmatch(e.Expected); name != nil {
			one.missing = name[1]
		} else if strings.HasPrefix(e.Expected, "a declared type") && e.Found == "no type" && !m.Request {
			one.missing = "?"
		}
	}
	for _, h := range m.Headers {
		if h.Unknown {
			continue
		}
		one.fields[h.Name] = h.Value
		if h.Key != "" {
			one.attachments = append(one.attachments, [2]string{h.Key, h.Value})
			one.attachmentBytes[fmt.Sprintf("[%q]", h.Key)] += int64(h.Len)
			one.inHeader += int64(h.Len)
		}
	}
	m.Attachments(func(key string, value, _, _ int) {
		n := &m.Tree.Nodes[value]
		one.attachments = append(one.attachments, [2]string{key, fmt.Sprint(n.Kind, n.Text, string(m.Content()[n.Off:n.Off+n.Len]))})
		switch n.Kind.String() {
		case "string":
			one.attachments[len(one.attachments)-1][1] = n.Text
		case "integer":
			one.attachments[len(one.attachments)-1][1] = fmt.Sprint(n.Num)
		}
	})
	s.list = append(s.list, one)
}

// frameList reads all frames of a capture.
func frameList(t *testing.T, path string) (*frames, *pipeline.Totals) {
	src, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	s := &frames{resets: map[stream]reset{}}
	totals, err := pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Rows: true, Detail: rpc.Values}, s)
	require.NoError(t, err)
	return s, totals
}

// pair pairs frames as the contract has it.
func (s *frames) pair() []exchange {
	methods := map[string]bool{} // the protocols of the methods
	for _, m := range s.list {
		m.taken = false
		if m.request && m.service != "?" {
			methods[m.protocol] = true
		}
	}
	var all []exchange
	for i, m := range s.list {
		switch {
		case m.taken || !m.request && m.dubbo:
		case m.dubbo:
			m.taken = true
			e := exchange{request: m, requests: []*message{m}}
			if m.twoWay {
				for _, o := range s.list[i+1:] {
					if o.dubbo && !o.request && !o.taken && o.conn == m.conn && o.side != m.side && o.id == m.id {
						o.taken = true
						e.response, e.responses = o, []*message{o}
						break
					}
				}
			}
			all = append(all, e)
		default: // all messages of a stream
			e := exchange{}
			for _, o := range s.list[i:] {
				if o.conn != m.conn || o.id != m.id {
					continue
				}
				o.taken = true
				if o.request {
					e.requests = append(e.requests, o)
				} else {
					e.responses = append(e.responses, o)
				}
			}
			if len(e.requests) > 0 {
				e.request = e.requests[0]
			}
			if len(e.responses) > 0 {
				e.response = e.responses[0]
			}
			if r := s.resets[stream{m.conn, m.id}]; r.why != "" {
				e.reset, e.resetAt = r.why, r.at
			}
			if p := e.response; p != nil && e.request != nil && e.reset == "" && p.body == 0 && !p.complete && !p.ended && len(e.responses) == 1 {
				e.response, e.responses = nil, nil // only its headers came
			}
			if e.request != nil && e.response != nil && e.request.serialization == "" {
				e.request.serialization = e.response.serialization // it has no body
			}
			all = append(all, e)
		}
	}
	for _, m := range s.list {
		if !m.taken {
			all = append(all, exchange{response: m, responses: []*message{m}})
		}
	}
	for i := range all {
		e := &all[i]
		switch m := e.request; {
		case m == nil || m.service == "?":
			e.name = "?/?"
		case len(methods) > 1:
			e.name = m.protocol + " " + m.service + "/" + m.method
		default:
			e.name = m.service + "/" + m.method
		}
	}
	return all
}

// answer is the last message of the response, which has the outcome.
func (e exchange) answer() *message {
	if len(e.responses) == 0 {
		return nil
	}
	return e.responses[len(e.responses)-1]
}

// refused reports whether a message has a status other than OK: 20 for the dubbo protocol, 0 for gRPC, those below 400 for HTTP.
func (m *message) refused() bool {
	switch m.protocol {
	case "dubbo":
		return m.status != 20
	case "thrift", "nativethrift":
		return m.status == 3
	}
	if m.plainHTTP {
		return m.status >= 400
	}
	return m.status > 0 && m.status < 100 || m.status >= 400 // Triple with a plain body has the status of HTTP
}

func (e exchange) failed() bool {
	p := e.answer()
	return e.reset != "" || p != nil && (p.refused() || p.exception)
}

func (m *message) host() string {
	host, _, _ := net.SplitHostPort(m.ends[m.side])
	return host
}

// receiver is the host that the message was sent to.
func (m *message) receiver() string {
	host, _, _ := net.SplitHostPort(m.ends[1-m.side])
	return host
}

// client is the host of the end that sends the requests.
func (e exchange) client() string {
	if e.request != nil {
		return e.request.host()
	}
	return e.response.receiver()
}

// timeout is the number of milliseconds for which the client waits, 0 if neither attachments nor other header fields tell.
func (m *message) timeout() int64 {
	if s := m.fields["grpc-timeout"]; len(s) > 1 {
		n, _ := strconv.ParseInt(s[:len(s)-1], 10, 64)
		unit := map[byte]int64{'n': 1, 'u': 1e3, 'm': 1e6, 'S': 1e9, 'M': 60e9, 'H': 3600e9}[s[len(s)-1]]
		return (n*unit + 1e6 - 1) / 1e6
	}
	keys := []string{"timeout", "_TO", "_to"}
	if !m.dubbo {
		keys = []string{"timeout"}
		if n, _ := strconv.ParseInt(m.fields["tri-service-timeout"], 10, 64); n > 0 {
			return n
		}
	}
	for _, key := range keys {
		for _, a := range m.attachments {
			if a[0] == key {
				n, _ := strconv.ParseInt(a[1], 10, 64)
				return n
			}
		}
	}
	return 0
}
