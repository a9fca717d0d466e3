package findings

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// A call takes no memory once its method, its client and its connection are known.
func TestCallsAllocateNothing(t *testing.T) {
	b := newBench()
	for i := range 20 {
		b.add(made{conn: uint64(i), method: fmt.Sprint("m", i), from: 1, to: 2, request: 100, response: 100})
	}
	c := oneCall(b, 3)
	assert.Zero(t, testing.AllocsPerRun(1000, func() { b.Call(c) }))
}

// oneCall is a call of method m3 on connection 3, to be made again and again.
func oneCall(b *bench, key uint64) *call.Call {
	conn := &call.Conn{Key: key, Ends: [2]string{"10.0.0.1:1", "10.0.0.2:2"}}
	q, p := b.pairer.New(), b.pairer.New()
	q.Operation, q.Serialization, q.Complete = b.names["m32.0.2"], "hessian2", true
	describe(q, dubbo.Header{Flags: 0xc2, BodyLen: 100})
	p.Serialization, p.Complete, p.ResultKind = "hessian2", true, 1
	describe(p, dubbo.Header{Flags: 2, Status: 20, BodyLen: 100})
	return &call.Call{Conn: conn, Request: q, Response: p}
}

// 50 000 methods and 100 000 clients are told apart; what is beyond the limits is counted.
func TestManyMethodsAndClients(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	before := heap()
	b := newBench()
	const methods, clients = maxMethods + 1000, maxClients + 500
	for i := range clients {
		n := &rpc.Operation{ProtocolVersion: "2.0.2", Service: "some.service.of.a.package.Service", Method: fmt.Sprint("method", i%methods), Hash: uint32(i + 1)}
		c := oneCall(b, uint64(i))
		c.Request.Operation = n
		c.Conn.Ends[0] = fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255)
		b.Call(c)
	}
	basis := b.Basis()
	assert.Equal(t, maxMethods, basis.Methods)
	assert.EqualValues(t, 1000, basis.OtherCalls)
	assert.Equal(t, maxClients, basis.Clients)
	assert.EqualValues(t, 500, basis.OtherClientCalls)
	used := heap() - before
	t.Logf("%d MiB", used>>20)
	assert.Less(t, used, int64(160<<20))
	runtime.KeepAlive(b)
}

// Failures of as many causes as are told apart, all of one method. The time to find what they share must not grow with the square of
// their number: that would be minutes.
func TestManyCauses(t *testing.T) {
	b := newBench()
	const causes = maxFailures + 1000
	for i := range causes {
		c := oneCall(b, 3)
		describe(c.Response, dubbo.Header{Flags: 2, Status: 20, BodyLen: 100})
		c.Response.ResultKind, c.Response.Exception = 0, true
		c.Response.Detail().ExceptionClass = fmt.Sprintf("com.acme.E%dException", i)
		b.Call(c)
	}
	list := b.Findings(new(pipeline.Totals))
	assert.Len(t, b.failures, maxFailures)
	assert.EqualValues(t, 1000, b.Basis().OtherFailures)
	for _, f := range list {
		assert.NotEqual(t, "errors", f.Kind, "no cause is frequent enough: %s", f.Text)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Copies of bodies are bounded, and what is told of them is what they weigh compressed.
func TestCompressible(t *testing.T) {
	b := newBench()
	random := make([]byte, 4000)
	for i := range random {
		random[i] = byte(rand.IntN(256))
	}
	text := bytes.Repeat([]byte("some text that comes again. "), 150)
	for i := range 20 {
		b.add(made{conn: 1, method: "text", from: 1, to: 2, response: len(text), change: sampled(text)})
		b.add(made{conn: 1, method: "random", from: 1, to: 2, response: len(random), change: sampled(random)})
		b.add(made{conn: 1, method: "failing", from: 1, to: 2, status: 80, response: len(text), change: sampled(text)})
		if i < leastSamples-1 {
			b.add(made{conn: 1, method: "rare", from: 1, to: 2, response: len(text), change: sampled(text)})
		}
	}
	list := b.found("compressible", 1000)
	require.Len(t, list, 1)
	f := list[0]
	assert.Equal(t, "text", f.Method)
	assert.EqualValues(t, maxSamples, Value(t, &f, "sampled"))
	assert.EqualValues(t, 20, Value(t, &f, "responses"))
	assert.EqualValues(t, maxSamples*len(text), Value(t, &f, "bodyBytes"))
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(text)
	require.NoError(t, w.Close())
	assert.EqualValues(t, maxSamples*packed.Len(), Value(t, &f, "gzipBytes"))
	e, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	assert.InDelta(t, maxSamples*len(e.EncodeAll(text, nil)), Value(t, &f, "zstdBytes"), maxSamples*4, "but for the checksum")
	r, err := gzip.NewReader(&packed)
	require.NoError(t, err)
	unpacked, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, text, unpacked)
}

func sampled(body []byte) func(q, p *call.Message) {
	return func(_, p *call.Message) {
		p.Sampled = true
		p.Detail().Sample = &call.Sample{Body: body}
	}
}

func TestBodiesAreBounded(t *testing.T) {
	b := newBench()
	body := make([]byte, 1<<20)
	for i := range 30 {
		b.add(made{conn: 1, method: fmt.Sprint("m", i), from: 1, to: 2, response: len(body), change: sampled(body)})
		b.add(made{conn: 1, method: fmt.Sprint("m", i), from: 1, to: 2, response: len(body), change: sampled(body)})
	}
	n := 0
	for _, m := range b.order {
		if m.bodies != nil {
			assert.Len(t, m.bodies.list, 1, "the first is kept, the second is too much")
			n += m.bodies.bytes
		}
	}
	assert.Equal(t, maxBodies, n)
}

func BenchmarkCall(b *testing.B) {
	k := newBench()
	var calls []*call.Call
	for i := range 64 {
		k.add(made{conn: uint64(i), method: fmt.Sprint("m", i), from: 1, to: 2, request: 100, response: 100})
	}
	for i := range 64 {
		calls = append(calls, oneCall(k, uint64(i)))
		calls[i].Request.Operation = k.names[fmt.Sprintf("m%d2.0.2", i*7%64)]
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		k.Call(calls[i&63])
	}
}

// What a run saw of the link tells something, too.
func TestTotals(t *testing.T) {
	var totals pipeline.Totals
	totals.TCP.Payload, totals.TCP.Repeated = 1000, 19
	totals.RPCBytes, totals.EventBytes, totals.Heartbeats = 1000, 99, 5
	assert.Empty(t, New().Findings(&totals))
	totals.TCP.Repeated, totals.EventBytes = 20, 100
	list := New().Findings(&totals)
	require.Len(t, list, 2)
	assert.Equal(t, "10 % of Dubbo's bytes on the wire (100 B of 1.00 kB, 5 frames)", list[0].Text)
	assert.Equal(t, "2.0 % of its payload was retransmitted (20 B of 1.00 kB): packets are lost or acknowledged late", list[1].Text)
}
