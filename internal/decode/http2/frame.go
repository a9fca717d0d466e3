package http2

import (
	"encoding/binary"

	"golang.org/x/net/http2"
)

// frameHeaderLen is the number of bytes of a frame's header, prefixLen of a gRPC message's prefix.
const (
	frameHeaderLen = 9
	prefixLen      = 5
)

// The types of frames (RFC 9113, section 6).
const (
	typeData         = uint8(http2.FrameData)
	typeHeaders      = uint8(http2.FrameHeaders)
	typePriority     = uint8(http2.FramePriority)
	typeReset        = uint8(http2.FrameRSTStream)
	typeSettings     = uint8(http2.FrameSettings)
	typePromise      = uint8(http2.FramePushPromise)
	typePing         = uint8(http2.FramePing)
	typeGoAway       = uint8(http2.FrameGoAway)
	typeWindowUpdate = uint8(http2.FrameWindowUpdate)
	typeContinuation = uint8(http2.FrameContinuation)
)

// The flags of frames.
const (
	flagEndStream  = uint8(http2.FlagDataEndStream)
	flagAck        = uint8(http2.FlagSettingsAck)
	flagEndHeaders = uint8(http2.FlagHeadersEndHeaders)
	flagPadded     = uint8(http2.FlagDataPadded)
	flagPriority   = uint8(http2.FlagHeadersPriority)
)

// typeNames are the names of the types, also in the names of bytes that belong to no message.
var typeNames = [...]string{
	"DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE", "CONTINUATION",
}

// unowned are the names of frames that belong to no message, by type.
var unowned = [...]string{
	typeData: "http2 closed streams", typeHeaders: "http2 closed streams", typePriority: "http2 PRIORITY", typeReset: "http2 RST_STREAM",
	typeSettings: "http2 SETTINGS", typePromise: "http2 PUSH_PROMISE", typePing: "http2 PING", typeGoAway: "http2 GOAWAY",
	typeWindowUpdate: "http2 WINDOW_UPDATE", typeContinuation: "http2 CONTINUATION",
}

const (
	unownedPreface = "http2 preface"
	unownedUpgrade = "http2 upgrade"
	unownedOther   = "http2 unknown frames"
)

// frameHeader is the header of a frame.
type frameHeader struct {
	length   int // bytes of the payload
	kind     uint8
	flags    uint8
	reserved bool // the reserved bit is set
	stream   uint32
}

// parseFrameHeader reads the header at the start of b.
func parseFrameHeader(b []byte) frameHeader {
	id := binary.BigEndian.Uint32(b[5:])
	return frameHeader{
		length: int(b[0])<<16 | int(b[1])<<8 | int(b[2]), kind: b[3], flags: b[4], reserved: id>>31 != 0, stream: id &^ (1 << 31),
	}
}

// has reports whether a flag is set.
func (h *frameHeader) has(flag uint8) bool { return h.flags&flag != 0 }

// padded reports whether the payload starts with the length of its padding.
func (h *frameHeader) padded() bool {
	return h.has(flagPadded) && (h.kind == typeData || h.kind == typeHeaders || h.kind == typePromise)
}

// valid reports whether RFC 9113 allows the header, except the limit on lengths, which the receiver sets.
func (h *frameHeader) valid() bool {
	switch h.kind {
	case typeData, typeHeaders, typeContinuation:
		return h.stream != 0 && !(h.padded() && h.length == 0)
	case typePromise:
		return h.stream != 0 && h.length >= 4
	case typePriority:
		return h.stream != 0 && h.length == 5
	case typeReset:
		return h.stream != 0 && h.length == 4
	case typeSettings:
		return h.stream == 0 && h.length%6 == 0 && !(h.has(flagAck) && h.length > 0)
	case typePing:
		return h.stream == 0 && h.length == 8
	case typeGoAway:
		return h.stream == 0 && h.length >= 8
	case typeWindowUpdate:
		return h.length == 4
	}
	return true
}

// name returns the name for the bytes of a frame that belongs to no message.
func (h *frameHeader) name() string {
	if int(h.kind) < len(unowned) {
		return unowned[h.kind]
	}
	return unownedOther
}
