// Package tls recognises encrypted connections, and reads what their handshakes say before anything is encrypted: the name of the server (SNI)
// and the protocols of the application (ALPN).
//
// Bytes of a connection come in, with gaps; all of them are counted, and a handshake goes out. A connection owns what it has of a field of the
// handshake until that is read, less than 1 KiB.
//
// Sources: RFC 8446 (TLS 1.3), RFC 5246 (TLS 1.2), RFC 6066, section 3 (SNI), RFC 7301 (ALPN), RFC 8701 (GREASE).
package tls

import (
	"encoding/binary"

	"dubbo-wire/internal/rpc"
)

// Protocol is TLS.
var Protocol = &rpc.Protocol{
	Name: "tls", Read: "recognised", RecognisedBy: "the start of a handshake, or a record at the start", Capture: "tls-go-1.26.8.pcap.zst",
	Sniff: sniff, Fallback: func(head []byte, _ bool) bool { return recordsLen(head) > 0 }, KeepHead: keepHead, New: open,
}

// Types of records.
const (
	changeCipherSpec = 20 + iota
	alert
	handshake
	applicationData
)

// A record has a header of five bytes: type, version and length. maxRecord is the maximum length of an encrypted one in TLS 1.2, leastSealed
// the minimum length: encryption adds at least a tag of 8 bytes.
const (
	recordHeaderLen = 5
	maxRecord       = 1<<14 + 2048
	leastSealed     = 8
)

// Types of handshake messages that begin a direction.
const (
	clientHello = 1
	serverHello = 2
)

// sniff recognises the first record of a direction: that of a hello, or the alert of a server that refuses one.
func sniff(head []byte) rpc.Verdict {
	if firstLen(head) > 0 {
		return rpc.Mine
	}
	return rpc.NotMine
}

// firstLen returns how many bytes of head tell that a direction of TLS starts with it, 0 if it does not.
func firstLen(head []byte) int {
	if len(head) < 3 || head[1] != 3 || head[2] > 4 {
		return 0
	}
	switch head[0] {
	case handshake:
		if len(head) < recordHeaderLen {
			return 3
		}
		switch n := binary.BigEndian.Uint16(head[3:]); {
		case n == 0 || n > maxRecord:
			return 0
		case len(head) == recordHeaderLen:
			return recordHeaderLen
		case head[recordHeaderLen] != clientHello && head[recordHeaderLen] != serverHello:
			return 0
		}
		return recordHeaderLen + 1
	case alert:
		const n = recordHeaderLen + 2
		if len(head) >= n && head[3] == 0 && head[4] == 2 && (head[5] == 1 || head[5] == 2) { // a warning, or fatal
			return n
		}
	}
	return 0
}

// recordsLen returns how many bytes of head tell that it begins with records as they are after a handshake, 0 if it does not.
func recordsLen(head []byte) int {
	at := 0
	for len(head)-at >= recordHeaderLen {
		n := int(binary.BigEndian.Uint16(head[at+3:]))
		version := binary.BigEndian.Uint16(head[at+1:])
		least := leastSealed
		switch head[at] {
		case changeCipherSpec:
			if least = 1; n != 1 {
				return 0
			}
		case alert, handshake, applicationData:
		default:
			return 0
		}
		if version < 0x0301 || version > 0x0303 || n < least || n > maxRecord {
			return 0
		}
		if at+recordHeaderLen+n > len(head)-recordHeaderLen {
			return at + recordHeaderLen
		}
		at += recordHeaderLen + n
	}
	return 0
}

// keepHead keeps the headers of records.
func keepHead(head []byte) []rpc.Span {
	n := firstLen(head)
	if n == 0 {
		n = recordsLen(head)
	} else {
		return []rpc.Span{{From: 0, To: int64(n)}}
	}
	var spans []rpc.Span
	for at := 0; at < n; at += recordHeaderLen + int(binary.BigEndian.Uint16(head[at+3:])) {
		spans = append(spans, rpc.Span{From: int64(at), To: int64(at + recordHeaderLen)})
	}
	return spans
}
