package dubbo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/prefetch"
	"dubbo-wire/internal/rpc"
)

// Protocol is the dubbo protocol.
var Protocol = &rpc.Protocol{
	Name: "dubbo", Read: "frames, bodies", Releases: "all", Capture: "hessian2.pcap.zst", RecognisedBy: "the bytes da bb and a valid header",
	Resyncs: true, Numbered: true, Magic: []byte{0xda, 0xbb}, HeaderLen: HeaderLen, NewMayBegin: newMayBegin, Exhausted: statusThreadPoolExhausted,
	Events: []string{"R", "W"}, // read only, writeable
	// DubboInvoker adds path, version, interface, group, token and timeout, ConsumerContextFilter remote.application. _TO and _to are
	// the time that is left of a timeout along a chain of calls.
	Attachments: rpc.Attachments{
		Request: []string{
			"path", "version", "interface", "group", "token", "timeout", "_TO", "_to", "remote.application", "dubbo", "generic", "async", "id",
			"return", "callback.service.*", "sys_callback_arg-*",
		},
		Response: []string{"dubbo"},
		Repeated: []string{"path", "version"},
		Timeout:  []string{"timeout", "_TO", "_to"},
	},
	PayloadLimit: 8 << 20, // parameter payload
	ScrubBody:    scrubBody,
	Sniff:        sniff, StatusText: func(status int) string { return StatusText(byte(min(max(status, 0), 255))) }, Header: headerFields, FindHeader: findHeader,
	New: open, NewDecoder: func(formats []decode.Format) rpc.Decoder { return &keptDecoder{Decoder: NewDecoder(formats)} },
}

func sniff(head []byte) rpc.Verdict {
	switch {
	case !isMagic(head):
		return rpc.NotMine
	case len(head) < 2:
		return rpc.More
	}
	return rpc.Mine
}

// lane is shared by the connections of a lane.
type lane struct {
	protocol *rpc.Protocol
	env      *rpc.Env
	decoder  *Decoder
	framing  Config
	asked    rpc.Message // argument of Needs before a message is decoded
}

// shared is the state that all lanes of one goroutine share. sharedKey is its key in [rpc.Env].
type (
	sharedKey struct{}
	shared    struct {
		decoder    *Decoder
		recognizer *Recognizer
		pool       *pool
	}
)

func newMayBegin(formats []decode.Format) func(b []byte) (n int, may bool) {
	return NewRecognizer(formats).MayBegin
}

func open(self *rpc.Protocol, env *rpc.Env) rpc.Opener {
	common, ok := env.Shared[sharedKey{}].(shared)
	if !ok {
		common = shared{NewDecoder(env.Formats), NewRecognizer(env.Formats), new(pool)}
		common.decoder.tree.Borrow = env.Borrow
		common.decoder.Print(env.Printed)
		env.Shared[sharedKey{}] = common
	}
	l := &lane{protocol: self, env: env, decoder: common.decoder}
	l.framing = Config{Buffers: &Buffers{Max: env.MaxBuffers, pool: common.pool}, Readable: common.decoder.Readable, Recognizer: common.recognizer}
	return func(owner rpc.Owner, joined bool) rpc.Conn {
		c := &conn{lane: l, owner: owner, joined: joined}
		for i := range c.sides {
			c.sides[i] = side{conn: c}
		}
		return c
	}
}

// conn is one connection. Its framers ask each other which requests were found. They are part of it, so that a packet
// finds all that it needs in one place: a capture of many connections waits for memory.
type conn struct {
	*lane
	owner    rpc.Owner
	sides    [2]side
	dialects Dialects
	joined   bool
	claimed  bool
	// clientKnown is set after a request, and server then is the side that received the first one. Only the other one calls back.
	clientKnown bool
	server      int8
	// held is set if a framer may hold frames that can be decided now.
	held bool
}

// side is one direction of a connection.
type side struct {
	conn   *conn
	framer Framer
}

// number returns 0 for the side that sent the connection's first packet, else 1.
func (s *side) number() int {
	if s == &s.conn.sides[1] {
		return 1
	}
	return 0
}

func (s *side) other() *side { return &s.conn.sides[1-s.number()] }

// Data implements [rpc.Conn].
func (c *conn) Data(side int, b []byte, chunk *rpc.Chunk) {
	if c.sides[side].framer.within(b, chunk) {
		return
	}
	c.begin(side).Data(b, chunk)
	c.settle()
}

// Preload implements [rpc.Preloader].
func (c *conn) Preload(side int, there bool) {
	if !there {
		prefetch.Write(unsafe.Pointer(c), unsafe.Sizeof(*c))
	} else if f := c.sides[side].framer.frame; f != nil {
		prefetch.Write(unsafe.Pointer(f), unsafe.Sizeof(*f))
	}
}

// Gap implements [rpc.Conn].
func (c *conn) Gap(side int, n, wire int64, chunk *rpc.Chunk) {
	c.begin(side).Gap(n, wire, chunk)
	c.settle()
}

// begin returns the framer of a side, which starts with the first byte.
func (c *conn) begin(side int) *Framer {
	c.framing.WantBody = c.env.MaxBody
	s := &c.sides[side]
	if !s.framer.started() {
		s.framer.start(&c.framing, s, !c.joined)
	}
	return &s.framer
}

// settle lets framers emit frames that the other direction has decided.
func (c *conn) settle() {
	for c.held {
		c.held = false
		for i := range c.sides {
			if f := &c.sides[i].framer; f.started() {
				f.Settle()
			}
		}
	}
	if !c.claimed && (c.sides[0].met() || c.sides[1].met()) {
		c.claimed = true
		c.owner.Claim("")
	}
}

func (s *side) met() bool { return s.framer.started() && s.framer.Met() }

// Repeat implements [rpc.Conn]: retransmitted bytes belong to the frame that is being read.
func (c *conn) Repeat(side int, _ rpc.Span, wire int64) bool {
	f := &c.sides[side].framer
	return f.started() && f.AddWire(wire)
}

// End implements [rpc.Conn].
func (c *conn) End(side int, _ bool) {
	if f := &c.sides[side].framer; f.started() {
		f.End()
		c.settle()
	}
}

// Pending implements [rpc.Conn].
func (c *conn) Pending(side int) rpc.Pending {
	f := &c.sides[side].framer
	if !f.started() {
		return rpc.Pending{}
	}
	p := rpc.Pending{Searching: f.Searching()}
	p.From, p.Held = f.Undecided()
	return p
}

// Expected implements [Asker].
func (s *side) Expected(id int64) bool { return s.conn.owner.Awaited(s.number(), uint64(id)) }

// Asked implements [Asker].
func (s *side) Asked(id int64) bool {
	f := &s.other().framer
	return f.started() && f.Asks(id)
}

// Missed implements [Asker].
func (s *side) Missed() bool {
	f := &s.other().framer
	return s.conn.joined || !f.started() || f.Lossy()
}

// Enough implements [Asker].
func (s *side) Enough(h *Header, b []byte) int {
	c := s.conn
	if c.env.Detail > Envelope || c.env.WholeBodies {
		return 0
	}
	if c.env.Sampling && !h.Event() {
		if c.owner.Keep(s.number(), c.ask(h, b)) {
			return 0
		}
		if len(b) >= c.env.MaxEnvelope {
			return len(b)
		}
	}
	return c.decoder.Enough(h, b, &c.dialects)
}

// ask returns what is known about a message before its body is decoded. b is the start of the body.
func (c *conn) ask(h *Header, b []byte) *rpc.Message {
	m := &c.asked
	m.Operation, m.Format = nil, nil
	m.Kind, m.Exchange, m.BodyLen, m.Failed = Response, uint64(h.ID), h.BodyLen, !h.Request() && h.Status != StatusOK
	switch {
	case h.Event():
		m.Kind = Event
	case h.Request():
		m.Kind = Request
		if n := c.decoder.NamesAt(h, b); n != nil && !n.Generic { // the arguments of a generic call name its target
			m.Operation, m.Format = &n.Operation, c.decoder.certain(h, b)
		}
	default:
		m.Format = c.decoder.certain(h, b)
	}
	return m
}

// Frame implements [Sink].
func (s *side) Frame(f *Frame) {
	c := s.conn
	if o := s.other(); o.framer.started() && o.framer.Searching() && !f.Request() && !f.Event() && !s.Expected(f.ID) {
		o.framer.Answered(f.ID) // its request may be among the held bytes
		c.held = true
	}
	c.claimed = true
	c.owner.Message(s.number(), c.decode(s.number(), f))
}

// decode decodes a body as far as needed. If a sampled body needs more than the minimum, it is still decoded only
// once, provided that its operation can be read from the start.
func (c *conn) decode(side int, f *Frame) *rpc.Message {
	detail := c.env.Detail
	if c.env.AskFirst && detail == Values && f.Complete() && len(f.Body) == f.BodyLen && !f.Event() {
		if m := c.decodeEnvelope(side, f); m != nil {
			return m
		}
	}
	asked := !c.env.Sampling || !f.Complete() || len(f.Body) < f.BodyLen
	if detail > Envelope && !asked {
		if m := c.ask(&f.Header, f.Body); m.Kind == Response || m.Operation != nil {
			m.Body, m.Complete, m.Last = f.Body, true, f.Last
			detail = c.owner.Want(side, m)
			asked, m.Body = true, nil
		}
	}
	c.dialects.peer = c.peer(side, f)
	m := c.decoder.Decode(f, detail, &c.dialects)
	m.Protocol = c.protocol
	if (asked || c.owner.Want(side, &m.Message) <= detail) && !(c.env.Records && detail < Values && hidesName(m, f.Body)) {
		return &m.Message
	}
	// Sampling must not change the dialects of the connection.
	first, dialects := m.Message, c.dialects
	more := c.decoder.Decode(f, Values, &dialects)
	first.Tree, first.Parts, first.Err, first.ErrorMessage, first.ExceptionClass = more.Tree, more.Parts, more.Err, more.ErrorMessage, more.ExceptionClass
	first.Group, first.GenericMethod, first.GenericTypes = more.Group, more.GenericMethod, more.GenericTypes
	first.ExceptionMessage, first.HasErrorText = more.ExceptionMessage, more.HasErrorText
	m.Message = first
	return &m.Message
}

// decodeEnvelope decodes the envelope of a whole body and returns the message if that is all that is needed. Else it returns nil and changes
// nothing.
func (c *conn) decodeEnvelope(side int, f *Frame) *rpc.Message {
	dialects := c.dialects
	c.dialects.peer = c.peer(side, f)
	m := c.decoder.Decode(f, Envelope, &c.dialects)
	m.Protocol = c.protocol
	if m.Err == nil && c.owner.Want(side, &m.Message) == Envelope {
		return &m.Message
	}
	c.dialects = dialects
	return nil
}

// hidesName reports whether the values of a body may have a name or a text that records print: an exception, the text of a failed response, what a generic
// call invokes, or the group of a service, which may be an attachment. Those end a request; besides their own bytes each has at most 7 of marks and lengths, and the map its class. Kryo marks the last letter of a
// key; none has a small letter or a space before it, as texts with that word do.
func hidesName(m *Message, body []byte) bool {
	if m.Exception || m.Failed || m.Operation != nil && m.Operation.Generic {
		return true
	}
	if m.Kind != Request || m.Group != "" {
		return false
	}
	const mapBytes = 512
	n := 8*int(m.Parts[decode.ClassAttachments]) + mapBytes
	if m.attachmentsAt > 0 && m.Format.TextsInPlace {
		n = len(body) - m.attachmentsAt
	}
	for rest := body[max(0, len(body)-n):]; ; {
		at := bytes.Index(rest, []byte("grou"))
		if at < 0 {
			return false
		}
		if at == 0 || rest[at-1] != ' ' && (rest[at-1] < 'a' || rest[at-1] > 'z') {
			return true
		}
		rest = rest[at+1:]
	}
}

// peer returns what is known about a frame of a side besides its bytes.
func (c *conn) peer(side int, f *Frame) (p peer) {
	switch {
	case f.Event():
		return p
	case f.Request() && !c.clientKnown:
		c.clientKnown, c.server = true, int8(1-side)
	case !f.Request() && c.decoder.typedResults[f.SerializationID()]:
		p.request = c.owner.Answered(side, uint64(f.ID))
	}
	p.callback = c.clientKnown && f.Request() == (side == int(c.server))
	return p
}

// Skipped implements [Sink].
func (s *side) Skipped(n int64, text bool) {
	name := ""
	if text {
		name = telnet
	}
	s.conn.owner.Unowned(s.number(), n, name)
}

// CutHeader implements [Sink]. A copy of the capture needs the magic: without it a search begins there, before the missing bytes and not
// after them. At the start of a stream it stays anyway.
func (s *side) CutHeader(pos int64, b []byte) {
	if c := s.conn; c.env.Framing && pos > 0 {
		n := min(len(b), len(magic))
		m := &rpc.Message{Head: b[:n], Pieces: []rpc.Piece{{From: pos, Len: n}}}
		m.Protocol = c.protocol
		c.owner.Framing(s.number(), m)
	}
}

// telnet is the name for lines of text between frames. Dubbo serves telnet on the same port.
const telnet = "telnet"

// BadHeader implements [Sink].
func (s *side) BadHeader(Header, Origin) {
	s.conn.claimed = true
	s.conn.owner.Claim("")
	s.conn.owner.BadHeader(s.number())
}

// describe sets the fields that come from header and stream.
func (m *Message) describe(f *Frame) {
	h := &f.Header
	binary.BigEndian.PutUint16(m.head[:], 0xdabb)
	m.head[2], m.head[3] = h.Flags, h.Status
	binary.BigEndian.PutUint64(m.head[4:], uint64(h.ID))
	binary.BigEndian.PutUint32(m.head[12:], uint32(h.BodyLen))
	m.Head, m.Body = m.head[:], f.Body
	h.Describe(&m.Summary)
	m.Complete, m.Resync, m.Exception = f.Complete(), f.Resync, m.isException()
	m.First, m.Last, m.File = f.First, f.Last, int32(f.Last.File)
	m.FirstTime, m.LastByte = f.First.Time, f.LastByte
	m.Span, m.Wire = rpc.Span{From: f.Start, To: f.End()}, f.Wire
	m.Captured, m.MissingAt, m.Short = f.Captured, f.MissingAt, f.Short
	if m.Names != nil {
		m.Operation = &m.Names.Operation
	}
	if m.HeaderFormat != nil {
		m.HeaderSerialization = m.HeaderFormat.Name
	}
}

// Describe sets the fields that come from the header, except the kind.
func (h *Header) Describe(s *rpc.Summary) {
	s.Exchange, s.SerializationID = uint64(h.ID), int8(h.SerializationID())
	s.Request, s.TwoWay, s.Ends = h.Request(), h.TwoWay(), true
	s.Failed = !h.Request() && h.Status != StatusOK
	s.Status, s.HeaderLen, s.BodyLen = int32(h.Status), HeaderLen, h.BodyLen
}

// keptDecoder decodes the bodies of kept messages.
type keptDecoder struct {
	*Decoder
	alone    map[string]*Decoder // by full name of the only format of each
	dialects Dialects
	frame    Frame
	searched searches // in all bodies, so that many of them cost no more than those of a connection
}

// Decode implements [rpc.Decoder].
func (d *keptDecoder) Decode(m *rpc.Message, detail Detail) *rpc.Message {
	d.frame = FrameOf(m)
	d.dialects = Dialects{}
	if known, ok := m.Native.(*Dialects); ok {
		d.dialects = *known
	}
	return d.again(d.Decoder, m, detail)
}

// DecodeAs implements [rpc.Decoder].
func (d *keptDecoder) DecodeAs(m *rpc.Message, format *decode.Format) *rpc.Message {
	name := format.FullName()
	alone := d.alone[name]
	if alone == nil {
		alone = NewDecoder([]decode.Format{*format})
		if d.alone == nil {
			d.alone = make(map[string]*Decoder)
		}
		d.alone[name] = alone
	}
	d.frame = FrameOf(m)
	d.frame.Flags = d.frame.Flags&^maskID | format.ID&maskID
	d.dialects = Dialects{}
	if known, ok := m.Native.(*Dialects); ok {
		d.dialects.layout, d.dialects.hasLayout, d.dialects.peer = known.layout, known.hasLayout, known.peer
		d.dialects.numbers, d.dialects.older, d.dialects.orders = known.numbers, known.older, known.orders
	}
	return d.again(alone, m, Values)
}

func (d *keptDecoder) again(decoder *Decoder, m *rpc.Message, detail Detail) *rpc.Message {
	d.dialects.searched = d.searched
	out := &decoder.Decode(&d.frame, detail, &d.dialects).Message
	d.searched = d.dialects.searched
	out.Protocol = m.Protocol
	return out
}

// FrameOf returns the frame of a message.
func FrameOf(m *rpc.Message) Frame {
	return Frame{
		Header: parseHeader(m.Head), Body: m.Body, Captured: m.Captured, MissingAt: m.MissingAt, Short: m.Short, Resync: m.Resync,
		First: m.First, Last: m.Last, LastByte: m.LastByte, Start: m.Span.From, Wire: m.Wire,
	}
}

// Clone implements [rpc.Native].
func (d *Dialects) Clone() rpc.Native {
	c := *d
	return &c
}

// findHeader returns the offset of the first bytes in b that are a plausible header, or -1.
func findHeader(b []byte) int {
	for at := 0; ; {
		k := bytes.Index(b[at:], []byte{0xda, 0xbb})
		if k < 0 || len(b)-at-k < HeaderLen {
			return -1
		}
		at += k
		h := parseHeader(b[at:])
		if h.BodyLen >= 0 && h.BodyLen < 8<<20 &&
			(h.Request() && h.Status == 0 || h.Flags&(flagRequest|flagTwoWay) == 0 && StatusText(h.Status) != "") {
			return at
		}
		at++
	}
}

// headerFields describes the header of a message.
func headerFields(list []rpc.HeaderField, m *rpc.Message, _ bool) []rpc.HeaderField {
	h := parseHeader(m.Head)
	var flags []string
	switch {
	case h.Request() && h.Event():
		flags = append(flags, "event")
	case h.Request():
		flags = append(flags, "request")
	default:
		flags = append(flags, "response")
		if h.Event() {
			flags = append(flags, "to an event")
		}
	}
	switch {
	case h.TwoWay():
		flags = append(flags, "two-way")
	case h.Request():
		flags = append(flags, "one-way")
	}
	id := h.SerializationID()
	serialization := fmt.Sprintf("serialization %d", id)
	switch {
	case m.HeaderFormat != nil:
		serialization = m.HeaderSerializationName() + ", but the bytes are " + m.Serialization
	case m.Format != nil:
		serialization = fmt.Sprintf("%s (%d)", m.Format.Name, id)
	}
	flags = append(flags, serialization)
	status := "none, in a request"
	switch {
	case h.Request() && h.Status != 0:
		status = strconv.Itoa(int(h.Status)) + ": Dubbo writes 0 in requests"
	case !h.Request():
		status = strconv.Itoa(int(h.Status))
		if text := StatusText(h.Status); text != "" {
			status += " " + text
		}
	}
	return append(list,
		rpc.HeaderField{Name: "magic", Value: "Dubbo", Off: 0, Len: 2},
		rpc.HeaderField{Name: "flags", Value: strings.Join(flags, ", "), Off: 2, Len: 1},
		rpc.HeaderField{Name: "status", Value: status, Off: 3, Len: 1},
		rpc.HeaderField{Name: "id", Value: strconv.FormatInt(h.ID, 10), Off: 4, Len: 8},
		rpc.HeaderField{Name: "bodyLength", Value: strconv.Itoa(h.BodyLen), Off: 12, Len: 4},
	)
}
