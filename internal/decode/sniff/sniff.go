// Package sniff names the protocol of a stream that is not Dubbo's own, by its first bytes.
//
// Sources: RFC 9113 (the preface of HTTP/2), RFC 9112 (request and status lines), RFC 8446 (TLS records), Dubbo 2.7
// ThriftCodec (magic da bc behind a length), Dubbo 3 TripleHeaderEnum (headers tri-…) and TelnetCodec.
package sniff

import (
	"bytes"
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
)

// Protocols that are recognised.
const (
	TLS    = "tls"
	HTTP1  = "http1"
	HTTP2  = "http2"
	GRPC   = "grpc"   // HTTP/2 whose first request says so
	Triple = "triple" // the same, sent by Dubbo 3
	Thrift = "dubbo-thrift"
	Telnet = "telnet"
)

// recognised is what is made of these protocols: their connections are named, and their bytes counted beside Dubbo's.
const recognised = "recognised"

// Protocols returns those that are recognised.
func Protocols() []decode.Protocol {
	return []decode.Protocol{
		{Name: Triple, Read: recognised, Releases: "3.x", Capture: "triple-3.3.6.pcap.zst"},
		{Name: GRPC, Read: recognised, Releases: "2.7.5 to 2.7.23"},
		{Name: HTTP2, Read: recognised},
		{Name: HTTP1, Read: recognised, Releases: "all: rest, hessian, http", Capture: "rest-3.2.16.pcap.zst"},
		{Name: Thrift, Read: recognised, Releases: "2.x"},
		{Name: Telnet, Read: recognised, Releases: "all", Capture: "edge-hessian2.pcap.zst"},
		{Name: TLS, Read: recognised},
	}
}

// HeadLen is how many bytes from the start of a stream Start wants to see, at most.
const HeadLen = 24

// preface is what a client of HTTP/2 sends first.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// Start names the protocol of a stream that starts with head: TLS, HTTP1, HTTP2 or Thrift; "" where it is none of them,
// or head is too short to say.
func Start(head []byte) string {
	switch {
	case len(head) >= 3 && head[0] == 0x16 && head[1] == 3 && head[2] <= 4:
		return TLS
	case bytes.HasPrefix(head, []byte(preface[:16])):
		return HTTP2
	case len(head) >= 6 && head[4] == 0xda && head[5] == 0xbc:
		return Thrift
	case isHTTP(head):
		return HTTP1
	}
	return ""
}

func isHTTP(head []byte) bool {
	if bytes.HasPrefix(head, []byte("HTTP/1.")) {
		return true
	}
	method, target, ok := bytes.Cut(head, []byte(" "))
	return ok && len(target) > 0 && slices.Contains(methods, string(method))
}

var methods = []string{"GET", "POST", "PUT", "HEAD", "DELETE", "OPTIONS", "PATCH", "CONNECT", "TRACE"}

// IsTelnet reports whether a stream starts with one of the commands that Dubbo's telnet handler knows.
func IsTelnet(head []byte) bool {
	word, _, _ := strings.Cut(string(head), "\n")
	word, _, _ = strings.Cut(strings.TrimSpace(word), " ")
	return slices.Contains(commands, word)
}

var commands = []string{
	"ls", "ps", "cd", "pwd", "trace", "count", "invoke", "select", "status", "log", "help", "clear", "exit", "shutdown",
}
