package live

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// TestLargestBody: bodies are compared with the limit of their own protocol, and those of a protocol without any are not.
func TestLargestBody(t *testing.T) {
	large, small, none := &rpc.Protocol{Name: "a", PayloadLimit: 8000}, &rpc.Protocol{Name: "b", PayloadLimit: 1000}, &rpc.Protocol{Name: "c"}
	message := func(p *rpc.Protocol, kind rpc.Kind, bytes int) *call.Message {
		return &call.Message{Details: new(call.Details), Summary: rpc.Summary{
			Protocol: p, Kind: kind, BodyLen: bytes, Operation: &rpc.Operation{Service: "a.b.Service", Method: p.Name},
		}}
	}
	var r ring
	texts := func() []string { return remarks(new(Snapshot), r.largest(), new(pipeline.Progress)) }
	assert.Empty(t, texts())
	add := func(at int64, p *rpc.Protocol, request, response int) {
		r.startSecond(at)
		k := &call.Call{Request: message(p, rpc.Request, request), Response: message(p, rpc.Response, 1)}
		k.Response.Next = message(p, rpc.Response, response)
		r.current().largest.call(k)
	}
	add(0, none, 1<<30, 1<<30)
	add(0, large, 4000, 4000)
	assert.Empty(t, texts())
	add(1e9, large, 6000, 5000)
	assert.Equal(t, []string{"Service/a: largest request 6,000 bytes = 75 % of the default payload limit"}, texts())
	add(20e9, small, 1, 900)
	assert.Equal(t, []string{"Service/b: largest response 900 bytes = 90 % of the default payload limit"}, texts())
	assert.Equal(t, []string{"?: largest response 900 bytes = 90 % of the default payload limit"}, func() []string {
		var b body
		b.call(&call.Call{Response: message(small, rpc.Response, 900)})
		return remarks(new(Snapshot), b, new(pipeline.Progress))
	}())
}
