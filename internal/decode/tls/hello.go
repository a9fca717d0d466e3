package tls

import (
	"encoding/binary"
	"strings"

	"dubbo-wire/internal/rpc"
)

// hello reads the ClientHello or the ServerHello that a direction begins with, as its bytes come. It holds only fields that are needed.
type hello struct {
	step step
	kind uint8 // of the message
	buf  []byte
	want int32 // bytes that the step needs
	skip int32 // bytes to skip before it
	left int32 // bytes of the message that follow
}

// step is the field that is read next.
type step uint8

const (
	atMessage step = iota // type and length
	atSession
	atCiphers
	atCompression
	atExtensions
	atExtension
	atServerName
	atALPN
)

// Types of extensions.
const (
	serverName = 0
	alpn       = 16
)

// Lengths in bytes. A longer list of protocols is not read.
const (
	messageHeaderLen = 4
	fixedLen         = 2 + 32 // version and random number
	maxExtension     = 512
)

// read reads the next bytes of a message. It returns false after the last one that matters.
func (h *hello) read(b []byte, c *conn) bool {
	for len(b) > 0 {
		if h.step == atMessage && h.want == 0 {
			h.want, h.left = messageHeaderLen, messageHeaderLen
		}
		if h.skip > 0 {
			n := min(h.skip, int32(len(b)))
			h.skip -= n
			b = b[n:]
			continue
		}
		n := min(int(h.want)-len(h.buf), len(b))
		h.buf = append(h.buf, b[:n]...)
		b = b[n:]
		if len(h.buf) < int(h.want) {
			return true
		}
		field := h.buf
		h.buf = h.buf[:0]
		if h.left -= h.want; !h.field(field, c) || h.left < h.skip+h.want {
			return false
		}
		h.left -= h.skip
	}
	return true
}

// field takes a field that is there. It returns false after the last one that matters.
func (h *hello) field(b []byte, c *conn) bool {
	next := func(s step, skip, want int) bool {
		h.step, h.skip, h.want = s, int32(skip), int32(want)
		return true
	}
	switch h.step {
	case atMessage:
		h.kind = b[0]
		h.left = int32(b[1])<<16 | int32(b[2])<<8 | int32(b[3])
		if h.kind == clientHello {
			c.known()
		}
		return (h.kind == clientHello || h.kind == serverHello) && next(atSession, fixedLen, 1)
	case atSession:
		if h.kind == serverHello { // a cipher suite and a compression
			return next(atExtensions, int(b[0])+3, 2)
		}
		return next(atCiphers, int(b[0]), 2)
	case atCiphers:
		return next(atCompression, int(binary.BigEndian.Uint16(b)), 1)
	case atCompression:
		return next(atExtensions, int(b[0]), 2)
	case atExtensions:
		return next(atExtension, 0, messageHeaderLen)
	case atExtension:
		n := int(binary.BigEndian.Uint16(b[2:]))
		switch kind := binary.BigEndian.Uint16(b); {
		case kind == serverName && h.kind == clientHello && n > 0 && n <= maxExtension:
			return next(atServerName, 0, n)
		case kind == alpn && n > 0 && n <= maxExtension:
			return next(atALPN, 0, n)
		}
		return next(atExtension, n, messageHeaderLen)
	case atServerName:
		if name := hostName(b); name != "" {
			c.known().ServerName = name
		}
	case atALPN:
		switch names := protocols(b); {
		case names == "":
		case h.kind == clientHello:
			c.known().Offered = names
		case !strings.Contains(names, ","):
			c.known().ALPN = names
		}
	}
	return next(atExtension, 0, messageHeaderLen)
}

// known returns the facts, to add to them.
func (c *conn) known() *rpc.Handshake {
	if c.facts == nil {
		c.facts = new(rpc.Handshake)
	}
	return c.facts
}

// hostName returns the name of a host in a list of names, "" if it has none (RFC 6066, section 3).
func hostName(list []byte) string {
	const before = 5 // the length of the list, a type and the length of a name
	if len(list) < before || list[2] != 0 {
		return ""
	}
	name := list[before:]
	n := int(binary.BigEndian.Uint16(list[3:]))
	if n == 0 || n > len(name) || n > maxHostName {
		return ""
	}
	for _, c := range name[:n] {
		if !isAlphanumeric(c) && c != '.' && c != '-' && c != '_' {
			return ""
		}
	}
	return strings.ToLower(string(name[:n]))
}

// maxHostName is the maximum length of the name of a host in DNS.
const maxHostName = 253

func isAlphanumeric(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }

// Bounds of the names of protocols that are reported.
const (
	maxProtocols    = 8
	maxProtocolName = 32
)

// protocols returns the names in a list of protocols, joined by commas. Those of other characters are left out, as are those that clients send
// to see that servers ignore them.
func protocols(list []byte) string {
	var names []string
	if len(list) < 2 {
		return ""
	}
	for list = list[2:]; len(list) > 0 && len(names) < maxProtocols; {
		n := int(list[0])
		if n == 0 || n >= len(list) {
			break
		}
		if name := list[1 : 1+n]; isProtocolName(name) {
			names = append(names, string(name))
		}
		list = list[1+n:]
	}
	return strings.Join(names, ",")
}

func isProtocolName(name []byte) bool {
	for _, c := range name {
		if !isAlphanumeric(c) && !strings.ContainsRune("-._/+", rune(c)) {
			return false
		}
	}
	return len(name) <= maxProtocolName
}
