package madeup

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// parley is a protocol that nobody speaks. It has what Dubbo's own does not: messages that come in pieces, which lie between
// those of other exchanges; calls of several messages each way; a response whose length depends on what was asked; bytes that
// belong to no message; exchanges that are reset; no number for a serialization.
//
// Each side starts with a greeting. A piece is
//
//	0  kind · 1 exchange · 2 length of what follows (2), big-endian
//
// and what follows is, of a message's first piece, marks (1), a status (1), the length of the method's name with its fields (1), these,
// the length of the body (4), and the beginning of the body; of others the rest of the body, or fields that follow it. The response to
// a call of "head" has no body, whatever length it announces.
//
// A field is ;name=value, an attachment unless the name starts with a dot. The value * stands for the latest one of that name on this
// side.
var parley = &rpc.Protocol{
	Name: "parley", Read: "messages", New: open,
	Sniff: func(head []byte) rpc.Verdict {
		for i := range min(len(head), len(greeting)) {
			if head[i] != greeting[i] {
				return rpc.NotMine
			}
		}
		if len(head) < len(greeting) {
			return rpc.More
		}
		return rpc.Mine
	},
	Attachments: rpc.Attachments{
		Request: []string{"own"}, Timeout: []string{".patience", "patience"},
		ParseTimeout: func(_, text string) (int64, bool) { // 5s is five seconds
			n, err := strconv.ParseInt(strings.TrimSuffix(text, "s"), 10, 32)
			return 1000 * n, err == nil && strings.HasSuffix(text, "s")
		},
	},
	StatusText: func(status int) string { return map[int]string{0: "FINE", 7: "NO_SUCH_THING"}[status] },
	Header: func(list []rpc.HeaderField, m *rpc.Message, _ bool) []rpc.HeaderField {
		at := 0
		until := func(name, value string, end int) {
			if end > at {
				list = append(list, rpc.HeaderField{Name: name, Value: value, Off: at, Len: end - at})
				at = end
			}
		}
		for i := range m.Headers {
			h := &m.Headers[i]
			until("pieces", "of "+m.Protocol.Name, int(h.Off))
			until(h.Name, h.Value, int(h.Off+h.Len))
		}
		until("pieces", "of "+m.Protocol.Name, len(m.Head))
		return list
	},
	KeepHead: func(head []byte) []rpc.Span { // the greeting, and the kind of the first piece
		return []rpc.Span{{From: 0, To: int64(min(len(head), len(greeting)+1))}}
	},
	NewDecoder: func([]decode.Format) rpc.Decoder { return decoder{} },
}

const greeting = "PARLEY1\n"

const (
	askPiece = iota + 1
	answerPiece
	morePiece
	resetPiece
	pingPiece
	trailerPiece
)

// Marks of a message's first piece.
const (
	ends = 1 << iota // it is the last message of its side
	gzipped
	stalled
	trailing // fields follow the body
)

const pieceHeader = 4

func open(self *rpc.Protocol, env *rpc.Env) rpc.Opener {
	return func(owner rpc.Owner, _ bool) rpc.Conn {
		c := &conn{self: self, env: env, owner: owner, methods: map[uint64]string{}}
		for i := range c.sides {
			c.sides[i].open = map[uint64]*rpc.Message{}
			c.sides[i].count = map[uint64]int32{}
			c.sides[i].values = map[string]string{}
		}
		return c
	}
}

type conn struct {
	self    *rpc.Protocol
	env     *rpc.Env
	owner   rpc.Owner
	methods map[uint64]string // of exchanges: what was asked decides how the answer is read
	sides   [2]side
}

type side struct {
	buf     []byte
	from    int64 // place of buf in the stream
	first   rpc.Origin
	wire    int64 // link bytes of buf that no message has yet
	greeted bool
	open    map[uint64]*rpc.Message // messages of which pieces are to come
	count   map[uint64]int32
	values  map[string]string // latest value of each field
}

func (c *conn) Data(n int, b []byte, chunk *rpc.Chunk) {
	s := &c.sides[n]
	if len(s.buf) == 0 {
		s.from, s.first = chunk.Pos, chunk.Origin
	}
	s.buf = append(s.buf, b...)
	s.wire += int64(len(b) + chunk.Overhead)
	for {
		took := c.piece(n, s, chunk)
		if took == 0 {
			return
		}
		s.buf = s.buf[took:]
		s.from += int64(took)
		s.first = chunk.Origin
	}
}

// piece reads one piece and returns its length, 0 if it is not all there.
func (c *conn) piece(n int, s *side, chunk *rpc.Chunk) int {
	b := s.buf
	if !s.greeted {
		if len(b) < len(greeting) {
			return 0
		}
		s.greeted = true
		c.owner.Unowned(n, int64(len(greeting)), "parley greeting")
		s.wire -= int64(len(greeting))
		return len(greeting)
	}
	if len(b) < pieceHeader {
		return 0
	}
	kind, exchange, length := b[0], uint64(b[1]), pieceHeader+int(binary.BigEndian.Uint16(b[2:]))
	if len(b) < length {
		return 0
	}
	wire := int64(length)
	if len(b) == length {
		wire = s.wire // the packets' headers go to the last piece that they brought
	}
	s.wire -= wire
	span := rpc.Span{From: s.from, To: s.from + int64(length)}
	switch rest := b[pieceHeader:length]; kind {
	case pingPiece:
		c.owner.Unowned(n, int64(length), "parley ping")
	case resetPiece:
		asked := n
		if c.sides[n].count[exchange] == 0 {
			asked = 1 - n
		}
		c.owner.Unowned(n, int64(length), "parley reset")
		c.owner.Abort(asked, exchange, "RESET")
	case morePiece, trailerPiece:
		m := s.open[exchange]
		if m == nil {
			c.owner.Unowned(n, int64(length), "")
			break
		}
		if kind == trailerPiece {
			m.HeaderLen += int32(length)
			s.fields(m, string(rest), len(m.Head)+pieceHeader, true)
			m.Head = append(m.Head, b[:length]...)
			c.trailed(n, s, m, span, wire, chunk)
			break
		}
		m.HeaderLen += pieceHeader
		m.Head = append(m.Head, b[:pieceHeader]...)
		c.add(n, s, m, span, rest, wire, chunk)
	case askPiece, answerPiece:
		name := int(rest[2])
		m := &rpc.Message{Summary: rpc.Summary{
			Protocol: c.self, Kind: rpc.Response, Exchange: exchange, Ordinal: s.count[exchange], Ends: rest[0]&ends != 0,
			Serialization: "plain", SerializationID: rpc.NoSerialization, Status: int32(rest[1]), Failed: rest[1] != 0, ResultKind: 1,
			HeaderLen: int32(pieceHeader + 7 + name), BodyLen: int(binary.BigEndian.Uint32(rest[3+name:])), FirstTime: s.first.Time,
		}, First: s.first}
		if rest[0]&gzipped != 0 {
			m.Encoding, m.UncompressedLen = "gzip", -1
		}
		if rest[0]&stalled != 0 {
			m.Stalled = 250_000_000
		}
		m.Native = marks(rest[0])
		method, fields, _ := strings.Cut(string(rest[3:3+name]), ";")
		if fields != "" {
			s.fields(m, ";"+fields, pieceHeader+3+len(method), false)
		}
		if kind == askPiece {
			m.Kind, m.Request, m.TwoWay, m.Status, m.ResultKind = rpc.Request, true, true, rpc.NoStatus, -1
			service := "made.Up"
			if at := strings.IndexByte(method, '/'); at >= 0 {
				service, method = method[:at], method[at+1:]
			}
			m.Operation = &rpc.Operation{Service: service, Method: method, Hash: uint32(len(method)) + uint32(method[0])<<8}
			c.methods[exchange] = method
		} else if c.methods[exchange] == "head" {
			m.BodyLen = 0
		}
		s.count[exchange]++
		m.Head = slices.Clone(b[:m.HeaderLen])
		s.open[exchange] = m
		c.add(n, s, m, span, rest[7+name:], wire, chunk)
	}
	return length
}

// add gives a message bytes of its body.
func (c *conn) add(n int, s *side, m *rpc.Message, span rpc.Span, body []byte, wire int64, chunk *rpc.Chunk) {
	switch {
	case m.Span == (rpc.Span{}):
		m.Span = span
	case m.Extra == nil:
		m.Extra = &rpc.Extra{More: []rpc.Span{span}}
	default:
		m.Extra.More = append(m.Extra.More, span)
	}
	m.Body = append(m.Body, body...)
	m.Wire += wire
	m.Last, m.File, m.LastByte = chunk.Origin, int32(chunk.File), chunk.Time
	if len(m.Body) == m.BodyLen && m.Native.(marks)&trailing == 0 {
		c.complete(n, s, m)
	}
}

// trailed gives a message its last piece, which follows the body.
func (c *conn) trailed(n int, s *side, m *rpc.Message, span rpc.Span, wire int64, chunk *rpc.Chunk) {
	m.Native = m.Native.(marks) &^ trailing
	c.add(n, s, m, span, nil, wire, chunk)
}

func (c *conn) complete(n int, s *side, m *rpc.Message) {
	delete(s.open, m.Exchange)
	m.Complete, m.Captured, m.MissingAt = true, m.BodyLen, m.BodyLen
	if c.env.Detail == rpc.Values || c.env.Sampling && c.owner.Want(n, m) == rpc.Values {
		read(m)
	}
	c.owner.Message(n, m)
}

// marks are those of a message, its state.
type marks byte

func (m marks) Clone() rpc.Native { return m }

// fields adds fields of a header, which are at an offset in it.
func (s *side) fields(m *rpc.Message, text string, off int, trailer bool) {
	for field := range strings.SplitSeq(strings.TrimPrefix(text, ";"), ";") {
		name, value, _ := strings.Cut(field, "=")
		h := rpc.Header{Name: name, Value: value, Off: int32(off), Len: int32(1 + len(field)), Trailer: trailer}
		if value == "*" {
			h.Entry = 1
			h.Value, h.Unknown = s.values[name], s.values[name] == ""
		}
		s.values[name] = h.Value
		if name[0] != '.' {
			h.Key = name
		}
		h.PlainLen = int32(len(name) + len(h.Value))
		m.FieldsLen += h.Len
		m.FieldsPlainLen += h.PlainLen
		m.Headers = append(m.Headers, h)
		off += int(h.Len)
	}
}

// read makes the tree of a body, which is one text.
func read(m *rpc.Message) {
	t := &decode.Tree{WithValues: true}
	if m.Encoding != "" {
		r, err := gzip.NewReader(bytes.NewReader(m.Body))
		if err == nil {
			m.Plain, err = io.ReadAll(r)
		}
		if err != nil {
			m.Plain = nil
			t.Leaf(decode.Opaque, decode.Whole, "opaque", 0, 0, m.BodyLen)
			m.Tree, m.Decoded, m.Parts = t, "none", m.BodyParts()
			m.Err = &decode.Error{Cause: decode.Malformed, Expected: "gzip"}
			return
		}
		m.UncompressedLen = len(m.Plain)
	}
	text := string(m.Content())
	value := func(name string) {
		if text != "" {
			t.Leaf(decode.String, decode.ByField, name, 0, 0, len(text)).Text = text
		}
	}
	if m.Kind == rpc.Request {
		m.Operation.Types = []string{"java.lang.String"}
		t.Open(decode.List, decode.ByField, "args", 0, 0)
		t.Leaf(decode.String, decode.ByIndex, "", 0, 0, len(text)).Text = text
		t.Close()
	} else {
		value("result")
	}
	m.Tree, m.Decoded, m.Parts = t, "full", t.Bytes()
}

func (c *conn) Gap(n int, bytes, _ int64, _ *rpc.Chunk) {
	s := &c.sides[n]
	c.owner.Unowned(n, int64(len(s.buf)), "")
	s.buf = nil
}

// Repeat takes what was sent again of a message that is not whole.
func (c *conn) Repeat(n int, s rpc.Span, wire int64) bool {
	for _, m := range c.sides[n].open {
		for own := range m.Spans {
			if s.From >= own.From && s.From < own.To {
				m.Wire += wire
				return true
			}
		}
	}
	return false
}

func (c *conn) End(n int, _ bool) {
	s := &c.sides[n]
	c.owner.Unowned(n, int64(len(s.buf)), "")
	s.buf = nil
	for _, exchange := range sortedKeys(s.open) {
		m := s.open[exchange]
		m.Captured, m.MissingAt, m.Short = len(m.Body), len(m.Body), decode.Lost
		c.owner.Message(n, m)
	}
	clear(s.open)
}

func sortedKeys(m map[uint64]*rpc.Message) (keys []uint64) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (c *conn) Pending(n int) rpc.Pending {
	return rpc.Pending{From: c.sides[n].from, Held: len(c.sides[n].buf) > 0}
}

// decoder reads bodies again.
type decoder struct{}

func (decoder) Decode(m *rpc.Message, detail rpc.Detail) *rpc.Message {
	again := *m
	if detail == rpc.Values {
		read(&again)
	}
	return &again
}

func (d decoder) DecodeAs(m *rpc.Message, _ *decode.Format) *rpc.Message {
	return d.Decode(m, rpc.Values)
}
