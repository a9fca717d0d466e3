// Package dubbo reads Dubbo's own protocol ("dubbo://"): it splits the byte stream of each direction of a connection into
// frames, finds the next frame after stray bytes or a gap, and reads the fields of a body in Dubbo's order through the
// serialization of the frame.
//
// Source: Apache Dubbo, ExchangeCodec, DubboCodec, DecodeableRpcInvocation and DecodeableRpcResult of the releases
// 2.0.7 to 3.3; the header did not change between them.
//
// Memory: a frame that lies inside one delivery of the stream is never copied; one that crosses deliveries is copied
// once, as far as its reader wants it, into a buffer that grows as bytes arrive.
package dubbo

import "encoding/binary"

// HeaderLen is the length of a frame's header in bytes.
const HeaderLen = 16

// The bits of the header's third byte.
const (
	flagRequest = 0x80
	flagTwoWay  = 0x40
	flagEvent   = 0x20
	maskID      = 0x1f
)

// Header is the header of a frame:
//
//	0  magic da bb · 2 flags · 3 status · 4 request id (8) · 12 body length (4), big-endian
type Header struct {
	Flags   byte
	Status  byte  // of a response; 0 in requests
	ID      int64 // request id; a response repeats that of its request
	BodyLen int   // bytes of the body, the header not counted
}

// Request reports whether the frame is a request (or an event sent as one).
func (h *Header) Request() bool { return h.Flags&flagRequest != 0 }

// TwoWay reports whether a request expects a response.
func (h *Header) TwoWay() bool { return h.Flags&flagTwoWay != 0 && h.Request() }

// Event reports whether the frame is a heartbeat, a read-only event or the answer to one.
func (h *Header) Event() bool { return h.Flags&flagEvent != 0 }

// SerializationID is the id of the body's serialization, 0 to 31.
func (h *Header) SerializationID() uint8 { return h.Flags & maskID }

// FrameLen is the length of header and body in bytes.
func (h *Header) FrameLen() int { return HeaderLen + h.BodyLen }

// isMagic reports whether b starts with the magic or, if it is shorter, with a part of it.
func isMagic(b []byte) bool {
	return len(b) == 0 || b[0] == 0xda && (len(b) == 1 || b[1] == 0xbb)
}

// parseHeader reads the header at the start of b, which has at least HeaderLen bytes and begins with the magic.
// BodyLen may be negative.
func parseHeader(b []byte) Header {
	_ = b[HeaderLen-1]
	return Header{
		Flags:   b[2],
		Status:  b[3],
		ID:      int64(binary.BigEndian.Uint64(b[4:12])),
		BodyLen: int(int32(binary.BigEndian.Uint32(b[12:16]))),
	}
}

// StatusOK is the status of a response with a result.
const StatusOK = 20

// statusBadResponse is the status of a response that replaces one that could not be written.
const statusBadResponse = 50

// statusThreadPoolExhausted is the status of a response from a provider that had no thread for the request.
const statusThreadPoolExhausted = 100

// StatusText returns the name of a status, "" if Dubbo does not have it.
func StatusText(status byte) string {
	switch status {
	case 20:
		return "OK"
	case 25:
		return "SERIALIZATION_ERROR"
	case 30:
		return "CLIENT_TIMEOUT"
	case 31:
		return "SERVER_TIMEOUT"
	case 35:
		return "CHANNEL_INACTIVE"
	case 40:
		return "BAD_REQUEST"
	case 50:
		return "BAD_RESPONSE"
	case 60:
		return "SERVICE_NOT_FOUND"
	case 70:
		return "SERVICE_ERROR"
	case 80:
		return "SERVER_ERROR"
	case 90:
		return "CLIENT_ERROR"
	case 100:
		return "SERVER_THREADPOOL_EXHAUSTED_ERROR"
	}
	return ""
}
