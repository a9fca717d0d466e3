package thrift

import (
	"hash/maphash"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// lane is shared by the connections of a lane.
type lane struct {
	self    *rpc.Protocol
	env     *rpc.Env
	bodies  decoder
	targets targets
	message rpc.Message // the message that is passed on
	held    int         // bytes of the buffers of all connections
	free    [][]byte
}

// Limits of the buffers that are kept for other messages: 12 of 64 KiB.
const maxFree, maxKept = 12, 64 << 10

func openDubbo(self *rpc.Protocol, env *rpc.Env) rpc.Opener { return open(self, env, dubboStyle) }

func openNative(self *rpc.Protocol, env *rpc.Env) rpc.Opener { return open(self, env, anyStyle) }

func open(self *rpc.Protocol, env *rpc.Env, st style) rpc.Opener {
	l := &lane{self: self, env: env, targets: newTargets()}
	return func(owner rpc.Owner, joined bool) rpc.Conn {
		c := &conn{lane: l, owner: owner, client: -1, style: st, styleSure: st == dubboStyle}
		for i := range c.sides {
			s := &c.sides[i]
			s.conn, s.number = c, i
			if joined {
				s.state = searching
			}
		}
		owner.Claim(self.Name) // until there is a message
		return c
	}
}

// conn is one connection.
type conn struct {
	*lane
	owner rpc.Owner
	sides [2]side
	// style is that of both sides, anyStyle before the first message. It is sure if a connection or two messages in a row began with it.
	style     style
	styleSure bool
	// client is the side that calls, -1 if no message has told.
	client int
}

// Data implements [rpc.Conn].
func (c *conn) Data(side int, b []byte, chunk *rpc.Chunk) { c.sides[side].data(b, chunk) }

// Gap implements [rpc.Conn].
func (c *conn) Gap(side int, n, wire int64, chunk *rpc.Chunk) { c.sides[side].gap(n, wire, chunk) }

// Repeat implements [rpc.Conn]: retransmitted bytes belong to the message that is being read.
func (c *conn) Repeat(side int, _ rpc.Span, wire int64) bool {
	s := &c.sides[side]
	if s.state == inBody || s.state == atHeader && len(s.buf) > 0 {
		s.wire += wire
		return true
	}
	return false
}

// End implements [rpc.Conn].
func (c *conn) End(side int, _ bool) { c.sides[side].end() }

// Pending implements [rpc.Conn].
func (c *conn) Pending(side int) rpc.Pending {
	s := &c.sides[side]
	switch {
	case s.state == searching && s.search != nil:
		return rpc.Pending{From: s.search.from, Held: true, Searching: true}
	case s.state == inBody, s.state == atHeader && len(s.buf) > 0:
		return rpc.Pending{From: s.start, Held: true}
	}
	return rpc.Pending{}
}

// targets are what calls name. Equal ones are shared.
type targets struct {
	seed  maphash.Seed
	known map[string]*rpc.Operation
	bytes int
	key   []byte
}

// maxTargets limits the memory of shared operations, in bytes.
const maxTargets = 8 << 20

func newTargets() targets {
	return targets{seed: maphash.MakeSeed(), known: make(map[string]*rpc.Operation)}
}

// of returns the operation of a method.
func (t *targets) of(service, method []byte) *rpc.Operation {
	t.key = append(append(append(t.key[:0], service...), 0), method...)
	if op := t.known[string(t.key)]; op != nil {
		return op
	}
	op := &rpc.Operation{Service: unknown, Method: decode.UTF8(method)}
	if len(service) > 0 {
		op.Service = decode.UTF8(service)
	}
	if n := 2*len(t.key) + 512; t.bytes+n <= maxTargets {
		op.Hash = uint32(maphash.Bytes(t.seed, t.key)) | 1
		t.known[string(t.key)] = op
		t.bytes += n
	}
	return op
}

// unknown stands for the service of a message that names none.
const unknown = "?"

// describe sets what the header of a message tells. b is what was kept of the message, with the header of its frame.
func (l *lane) describe(m *rpc.Message, h *header, b []byte) {
	m.Protocol, m.SerializationID, m.ResultKind, m.Ends = l.self, rpc.NoSerialization, -1, true
	m.Format = &binaryFormat
	if h.enc == compact {
		m.Format = &compactFormat
	}
	m.Serialization = m.Format.Name
	m.Status, m.Exchange = rpc.NoStatus, uint64(int64(h.seq))
	if h.style == dubboStyle {
		m.Exchange = uint64(h.id)
	}
	switch h.kind {
	case typeCall, typeOneWay:
		m.Kind, m.Request, m.TwoWay = rpc.Request, true, h.kind == typeCall
		service := b[h.multiplexed.from:h.multiplexed.to]
		if h.style == dubboStyle {
			service = b[h.service.from:h.service.to]
		}
		m.Operation = l.targets.of(service, b[h.method.from:h.method.to])
	default:
		m.Kind, m.Status, m.Failed = rpc.Response, int32(h.kind), h.kind == typeException
		if h.kind == typeReply {
			id := int16(0)
			if m.ResultKind, id = outcome(b[h.headLen+h.structAt:], h.enc); m.ResultKind == 0 {
				m.Exception, m.ExceptionClass = true, fieldName(id)
			}
		}
	}
}

// keptDecoder decodes the bodies of kept messages.
type keptDecoder struct {
	lane
	both []byte
}

func newKeptDecoder([]decode.Format) rpc.Decoder {
	return &keptDecoder{lane: lane{targets: newTargets()}}
}

// Decode implements [rpc.Decoder].
func (d *keptDecoder) Decode(m *rpc.Message, detail rpc.Detail) *rpc.Message {
	d.message = *m
	out := &d.message
	st := plainStyle
	switch {
	case len(m.Head) > 4:
		st = dubboStyle
	case len(m.Head) == 4:
		st = framedStyle
	}
	d.both = append(append(d.both[:0], m.Head...), m.Body...)
	var h header
	if h.parse(st, d.both) != rpc.Mine { // the copy of a message whose start is not known
		out.Tree, out.Decoded = nil, ""
		return out
	}
	d.self = m.Protocol
	out.Details = rpc.Details{}
	d.describe(out, &h, d.both)
	d.bodies.decode(out, &h, detail)
	return out
}

// DecodeAs implements [rpc.Decoder]. The bytes of a message tell its serialization.
func (d *keptDecoder) DecodeAs(m *rpc.Message, _ *decode.Format) *rpc.Message {
	return d.Decode(m, rpc.Values)
}
