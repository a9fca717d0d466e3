package thrift

import (
	"bytes"
	"encoding/binary"

	"dubbo-wire/internal/rpc"
)

// style says what surrounds messages.
type style uint8

const (
	anyStyle    style = iota // not known yet
	dubboStyle               // Dubbo's header, after the length of a frame
	framedStyle              // the length of a frame
	plainStyle               // nothing
)

// encoding is how a message is written.
type encoding uint8

const (
	strict  encoding = iota // TBinaryProtocol with its version
	loose                   // TBinaryProtocol without
	compact                 // TCompactProtocol
)

// span is bytes of a header.
type span struct{ from, to int }

// header is what stands before the struct of a message: the header of its frame and its own. Spans are offsets from the first byte of
// the frame.
type header struct {
	style style
	// headLen is the length of what stands before the message, bodyLen that of the message, -1 if only its struct tells.
	headLen, bodyLen int
	// service and path are those of Dubbo's header, which may lack the path; id is its request id.
	service, path span
	id            int64

	enc  encoding
	kind byte // type of the message
	seq  int32
	// multiplexed is the service in the name of a multiplexed call, empty if there is none; method is the rest of the name.
	multiplexed, method span
	// structAt is the offset of the struct in the message.
	structAt int
	// sure is set if the bytes are a header as far as they go, although it has more.
	sure bool
}

// Bounds of a header found in the stream, in bytes.
const (
	maxName    = 1 << 10
	maxFrame   = 1 << 30
	leastFrame = 6        // of TCompactProtocol: type, number, a name of one letter, the end of the struct
	maxHeader  = 70 << 10 // Dubbo's has a length of 16 bits
)

// parse reads a header at the start of b. It returns More if b is too short for it, but may be one.
func (h *header) parse(st style, b []byte) rpc.Verdict {
	*h = header{style: st, bodyLen: -1}
	switch st {
	case dubboStyle:
		return h.parseDubboFrame(b)
	case framedStyle:
		if len(b) < 4 {
			return rpc.More
		}
		n := binary.BigEndian.Uint32(b)
		if n < leastFrame || n > maxFrame {
			return rpc.NotMine
		}
		h.headLen, h.bodyLen = 4, int(n)
	}
	v := h.parseMessage(b[h.headLen:])
	if v == rpc.Mine && h.bodyLen >= 0 && h.structAt >= h.bodyLen {
		return rpc.NotMine
	}
	return v
}

var magic = []byte{0xda, 0xbc}

// parseDubboFrame reads Dubbo's header and that of the message after it.
func (h *header) parseDubboFrame(b []byte) rpc.Verdict {
	if len(b) < 6 {
		if len(b) > 4 && b[4] != magic[0] {
			return rpc.NotMine
		}
		return rpc.More
	}
	if !bytes.Equal(b[4:6], magic) {
		return rpc.NotMine
	}
	h.sure = true
	if len(b) < 13 {
		return rpc.More
	}
	n, length := binary.BigEndian.Uint32(b), int(binary.BigEndian.Uint16(b[10:]))
	if n > maxFrame || n != binary.BigEndian.Uint32(b[6:]) || b[12] != 1 || length < 9+4+1+8 || length+leastFrame > int(n) {
		return rpc.NotMine
	}
	if len(b) < 4+length {
		return rpc.More
	}
	if !h.parseDubbo(b[:4+length]) {
		return rpc.NotMine
	}
	h.headLen, h.bodyLen = 4+length, int(n)-length
	v := h.parseMessage(b[h.headLen:])
	if v == rpc.Mine && (h.structAt >= h.bodyLen || h.enc != strict) {
		return rpc.NotMine
	}
	h.sure = v != rpc.NotMine
	return v
}

// parseDubbo reads the names and the number in b, a whole header of Dubbo's with the length of its frame, and reports whether they fill
// it. Requests of 2.7.1 and later have a path.
func (h *header) parseDubbo(b []byte) bool {
	const names = 13
	name := func(at int) (s span, ok bool) {
		if at+4 > len(b)-8 {
			return s, false
		}
		n := binary.BigEndian.Uint32(b[at:])
		if n > uint32(len(b)-8-at-4) {
			return s, false
		}
		s = span{at + 4, at + 4 + int(n)}
		return s, isName(b[s.from:s.to], true)
	}
	if len(b) < names+4+8 {
		return false
	}
	var ok bool
	if h.service, ok = name(names); !ok || h.service.to == h.service.from {
		return false
	}
	end := h.service.to
	if end < len(b)-8 {
		if h.path, ok = name(end); !ok {
			return false
		}
		end = h.path.to
	}
	h.id = int64(binary.BigEndian.Uint64(b[len(b)-8:]))
	return end == len(b)-8
}

// parseMessage reads the header of a message at the start of b.
func (h *header) parseMessage(b []byte) rpc.Verdict {
	if len(b) == 0 {
		return rpc.More
	}
	switch b[0] {
	case 0x80:
		h.enc = strict
		return h.parseStrict(b)
	case 0x82:
		h.enc = compact
		return h.parseCompact(b)
	case 0:
		h.enc = loose
		return h.parseLoose(b)
	}
	return rpc.NotMine
}

func (h *header) parseStrict(b []byte) rpc.Verdict {
	if !bytes.HasPrefix([]byte{0x80, 1, 0}, b[:min(3, len(b))]) || len(b) > 3 && !h.setKind(b[3]) {
		return rpc.NotMine
	}
	if len(b) < 8 {
		return rpc.More
	}
	v := h.parseName(b, 8, uint64(binary.BigEndian.Uint32(b[4:])), 4)
	if v == rpc.Mine {
		h.seq = int32(binary.BigEndian.Uint32(b[h.structAt:]))
		h.structAt += 4
	}
	return v
}

// enoughLetters is how many letters of a name make up for a type that is not there yet, where only a length precedes the name.
const enoughLetters = 16

func (h *header) parseLoose(b []byte) rpc.Verdict {
	if len(b) < 4 {
		return rpc.More
	}
	n := binary.BigEndian.Uint32(b)
	v := h.parseName(b, 4, uint64(n), 1+4)
	if after := 4 + int(min(n, maxName)); v != rpc.NotMine && len(b) > after && !h.setKind(b[after]) {
		return rpc.NotMine
	}
	h.sure = h.sure && len(b) >= 4+enoughLetters
	if v == rpc.Mine {
		h.seq = int32(binary.BigEndian.Uint32(b[h.structAt+1:]))
		h.structAt += 5
	}
	return v
}

func (h *header) parseCompact(b []byte) rpc.Verdict {
	if len(b) < 2 {
		return rpc.More
	}
	if b[1]&0x1f != 1 || !h.setKind(b[1]>>5) {
		return rpc.NotMine
	}
	at := 2
	var numbers [2]uint64
	for i := range numbers {
		v, n := binary.Uvarint(b[at:min(len(b), at+5)])
		if n <= 0 || v > 1<<32-1 {
			if len(b) < at+5 && n == 0 {
				return rpc.More
			}
			return rpc.NotMine
		}
		numbers[i] = v
		at += n
	}
	h.seq = int32(uint32(numbers[0]))
	return h.parseName(b, at, numbers[1], 0)
}

func (h *header) setKind(kind byte) bool {
	h.kind = kind
	return kind >= typeCall && kind <= typeOneWay
}

// parseName reads a name of n bytes at an offset of the message, which is followed by so many bytes of the header. It sets structAt to
// the offset after the name.
func (h *header) parseName(b []byte, at int, n uint64, after int) rpc.Verdict {
	if n == 0 || n > maxName {
		return rpc.NotMine
	}
	name := b[at:min(len(b), at+int(n))]
	service := bytes.IndexByte(name, ':')
	if service >= 0 {
		if !isPath(name[:service]) {
			return rpc.NotMine
		}
		h.multiplexed = span{h.headLen + at, h.headLen + at + service}
		name = name[service+1:]
		at, n = at+service+1, n-uint64(service+1)
	}
	whole := len(name) == int(n)
	if !isName(name, !whole) || whole && n == 0 {
		return rpc.NotMine
	}
	h.sure = len(name) > 0
	h.method = span{h.headLen + at, h.headLen + at + int(n)}
	h.structAt = at + int(n)
	if len(b) < h.structAt+after {
		return rpc.More
	}
	return rpc.Mine
}

// isPath reports whether b is the whole name of a service.
func isPath(b []byte) bool {
	for _, separator := range []string{"..", "//", "./", "/."} {
		if bytes.Contains(b, []byte(separator)) {
			return false
		}
	}
	end := len(b) - 1
	return end >= 0 && isName(b, true) && b[0] != '.' && b[0] != '/' && b[end] != '.' && b[end] != '/'
}

// isName reports whether b is a name of a method, or, if service is set, may be that of a service, which has packages or a path.
func isName(b []byte, service bool) bool {
	for _, c := range b {
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9', c == '_', c == '$', c == '-':
		case service && (c == '.' || c == '/'):
		default:
			return false
		}
	}
	return true
}
