// Package thrift recognises connections of Dubbo's thrift protocol.
//
// The first bytes of a direction come in; a verdict goes out. The connections are named and their bytes counted; no
// message is read. The package keeps no memory. Source: Dubbo 2.7 ThriftCodec (the magic da bc follows a length).
package thrift

import "dubbo-wire/internal/rpc"

// Protocol is Dubbo's thrift.
var Protocol = &rpc.Protocol{Name: "dubbo-thrift", Read: "recognised", Releases: "2.x", Sniff: sniff, KeepHead: keepHead}

func sniff(head []byte) rpc.Verdict {
	if len(head) >= 6 && head[4] == 0xda && head[5] == 0xbc {
		return rpc.Mine
	}
	return rpc.NotMine
}

// keepHead keeps the magic.
func keepHead(head []byte) []rpc.Span {
	return []rpc.Span{{From: 4, To: 6}}
}
