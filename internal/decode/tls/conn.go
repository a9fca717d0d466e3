package tls

import (
	"encoding/binary"

	"dubbo-wire/internal/rpc"
)

func open(self *rpc.Protocol, _ *rpc.Env) rpc.Opener {
	return func(owner rpc.Owner, joined bool) rpc.Conn {
		owner.Claim(self.Name)
		c := &conn{owner: owner}
		for i := range c.sides {
			if c.sides[i].need = recordHeaderLen; joined {
				c.sides[i].done = true
			}
		}
		return c
	}
}

// conn is a connection. Very many may be open at a time.
type conn struct {
	owner rpc.Owner
	sides [2]side
	facts *rpc.Handshake // nil until a hello tells something, and after it was passed on
}

// side is one direction of a connection.
type side struct {
	done bool // the hello was read, or cannot be read
	// head has the bytes of the header of a record that crosses deliveries, need is how many are missing.
	head   [recordHeaderLen]byte
	need   int8
	record int32 // bytes of the record that follow
	hello
}

// Data implements [rpc.Conn].
func (c *conn) Data(side int, b []byte, _ *rpc.Chunk) {
	c.owner.Unowned(side, int64(len(b)), "")
	s := &c.sides[side]
	for !s.done && len(b) > 0 {
		if s.record > 0 {
			n := min(int(s.record), len(b))
			s.record -= int32(n)
			if !s.read(b[:n], c) {
				c.endHello(side)
			}
			b = b[n:]
			continue
		}
		n := copy(s.head[recordHeaderLen-s.need:], b)
		b = b[n:]
		if s.need -= int8(n); s.need > 0 {
			return
		}
		s.need = recordHeaderLen
		length := binary.BigEndian.Uint16(s.head[3:])
		if s.head[0] != handshake || length == 0 || length > maxRecord {
			c.endHello(side)
			return
		}
		s.record = int32(length)
	}
}

// endHello is called when the hello of a side was read, or cannot be read. It passes on what is known of both.
func (c *conn) endHello(side int) {
	s := &c.sides[side]
	s.done, s.buf = true, nil
	if c.sides[1-side].done && c.facts != nil {
		c.owner.Handshake(*c.facts)
		c.facts = nil
	}
}

// Gap implements [rpc.Conn].
func (c *conn) Gap(side int, _, _ int64, _ *rpc.Chunk) { c.endHello(side) }

// Repeat implements [rpc.Conn].
func (c *conn) Repeat(int, rpc.Span, int64) bool { return false }

// End implements [rpc.Conn].
func (c *conn) End(side int, _ bool) { c.endHello(side) }

// Pending implements [rpc.Conn].
func (c *conn) Pending(int) rpc.Pending { return rpc.Pending{} }
