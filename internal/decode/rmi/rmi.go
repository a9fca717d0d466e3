// Package rmi recognises connections of Java's remote method invocation, which Dubbo's rmi protocol uses: those of the registry, and those of
// the objects, which have ports of their own.
//
// The first bytes of a direction come in; a verdict goes out. The connections are named and their bytes counted. The package keeps no memory.
// Source: the Java Remote Method Invocation Specification, chapter 10 (wire protocol); TransportConstants and StreamRemoteCall of the JDK.
package rmi

import (
	"bytes"
	"encoding/binary"

	"dubbo-wire/internal/rpc"
)

// Protocol is RMI.
var Protocol = &rpc.Protocol{
	Name: "rmi", Read: "recognised", RecognisedBy: "the header of a connection; a call or a result at its start",
	Releases: "all up to 2.7.23", Capture: "rmi-2.7.23.pcap.zst",
	Sniff: sniff, Fallback: func(head []byte, _ bool) bool { return messageLen(head) > 0 }, KeepHead: keepHead,
}

// Bytes that begin messages.
const (
	call        = 0x50
	returnData  = 0x51
	ping        = 0x52
	pingAck     = 0x53
	dgcAck      = 0x54
	protocolAck = 0x4e
)

// A client begins with the magic, version 2 and one of three protocols. A server answers with a byte, the host and the port of the client as it
// sees them.
const (
	magic    = "JRMI\x00\x02"
	firstOf3 = 0x4b // StreamProtocol; SingleOpProtocol and MultiplexProtocol follow
	lastOf3  = 0x4d
	uidLen   = 14
	portLen  = 4
)

// Calls and results are serialized objects, which begin with a block of data: that of a call has the number of an object (22 bytes), an operation
// and a hash, that of a result its kind and a unique number.
const (
	callData   = "\xac\xed\x00\x05\x77\x22"
	resultData = "\xac\xed\x00\x05\x77\x0f"
)

// sniff recognises the start of a connection.
func sniff(head []byte) rpc.Verdict {
	if clientLen(head) > 0 || serverLen(head) > 0 {
		return rpc.Mine
	}
	return rpc.NotMine
}

// clientLen returns the length of the header that a client sends, 0 if head does not begin with it.
func clientLen(head []byte) int {
	n := len(magic) + 1
	if len(head) < n || !bytes.HasPrefix(head, []byte(magic)) || head[n-1] < firstOf3 || head[n-1] > lastOf3 {
		return 0
	}
	return n
}

// serverLen returns the length of the answer of a server, 0 if head does not begin with it. Of a long one the bytes of head are enough.
func serverLen(head []byte) int {
	const before = 3
	if len(head) < before || head[0] != protocolAck {
		return 0
	}
	host := int(binary.BigEndian.Uint16(head[1:]))
	rest := head[before:]
	if host == 0 || host > maxHost || bytes.ContainsFunc(rest[:min(host, len(rest))], func(c rune) bool { return c <= ' ' || c > '~' }) {
		return 0
	}
	end := before + host + portLen
	switch {
	case len(head) < end:
		if len(head) < rpc.HeadLen {
			return 0
		}
		return len(head)
	case head[end-portLen] != 0 || head[end-portLen+1] != 0: // no port
		return 0
	case len(head) > end && head[end] != returnData && head[end] != pingAck:
		return 0
	}
	return end
}

// maxHost is the maximum length of the name of a host in bytes.
const maxHost = 255

// messageLen returns the length of what head shows to be of RMI, 0 if nothing does: a call or a result, perhaps after messages of few bytes.
func messageLen(head []byte) int {
	at := 0
	for at < len(head) {
		switch head[at] {
		case ping, pingAck:
			at++
			continue
		case dgcAck:
			at += 1 + uidLen
			continue
		}
		break
	}
	if at >= len(head) {
		return 0
	}
	end := at + 1 + len(callData)
	rest := head[at+1:]
	switch head[at] {
	case call:
		if bytes.HasPrefix(rest, []byte(callData)) {
			return end
		}
	case returnData:
		const value, exception = 1, 2
		if bytes.HasPrefix(rest, []byte(resultData)) && len(head) > end && (head[end] == value || head[end] == exception) {
			return end + 1
		}
	}
	return 0
}

// keepHead keeps what tells that a direction is of RMI, without the host and unique numbers.
func keepHead(head []byte) []rpc.Span {
	if n := clientLen(head); n > 0 {
		return []rpc.Span{{From: 0, To: int64(n)}}
	}
	if n := serverLen(head); n > 0 {
		host := int64(binary.BigEndian.Uint16(head[1:]))
		spans := []rpc.Span{{From: 0, To: 3}}
		if from := 3 + host; from < int64(n) {
			spans = append(spans, rpc.Span{From: from, To: int64(min(n+1, len(head)))})
		}
		return spans
	}
	n := messageLen(head)
	if n == 0 {
		return nil
	}
	var spans []rpc.Span
	at := 0
	for head[at] != call && head[at] != returnData {
		spans = append(spans, rpc.Span{From: int64(at), To: int64(at + 1)})
		if head[at] == dgcAck {
			at += uidLen
		}
		at++
	}
	return append(spans, rpc.Span{From: int64(at), To: int64(n)})
}
