// Package thrift reads connections of Apache Thrift: those of Dubbo's own protocol, which puts a header before each message, and those
// of Thrift's servers, such as the ones of Dubbo's protocol native-thrift, with frames or without.
//
// A message is a header with a type, a method and a sequence number, and a struct: the arguments of a call, the result of a reply, or an
// exception of Thrift itself. Both are written by TBinaryProtocol, whose header may lack its version, or by TCompactProtocol; the bytes
// tell which. A frame begins with its length; without frames only the struct tells where a message ends. Structs describe themselves but
// for names: members are named "#1", "#2" by the numbers of their fields. A text and an array of bytes have one type: bytes are a text
// if they are UTF-8.
//
// Between two messages a connection holds no memory but its search after a loss, which is bounded. Sources: apache/thrift,
// doc/specs/thrift-rpc.md, thrift-binary-protocol.md, thrift-compact-protocol.md, and the Java library 0.9 to 0.22 (TBinaryProtocol,
// TCompactProtocol, TMultiplexedProcessor, TApplicationException); Dubbo 2.5 to 2.7, ThriftCodec.
package thrift

import (
	"encoding/binary"
	"math"
	"strconv"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/wire"
	"dubbo-wire/internal/rpc"
)

// Protocol is Dubbo's own thrift.
var Protocol = &rpc.Protocol{
	Name: "thrift", Read: "frames, bodies", Releases: "2.3.0 to 2.7.23", Capture: "thrift-2.7.23.pcap.zst", New: openDubbo,
	RecognisedBy: "the bytes da bc after the length",
	Sniff:        sniffDubbo, Found: foundDubbo, KeepHead: keepDubbo,
	StatusText: statusText, Header: headerFields, NewDecoder: newKeptDecoder,
}

// Native is Thrift as its own libraries speak it.
var Native = &rpc.Protocol{
	Name: "nativethrift", Read: "frames, bodies", Releases: "2.7.0 to 2.7.23, and Thrift's own servers", Capture: "native-thrift-2.7.23.pcap.zst", New: openNative,
	RecognisedBy: "the head of a message, in a frame or not",
	Sniff:        sniffNative, Found: foundNative, KeepHead: keepNative,
	StatusText: statusText, Header: headerFields, NewDecoder: newKeptDecoder,
}

// The serializations of messages. They have no number, and no other protocol uses them.
var (
	binaryFormat = decode.Format{
		Name: "thrift", Depth: decode.DepthFull, NoAttachments: true, Counts: true,
		Scrub: wire.Any(scrubCut(binaryLen), wire.Raw, wire.UTF8, wire.Fixed),
	}
	compactFormat = decode.Format{
		Name: "thrift-compact", Depth: decode.DepthFull, NoAttachments: true, Counts: true,
		Scrub: wire.Any(scrubCut(binary.Uvarint), wire.Raw, wire.UTF8, wire.Zigzag, wire.Fixed),
	}
)

// scrubCut returns a function that replaces what was captured of a text after its length, which stays: the end of a message follows from it.
// length returns the length at the start of bytes and how many bytes that is in, 0 if there is none.
func scrubCut(length func(b []byte) (n uint64, size int)) decode.ScrubFunc {
	return func(b []byte, n *decode.Node, m decode.Mapper) bool {
		if n.Kind != decode.Opaque {
			return false
		}
		of, size := length(b)
		if size <= 0 || of <= uint64(len(b)-size) || of > math.MaxInt32 {
			return false
		}
		m.Bytes(b[size:])
		return true
	}
}

func binaryLen(b []byte) (n uint64, size int) {
	if len(b) < 4 {
		return 0, 0
	}
	return uint64(binary.BigEndian.Uint32(b)), 4
}

// The types of messages, which are the statuses of responses.
const (
	typeCall = 1 + iota
	typeReply
	typeException
	typeOneWay
)

func statusText(status int) string {
	switch status {
	case typeReply:
		return "REPLY"
	case typeException:
		return "EXCEPTION"
	}
	return ""
}

// sniff recognises the first bytes of a direction by the header of a message in one of the styles.
func sniff(head []byte, styles ...style) rpc.Verdict {
	verdict := rpc.NotMine
	for _, st := range styles {
		var h header
		switch h.parse(st, head) {
		case rpc.Mine:
			return rpc.Mine
		case rpc.More:
			if h.sure {
				return rpc.Mine
			}
			verdict = rpc.More
		}
	}
	return verdict
}

func sniffDubbo(head []byte) rpc.Verdict { return sniff(head, dubboStyle) }

func sniffNative(head []byte) rpc.Verdict { return sniff(head, framedStyle, plainStyle) }

func foundDubbo(b []byte) bool { return found(b, dubboStyle) }

func foundNative(b []byte) bool { return found(b, framedStyle, plainStyle) }

// keepDubbo keeps the first bytes of a header, which has names and numbers of its own.
func keepDubbo(head []byte) []rpc.Span { return keepHead(head, dubboStyle) }

// keepNative keeps the header of the first message, but for its arguments.
func keepNative(head []byte) []rpc.Span { return keepHead(head, framedStyle, plainStyle) }

func keepHead(head []byte, styles ...style) []rpc.Span {
	for _, st := range styles {
		var h header
		if v := h.parse(st, head); v == rpc.Mine {
			return []rpc.Span{{From: 0, To: int64(h.headLen + h.structAt)}}
		} else if v == rpc.More && h.sure {
			return []rpc.Span{{From: 0, To: int64(len(head))}}
		}
	}
	return nil
}

// headerFields describes the bytes before a message.
func headerFields(list []rpc.HeaderField, m *rpc.Message, _ bool) []rpc.HeaderField {
	if len(m.Head) == 0 {
		return list
	}
	number := func(n int) string { return strconv.Itoa(n) }
	length := rpc.HeaderField{Name: "frameLength", Value: number(int(binary.BigEndian.Uint32(m.Head))), Len: 4}
	var h header
	if len(m.Head) == 4 || !h.parseDubbo(m.Head) {
		return append(list, length)
	}
	list = append(list,
		length,
		rpc.HeaderField{Name: "magic", Value: "Dubbo's thrift", Off: 4, Len: 2},
		rpc.HeaderField{Name: "messageLength", Value: number(int(binary.BigEndian.Uint32(m.Head[6:]))), Off: 6, Len: 4},
		rpc.HeaderField{Name: "headerLength", Value: number(int(binary.BigEndian.Uint16(m.Head[10:]))), Off: 10, Len: 2},
		rpc.HeaderField{Name: "version", Value: number(int(m.Head[12])), Off: 12, Len: 1},
		rpc.HeaderField{Name: "service", Value: decode.UTF8(m.Head[h.service.from:h.service.to]), Off: h.service.from - 4, Len: h.service.to - h.service.from + 4},
	)
	if h.path.to > 0 {
		list = append(list, rpc.HeaderField{
			Name: "path", Value: decode.UTF8(m.Head[h.path.from:h.path.to]), Off: h.path.from - 4, Len: h.path.to - h.path.from + 4,
		})
	}
	return append(list, rpc.HeaderField{Name: "id", Value: strconv.FormatInt(h.id, 10), Off: len(m.Head) - 8, Len: 8})
}
