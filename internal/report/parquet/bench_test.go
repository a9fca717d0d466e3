package parquet

import (
	"io"
	"testing"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/rpc"
)

// BenchmarkCalls writes calls, of which the numbers are per call.
func BenchmarkCalls(b *testing.B) {
	protocol := &rpc.Protocol{Name: "dubbo", Numbered: true}
	op := &rpc.Operation{ProtocolVersion: "2.0.2", Service: "com.acme.order.OrderQuery", Version: "1.0.0", Method: "listByBuyer"}
	p := call.NewPairer(call.Config{}, nil)
	q, a := p.New(), p.New()
	q.Summary = rpc.Summary{Protocol: protocol, Operation: op, Serialization: "hessian2", SerializationID: 2, Request: true, TwoWay: true, Ends: true, Complete: true, HeaderLen: 16, Status: rpc.NoStatus}
	a.Summary = rpc.Summary{Protocol: protocol, Serialization: "hessian2", SerializationID: 2, Ends: true, Complete: true, HeaderLen: 16, Status: 20, Kind: rpc.Response}
	c := &call.Call{Conn: &call.Conn{Number: 1, Ends: [2]string{"10.0.0.1:40000", "10.0.0.2:20880"}}, Request: q, Response: a}
	t := NewCalls(io.Discard, []string{"trace.pcap"}, "web-1")
	b.ReportAllocs()
	for n := int64(0); b.Loop(); n++ {
		q.Number, a.Number, q.Exchange = 2*n+1, 2*n+2, uint64(n)
		q.BodyLen, a.BodyLen = int(200+n%50), int(1000+n*7%997)
		q.FirstTime, q.LastByte, a.FirstTime, a.LastByte = n*100_000, n*100_000, n*100_000+500_000, n*100_000+500_000+n*7919%100_000
		q.Wire, a.Wire = int64(q.BodyLen+82), int64(a.BodyLen+82)
		if err := t.Row(c); err != nil {
			b.Fatal(err)
		}
	}
	if err := t.Close(); err != nil {
		b.Fatal(err)
	}
}
