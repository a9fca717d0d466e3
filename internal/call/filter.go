package call

import (
	"bytes"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dubbo-wire/internal/rpc"
)

// Filter selects calls. A call must match all fields that are set, and one of the values of each.
type Filter struct {
	Service, Method, Serialization, Protocol []Glob
	Client, Server, Host                     []Glob
	// Side is what the capturing machine must have been in the call: ClientSide, ServerSide or "" for anything. A call within the
	// machine is of both sides.
	Side  string
	Ports []int
	IDs   []int64
	// Status and StatusNames select by the status of the response; a reset has a name only. A call matches one of either.
	Status      []int
	StatusNames []Glob
	States      []State
	Error       []Glob
	Attachment  map[string]Glob
	// MinSize bounds the body of either side, MinRequest and MinResponse that of one, in bytes; 0: no bound.
	MinSize, MinRequest, MinResponse int64
	// MaxSize bounds the body of either side; nil: no bound.
	MaxSize    *int64
	MinLatency time.Duration
	// Since and Until bound the time of the first byte, inclusive, in nanoseconds since the Unix epoch.
	Since, Until *int64
}

// Glob is a pattern for a whole text: * matches any run of characters, ? any single one.
type Glob struct {
	text string
	re   *regexp.Regexp
}

// ParseGlob compiles a pattern. Every text is a valid pattern.
func ParseGlob(s string) Glob {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for _, c := range s {
		switch c {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteByte('.')
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	b.WriteString(`\z`)
	return Glob{s, regexp.MustCompile(b.String())}
}

// Match reports whether s matches.
func (g Glob) Match(s string) bool { return g.re.MatchString(s) }

// literal returns the longest text between wildcards.
func (g Glob) literal() (longest string) {
	for _, part := range strings.FieldsFunc(g.text, func(c rune) bool { return c == '*' || c == '?' }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// String returns the pattern.
func (g Glob) String() string { return g.text }

func matchAny(globs []Glob, texts ...string) bool {
	if len(globs) == 0 {
		return true
	}
	for _, g := range globs {
		for _, s := range texts {
			if g.Match(s) {
				return true
			}
		}
	}
	return false
}

// MatchService reports whether one of the patterns matches a service: its full name or the part after the last dot. No
// patterns match every service.
func MatchService(globs []Glob, service string) bool {
	return matchAny(globs, service, LastPart(service))
}

// MatchMethod reports whether one of the patterns matches a method: its name, or service/method with either name of the
// service. No patterns match every method.
func MatchMethod(globs []Glob, service, method string) bool {
	return len(globs) == 0 || matchAny(globs, method, service+"/"+method, LastPart(service)+"/"+method)
}

// MatchSerialization reports whether one of the patterns matches a serialization, with or without its dialect. No patterns
// match every serialization.
func MatchSerialization(globs []Glob, name string) bool {
	plain, _, _ := strings.Cut(name, " (")
	return matchAny(globs, name, plain)
}

// LastPart returns the part of a service's name after the last dot. The name of a host has no parts.
func LastPart(service string) string {
	if IsHost(service) {
		return service
	}
	return service[strings.LastIndexByte(service, '.')+1:]
}

// IsHost reports whether a service is named by a host with a port, or by an address.
func IsHost(service string) bool {
	return strings.IndexByte(service, ':') >= 0 || service != "" && strings.Trim(service, "0123456789.") == ""
}

// NeedsAttachments reports whether messages must have their Attachments.
func (f *Filter) NeedsAttachments() bool { return len(f.Attachment) > 0 }

// MayHaveAttachments reports whether a whole message, of which the body is not decoded yet, may have an attachment that the filter asks for. In
// serializations with texts in place those of others have no such text.
func (f *Filter) MayHaveAttachments(m *rpc.Message) bool {
	if m.Format == nil || !m.Format.TextsInPlace {
		return true
	}
	for key, g := range f.Attachment {
		if within(m.Body, key) && (len(m.Body) >= longText || within(m.Body, g.literal())) {
			return true
		}
	}
	return false
}

// longText is the size in bytes from which on a text may be in pieces: Go writes Hessian in pieces of 4,096 characters, Java of 32,768.
const longText = 1 << 12

// within reports whether a text may be among the bytes of a body; serializations have their own ways to write what is not ASCII.
func within(body []byte, text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf || text[i] == 0 {
			return true
		}
	}
	return bytes.Contains(body, []byte(text))
}

// OfRequests reports whether the request alone decides: the filter has no condition on the response or the latency.
func (f *Filter) OfRequests() bool {
	return len(f.Status)+len(f.StatusNames)+len(f.States)+len(f.Error)+len(f.Attachment) == 0 && f.MinSize == 0 && f.MaxSize == nil && f.MinResponse == 0 &&
		f.MinLatency == 0
}

// NeedsErrors reports whether messages must have the names and texts of errors.
func (f *Filter) NeedsErrors() bool { return len(f.Error) > 0 }

// Detail returns how far the filter needs bodies decoded.
func (f *Filter) Detail() rpc.Detail {
	switch {
	case f.NeedsAttachments():
		return rpc.Values
	case f.NeedsErrors():
		return rpc.Parts
	}
	return rpc.Envelope
}

// Operations returns a function that reports whether the filter may select calls of an operation, or nil if it may select those of any.
func (f *Filter) Operations() func(o *rpc.Operation) bool {
	if len(f.Service)+len(f.Method) == 0 {
		return nil
	}
	return func(o *rpc.Operation) bool {
		if o.Generic || o.Service == Unknown { // the body may have other names
			return true
		}
		return MatchService(f.Service, o.Service) && MatchMethod(f.Method, o.Service, o.Method)
	}
}

// Match reports whether the filter selects the call.
func (f *Filter) Match(c *Call) bool {
	m := c.Request
	if m == nil {
		m = c.Response
	}
	return MatchService(f.Service, m.Service()) && MatchMethod(f.Method, m.Service(), m.Method()) &&
		MatchSerialization(f.Serialization, m.SerializationName()) && matchAny(f.Protocol, m.Protocol.Name) &&
		f.ends(c) && f.numbers(c, m) && f.sizes(c) && f.times(c, m) && f.texts(c)
}

func (f *Filter) ends(c *Call) bool {
	client, server := c.Client(), c.Server()
	if f.Side != "" && !OfSide(c.MachineSide(), f.Side) {
		return false
	}
	clientHost, clientPort, _ := net.SplitHostPort(client)
	serverHost, serverPort, _ := net.SplitHostPort(server)
	if !matchAny(f.Client, client, clientHost) || !matchAny(f.Server, server, serverHost) ||
		!matchAny(f.Host, clientHost, serverHost) {
		return false
	}
	return anyOf(f.Ports, func(p int) bool { s := fmt.Sprint(p); return s == clientPort || s == serverPort })
}

func anyOf[T int | int64](list []T, ok func(T) bool) bool {
	for _, v := range list {
		if ok(v) {
			return true
		}
	}
	return len(list) == 0
}

func (f *Filter) numbers(c *Call, m *Message) bool {
	return (len(f.States) == 0 || slices.Contains(f.States, c.State())) && anyOf(f.IDs, func(id int64) bool { return id == int64(m.Exchange) }) &&
		f.status(c)
}

func (f *Filter) status(c *Call) bool {
	if len(f.Status)+len(f.StatusNames) == 0 {
		return true
	}
	if c.Aborted != "" {
		return len(f.StatusNames) > 0 && matchAny(f.StatusNames, c.Aborted)
	}
	m := c.Answer()
	return m != nil && (slices.Contains(f.Status, int(m.Status)) || len(f.StatusNames) > 0 && matchAny(f.StatusNames, m.StatusText()))
}

func (f *Filter) sizes(c *Call) bool {
	size := func(m *Message) int64 {
		if m == nil {
			return -1
		}
		return m.BodyBytes()
	}
	req, resp := size(c.Request), size(c.Response)
	switch {
	case f.MinSize > 0 && max(req, resp) < f.MinSize:
	case f.MaxSize != nil && !(req >= 0 && req <= *f.MaxSize || resp >= 0 && resp <= *f.MaxSize):
	case f.MinRequest > 0 && req < f.MinRequest:
	case f.MinResponse > 0 && resp < f.MinResponse:
	default:
		return true
	}
	return false
}

func (f *Filter) times(c *Call, m *Message) bool {
	if f.Since != nil && m.FirstTime < *f.Since || f.Until != nil && m.FirstTime > *f.Until {
		return false
	}
	if f.MinLatency > 0 {
		ns, ok := c.Latency()
		return ok && ns >= int64(f.MinLatency)
	}
	return true
}

func (f *Filter) texts(c *Call) bool {
	if len(f.Error) > 0 {
		if !c.Failed() {
			return false
		}
		texts := []string{c.ErrorName()}
		if r := c.Answer(); r != nil {
			texts = append(texts, r.ErrorMessage, r.ExceptionClass, r.ExceptionMessage, r.ExceptionClass+": "+r.ExceptionMessage)
		}
		if !matchAny(f.Error, texts...) {
			return false
		}
	}
	for key, g := range f.Attachment {
		found := false
		for _, m := range []*Message{c.Request, c.Response} {
			for ; m != nil; m = m.Next {
				if v, ok := m.Attachments[key]; ok && g.Match(v) {
					found = true
				}
			}
		}
		if !found {
			return false
		}
	}
	return true
}
