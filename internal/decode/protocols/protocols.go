// Package protocols is the list of protocols, the only place that knows all of them. To add a protocol, add its
// folder and its line here. The pipeline and the commands receive the list; it owns no memory, and each protocol
// names its source.
package protocols

import (
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/http2"
	"dubbo-wire/internal/decode/rmi"
	"dubbo-wire/internal/decode/telnet"
	"dubbo-wire/internal/decode/thrift"
	"dubbo-wire/internal/decode/tls"
	"dubbo-wire/internal/rpc"
)

// All returns the known protocols, in the order in which they are asked for a connection.
func All() []*rpc.Protocol {
	return []*rpc.Protocol{
		dubbo.Protocol,
		http2.Triple,
		http2.GRPC,
		http2.REST,
		http2.HTTP,
		http2.Hessian,
		http2.Protocol,
		thrift.Protocol,
		thrift.Native,
		rmi.Protocol,
		telnet.Protocol,
		tls.Protocol,
	}
}
