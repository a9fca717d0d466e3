// Package http1 recognises HTTP/1 connections.
//
// The first bytes of a direction come in; a verdict goes out. The connections are named and their bytes counted; no
// message is read. Package http2 reads connections that switch to HTTP/2. The package keeps no memory. Source: RFC 9112 (request and
// status lines).
package http1

import (
	"bytes"
	"slices"

	"dubbo-wire/internal/decode/http2"
	"dubbo-wire/internal/rpc"
)

// Protocol is HTTP/1.0 and HTTP/1.1.
var Protocol = &rpc.Protocol{
	Name: "http1", Read: "recognised", Releases: "all: rest, hessian, http", Capture: "rest-3.2.16.pcap.zst", Sniff: sniff,
	Found: http2.AsksToSwitch, New: http2.OpenHTTP1, KeepHead: keepHead,
}

func sniff(head []byte) rpc.Verdict {
	if bytes.HasPrefix(head, []byte("HTTP/1.")) {
		return rpc.Mine
	}
	if method, target, ok := bytes.Cut(head, []byte(" ")); ok && len(target) > 0 && slices.Contains(methods, string(method)) {
		return rpc.Mine
	}
	return rpc.NotMine
}

var methods = []string{"GET", "POST", "PUT", "HEAD", "DELETE", "OPTIONS", "PATCH", "CONNECT", "TRACE"}

// keepHead keeps the method of a request, or the version of a response.
func keepHead(head []byte) []rpc.Span {
	end := bytes.IndexAny(head, " /")
	if head[end] == '/' { // HTTP/1.
		end = min(end+2, len(head)-1)
	}
	return []rpc.Span{{From: 0, To: int64(end + 1)}}
}
