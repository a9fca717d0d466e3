// Package tls recognises encrypted connections.
//
// The first bytes of a direction come in; a verdict goes out. The connections are named and their bytes counted. The
// package keeps no memory. Source: RFC 8446 (records).
package tls

import "dubbo-wire/internal/rpc"

// Protocol is TLS.
var Protocol = &rpc.Protocol{Name: "tls", Read: "recognised", Sniff: sniff, KeepHead: keepHead}

func sniff(head []byte) rpc.Verdict {
	if len(head) >= 3 && head[0] == 0x16 && head[1] == 3 && head[2] <= 4 {
		return rpc.Mine
	}
	return rpc.NotMine
}

// keepHead keeps the type and version of a record.
func keepHead(head []byte) []rpc.Span {
	return []rpc.Span{{From: 0, To: 3}}
}
