package parquet

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/rpc"
)

// made returns a call that two messages of made-up sizes make.
func made(service string) *call.Call {
	p := call.NewPairer(call.Config{}, nil)
	protocol := &rpc.Protocol{Name: "dubbo", Numbered: true}
	q, a := p.New(), p.New()
	q.Summary = rpc.Summary{
		Protocol: protocol, Operation: &rpc.Operation{Service: service, Method: "m"}, Serialization: "hessian2", SerializationID: 2,
		Request: true, TwoWay: true, Ends: true, Complete: true, HeaderLen: 16, Status: rpc.NoStatus, BodyLen: 100, Wire: 182,
	}
	a.Summary = rpc.Summary{
		Protocol: protocol, Serialization: "hessian2", SerializationID: 2, Ends: true, Complete: true, HeaderLen: 16, Status: 20,
		Kind: rpc.Response, BodyLen: 200, Wire: 282,
	}
	return &call.Call{Conn: &call.Conn{Number: 1, Ends: [2]string{"10.0.0.1:40000", "[::ffff:10.0.0.2]:20880"}}, Request: q, Response: a}
}

func open(t *testing.T, b []byte) *parquet.File {
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	return f
}

// Texts are UTF-8 whatever the capture has, addresses are in their parts, and a text that is missing is null.
func TestTexts(t *testing.T) {
	var b bytes.Buffer
	w := NewCalls(&b, []string{"a.pcap"}, "")
	require.NoError(t, w.Row(made("com.acme.\xff\x00Order")))
	require.NoError(t, w.Close())
	rows := make([]parquet.Row, 2)
	r := parquet.NewReader(open(t, b.Bytes()))
	n, _ := r.ReadRows(rows)
	require.Equal(t, 1, n)
	got := map[string]string{}
	for i, v := range rows[0] {
		if !v.IsNull() {
			got[callColumns[i].name] = v.String()
		}
	}
	assert.Equal(t, "com.acme.\ufffd\x00Order", got["service"])
	assert.Equal(t, "10.0.0.2", got["server_ip"])
	assert.Equal(t, "20880", got["server_port"])
	assert.NotContains(t, got, "host")
	assert.NotContains(t, got, "error")
	assert.Equal(t, "282", got["response_wire_bytes"])
}

// A row group ends before its texts take much memory.
func TestLongTexts(t *testing.T) {
	var b bytes.Buffer
	w := NewCalls(&b, []string{"a.pcap"}, "")
	long := strings.Repeat("x", 60_000)
	for i := range 2000 { // 120 MB
		require.NoError(t, w.Row(made(fmt.Sprint(i, long))))
	}
	require.NoError(t, w.Close())
	f := open(t, b.Bytes())
	assert.EqualValues(t, 2000, f.NumRows())
	assert.Greater(t, len(f.RowGroups()), 3)
}

// BenchmarkCalls writes calls, of which the numbers are per call.
func BenchmarkCalls(b *testing.B) {
	c := made("com.acme.order.OrderQuery")
	q, a := c.Request, c.Response
	t := NewCalls(new(bytes.Buffer), []string{"trace.pcap"}, "web-1")
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
