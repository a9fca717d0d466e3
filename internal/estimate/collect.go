package estimate

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// Options say what is collected.
type Options struct {
	By     sizes.By
	Inputs []string // names by index
	// Sample is the number of calls of each method, All, or 0 for as many as can be estimated in about a minute.
	Sample int
	// Values is set if a Java virtual machine is to encode the values; else only what follows is estimated.
	Values bool
	// Compress are the compressions to try on the bodies as they are, Without the attachments to leave out. Triple is set if frames of Triple
	// are needed, Wrapped if the observed values are to be put into its bodies.
	Compress        []Compression
	Without         []string
	Triple, Wrapped bool
	// TempDir is the folder for values that do not fit in memory.
	TempDir string
}

// maxValues bounds the values of a message, in bytes.
const maxValues = 64 << 20

// maxGroups bounds the groups; the calls of later ones are added up in one group.
const maxGroups = 10_000

// hash is the start of the SHA-256 of a body.
type hash [8]byte

// prepared is what a worker makes of a message while it is decoded.
type prepared struct {
	values  []byte
	cause   string  // why values are missing
	plain   int     // bytes of the body without compression
	hash    hash    // of the body without compression
	hasBody bool    // the body can be compressed
	body    []byte  // to be compressed
	packed  []int32 // bytes of the compressed body by Options.Compress, if all calls are taken
	marks   marks
	fields  []field
	lighter []lighter // by Options.Without
	wrapped int       // bytes of a body of Triple with the observed values, -1 if it cannot be told
	// headers are the bytes of header frames that the message would have in Triple; set in capture order.
	headers int32
	// streamed are the bytes of the body in the stream of its connection, by Options.Compress; -1 if it is not known. nil without a stream.
	streamed []int32
}

// message is one side of a sampled call.
type message struct {
	*prepared
	bodyBytes, frameBytes int32
	result                int8
	at                    spooled
}

// sampled is a call of the sample.
type sampled struct {
	Frame, File   int64
	service, name string
	hash          uint64
	method        *method
	group         int32
	op            *rpc.Operation
	http2         bool // its headers are those of Triple or gRPC
	hasResponse   bool // a successful one
	cause         string
	request       message
	response      message
	results       []cell // by target
}

// memory returns the approximate memory of a call, in bytes.
func (s *sampled) memory() int64 {
	n := 512
	for _, m := range [2]*message{&s.request, &s.response} {
		if m.prepared != nil {
			n += cap(m.values) + cap(m.body) + 32*len(m.fields)
		}
	}
	return int64(n)
}

// Collector is the sink of a run that collects calls to estimate.
type Collector struct {
	opt     Options
	sample  *sample
	pending map[int64]*prepared
	waiting int64 // bytes of pending
	groups  []*Group
	byKey   map[string]int32
	key     []byte
	seen    map[string]*observed
	order   []*observed
	framing framing
	streams *streams
	spool   *spool
	// without counts calls without a request, of which nothing is known, compressed those with a body that was compressed.
	without, compressed int64
	// releases counts requests by the version of the protocol that they name, marked messages by what tells the release.
	releases map[string]int64
	marked   [len(markNames)]int64
}

// Group holds the calls with the same values of the keys.
type Group struct {
	Values []string
	Rest   bool
	// Calls counts all calls of the group that have a request, FrameBytes the observed bytes of their frames.
	Calls, FrameBytes int64
}

// observed is one serialization of the capture with the sizes of all its calls.
type observed struct {
	name, protocol string
	format         string // without a dialect
	calls          int64
	groups         map[int32]*Measures
}

// NewCollector returns a collector, and sets the options of the run.
func NewCollector(opt Options, run *pipeline.Options) *Collector {
	c := &Collector{
		opt: opt, sample: newSample(opt.Sample), pending: make(map[int64]*prepared), byKey: make(map[string]int32), seen: make(map[string]*observed),
		releases: make(map[string]int64), streams: newStreams(opt.Compress),
	}
	if opt.Sample == All {
		c.spool = &spool{dir: opt.TempDir}
	}
	run.Detail, run.WholeBodies, run.Rows = rpc.Values, true, true
	run.Prepare = c.prepare
	return c
}

// maxWaiting bounds the values of calls that are not closed, in bytes.
const maxWaiting = 1 << 30

// prepare returns the function that makes records of messages, for one goroutine.
func (c *Collector) prepare() func(*pipeline.Row) any {
	var buf []byte
	var compressors []func([]byte) int
	if c.opt.Sample == All {
		for _, z := range c.opt.Compress {
			var f func([]byte) int
			if !z.Connection {
				f = z.compressor()
			}
			compressors = append(compressors, f)
		}
	}
	return func(r *pipeline.Row) any {
		m := r.Msg
		if m.Kind.Control() {
			return nil
		}
		p := &prepared{plain: len(m.Content()), wrapped: -1, marks: marksOf(m)}
		if c.opt.Values {
			if buf, p.cause = AppendValues(buf[:0], m); p.cause == "" && len(buf) > maxValues {
				p.cause = "the values are too large"
			}
			if p.cause == "" {
				p.values = bytes.Clone(buf)
			}
			if cap(buf) > 1<<20 {
				buf = nil
			}
		}
		if !m.IsWhole() {
			return p
		}
		sum := sha256.Sum256(m.Content())
		p.hash = hash(sum[:len(hash{})])
		if len(c.opt.Compress) > 0 && m.Encoding == "" {
			p.hasBody, p.body = true, append([]byte{}, m.Body...)
			for _, f := range compressors {
				n := -1
				if f != nil {
					n = f(m.Body)
				}
				p.packed = append(p.packed, int32(n))
			}
		}
		for _, key := range c.opt.Without {
			p.lighter = append(p.lighter, without(m, key))
		}
		if c.opt.Triple {
			p.fields = fieldsOf(m)
		}
		if c.opt.Wrapped {
			p.wrapped = wrappedLen(m)
		}
		return p
	}
}

// Frame keeps what was made of a message until its call is closed.
func (c *Collector) Frame(r *pipeline.Row) {
	r.Prepare()
	p, ok := r.Prepared.(*prepared)
	if !ok {
		return
	}
	if c.opt.Triple {
		p.headers = c.framing.headers(r, p.fields)
	}
	c.streams.message(r, p)
	if p.packed != nil {
		p.body = nil
	}
	if c.waiting += int64(len(p.values) + len(p.body)); c.waiting > maxWaiting {
		c.waiting -= int64(len(p.values) + len(p.body))
		p.values, p.body, p.hasBody, p.cause = nil, nil, false, "too many open calls to keep its values in memory"
	}
	c.pending[r.Number] = p
}

// takeMessage returns what was made of a message.
func (c *Collector) takeMessage(m *call.Message) message {
	if m == nil {
		return message{}
	}
	p := c.pending[m.Number]
	if p == nil {
		p = &prepared{cause: "not decoded", wrapped: -1}
	}
	c.waiting -= int64(len(p.values) + len(p.body))
	delete(c.pending, m.Number)
	return message{prepared: p, bodyBytes: int32(m.BodyLen), frameBytes: int32(m.FrameLen()), result: m.ResultKind}
}

// Call adds a closed call.
func (c *Collector) Call(k *call.Call, selected bool) {
	request, response := c.takeMessage(k.Request), c.takeMessage(k.Response)
	for _, first := range [2]*call.Message{k.Request, k.Response} {
		for m := first; m != nil; m = m.Next {
			if m != first {
				c.takeMessage(m)
			}
		}
	}
	if !selected {
		return
	}
	if k.Request == nil {
		c.without++
		return
	}
	if k.Request.Compression() != "" || k.Response.Compression() != "" {
		c.compressed++
	}
	name := k.Request.QualifiedSerialization()
	s := &sampled{
		Frame: k.Request.Number, File: int64(k.Request.File), hash: hashOf(k.Conn.Key, k.Side, k.Request.Exchange),
		service: k.Request.Service(), name: k.Request.Method(), op: k.Request.Operation, request: request, http2: isTriple(k.Request.Protocol),
	}
	s.method = c.sample.method(k.Request.Service(), k.Request.Method(), name)
	if k.State() == call.OK {
		s.hasResponse, s.response = true, response
	}
	s.cause = causeOf(k, s)
	g := c.group(k)
	s.group = g
	group := c.groups[g]
	group.Calls++
	group.FrameBytes += k.Request.FrameBytes() + k.Response.FrameBytes()
	o := c.observe(name, k.Request)
	o.calls++
	if !k.Request.Incomplete() && (!s.hasResponse || !k.Response.Incomplete()) {
		m := o.groups[g]
		if m == nil {
			m = new(Measures)
			o.groups[g] = m
		}
		m.Request.Add(k.Request.BodyBytes())
		m.RequestFrame.Add(k.Request.FrameBytes())
		if s.hasResponse {
			m.Response.Add(k.Response.BodyBytes())
			m.ResponseFrame.Add(k.Response.FrameBytes())
		}
	}
	for i := range c.marked {
		for _, m := range [2]*message{&s.request, &s.response} {
			if m.prepared != nil && m.marks&(1<<i) != 0 {
				c.marked[i]++
			}
		}
	}
	if s.op != nil && len(c.releases) < 64 {
		c.releases[s.op.ProtocolVersion]++
	}
	if c.spool != nil {
		c.spool.keep(&s.request)
		c.spool.keep(&s.response)
	}
	c.sample.add(s.method, s)
}

// causeOf returns why a call cannot be estimated, "" if it can.
func causeOf(k *call.Call, s *sampled) string {
	switch {
	case k.Request.Next != nil || k.Response != nil && k.Response.Next != nil:
		return streaming
	case k.Request.Incomplete() || s.hasResponse && k.Response.Incomplete():
		return incomplete
	case s.request.cause != "":
		return s.request.cause
	case s.hasResponse:
		return s.response.cause
	}
	return ""
}

// group returns the index of a call's group.
func (c *Collector) group(k *call.Call) int32 {
	c.key = c.opt.By.AppendKey(c.key[:0], k, c.opt.Inputs)
	if i, ok := c.byKey[string(c.key)]; ok {
		return i
	}
	g := &Group{Values: splitKey(c.key, len(c.opt.By.Keys))}
	if len(c.groups) >= maxGroups {
		if c.groups[len(c.groups)-1].Rest {
			return int32(len(c.groups) - 1)
		}
		g = &Group{Rest: true, Values: slices.Repeat([]string{""}, len(c.opt.By.Keys))}
	} else {
		c.byKey[string(c.key)] = int32(len(c.groups))
	}
	c.groups = append(c.groups, g)
	return int32(len(c.groups) - 1)
}

func splitKey(key []byte, n int) []string {
	var list []string
	for _, part := range bytes.SplitN(key, []byte{0}, max(n, 1))[:min(n, bytes.Count(key, []byte{0})+1)] {
		list = append(list, string(part))
	}
	return list
}

// observe returns the serialization of a request.
func (c *Collector) observe(name string, m *call.Message) *observed {
	o := c.seen[name]
	if o == nil {
		o = &observed{name: name, protocol: m.Protocol.Name, format: m.SerializationName(), groups: make(map[int32]*Measures)}
		if i := bytes.IndexByte([]byte(o.format), ' '); i > 0 {
			o.format = o.format[:i]
		}
		c.seen[name] = o
		c.order = append(c.order, o)
	}
	return o
}

// lighter is what leaving out an attachment saves, in bytes of body and header.
type lighter struct {
	body, header int32
	cause        string
}

// without returns what leaving out an attachment of a message saves.
func without(m *rpc.Message, key string) (l lighter) {
	for i := range m.Headers {
		if h := &m.Headers[i]; h.Key == key {
			l.header += h.Len
		}
	}
	if m.Tree == nil {
		return l
	}
	t, from, entries, punctuated := m.Tree, -1, 0, false
	m.Attachments(func(name string, value, end, bytes int) {
		if from < 0 {
			from = int(t.Nodes[value].Parent) + 1
		}
		entries++
		if name == key {
			l.body += int32(bytes)
			for i := from; i < value; i++ {
				punctuated = punctuated || t.Nodes[i].Name == "punct" && t.Nodes[i].Label == decode.ByRole
			}
			if referred(t, from, end) {
				l.cause = "another value refers to the attachment " + key
			}
		}
		from = end
	})
	if punctuated && l.body > 0 { // a colon, and a comma before or after it
		l.body += int32(min(entries, 2))
	}
	if m.Encoding != "" && l.body > 0 {
		l.cause = "the body is compressed"
	}
	return l
}

// referred reports whether a value outside of the nodes from up to end refers to one of them, or has its text without its bytes.
func referred(t *decode.Tree, from, end int) bool {
	texts := make(map[string]bool)
	for i := from; i < end; i++ {
		if n := &t.Nodes[i]; n.Kind == decode.String && int(n.Len) >= len(n.Text) && n.Text != "" {
			texts[n.Text] = true
		}
	}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		switch {
		case i >= from && i < end:
		case (n.Kind == decode.Ref || n.Kind == decode.Alias) && n.Num >= int64(from) && n.Num < int64(end):
			return true
		case n.Kind == decode.String && int(n.Len) < len(n.Text) && texts[n.Text]:
			return true
		}
	}
	return false
}
