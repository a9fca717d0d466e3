package truth

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/rpc"
)

// exchange is a stream of HTTP/2 as golang.org/x/net reads it: its headers, and its messages of gRPC in both directions.
type exchange struct {
	id       uint32
	headers  [2][]rpc.Header
	data     [2][]byte
	messages [2][][]byte
}

// exchanges reads the streams of the connections of a capture without losses, in the order of their ids.
func exchanges(t testing.TB, file string) []*exchange {
	src, err := capture.Open([]string{file}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	type way struct{ src, dst packet.Endpoint }
	streams, next := map[way][]byte{}, map[way]uint32{}
	var order []way
	var p capture.Packet
	var s packet.Segment
	var d packet.Decoder
	for {
		if err := src.Next(&p); err == io.EOF {
			break
		}
		if d.Decode(&p, &s) != packet.TCP || len(s.Payload) == 0 {
			continue
		}
		w := way{s.Src, s.Dst}
		if at, ok := next[w]; !ok {
			order = append(order, w)
		} else if at != s.Seq {
			continue
		}
		next[w] = s.Seq + uint32(s.PayloadLen)
		streams[w] = append(streams[w], s.Payload...)
	}
	var all []*exchange
	for _, w := range order {
		b, ok := bytes.CutPrefix(streams[w], []byte(http2.ClientPreface))
		if !ok {
			continue
		}
		open := map[uint32]*exchange{}
		first := len(all)
		for dir, b := range [][]byte{b, streams[way{w.dst, w.src}]} {
			f := http2.NewFramer(io.Discard, bytes.NewReader(b))
			f.SetMaxReadFrameSize(1<<24 - 1)
			var x *exchange
			table := hpack.NewDecoder(1<<16, func(h hpack.HeaderField) {
				x.headers[dir] = append(x.headers[dir], rpc.Header{Name: h.Name, Value: h.Value, Trailer: len(x.data[dir]) > 0})
			})
			for {
				frame, err := f.ReadFrame()
				if err != nil {
					break
				}
				id := frame.Header().StreamID
				if id == 0 {
					continue
				}
				if x = open[id]; x == nil {
					x = &exchange{id: id}
					open[id] = x
					all = append(all, x)
				}
				switch frame := frame.(type) {
				case *http2.HeadersFrame:
					_, err = table.Write(frame.HeaderBlockFragment())
				case *http2.ContinuationFrame:
					_, err = table.Write(frame.HeaderBlockFragment())
				case *http2.DataFrame:
					x.data[dir] = append(x.data[dir], frame.Data()...)
				}
				require.NoError(t, err)
			}
		}
		slices.SortFunc(all[first:], func(a, b *exchange) int { return int(a.id) - int(b.id) })
	}
	for _, x := range all {
		for dir, b := range x.data {
			for len(b) >= 5 {
				n := int(binary.BigEndian.Uint32(b[1:]))
				require.LessOrEqual(t, 5+n, len(b))
				x.messages[dir] = append(x.messages[dir], b[5:5+n:5+n])
				b = b[5+n:]
			}
			require.Empty(t, b)
		}
	}
	return all
}

// message returns message n of a direction as a connection hands it to the decoder.
func (x *exchange) message(dir, n int) *rpc.Message {
	m := &rpc.Message{Headers: slices.Clone(x.headers[dir])}
	b := x.messages[dir][n]
	m.Kind, m.Exchange, m.Ordinal, m.Ends = rpc.Kind(dir), uint64(x.id), int32(n), n == len(x.messages[dir])-1
	m.Body, m.BodyLen, m.Captured, m.MissingAt, m.Complete = b, len(b), len(b), len(b), true
	return m
}

// tripleCall is a line of the log of a Triple peer.
type tripleCall struct {
	Side, Method   string
	ParameterTypes []string
	Arguments      []any
	ResultKind     string
	Result         any
	Exception      *struct{ Class, Message string }
}

// TestTripleBodies compares what the decoder of bodies makes of the messages of Triple with what the consumer passed and got.
func TestTripleBodies(t *testing.T) {
	for _, name := range []string{"triple-3.2.16", "triple-3.3.6", "edge-triple-3.3.6", "triple-protobuf-3.3.6"} {
		t.Run(name, func(t *testing.T) {
			c := testkit.Get(t, name)
			var calls, served []tripleCall
			for line := range strings.Lines(c.TruthLog(t)) {
				var k tripleCall
				d := json.NewDecoder(strings.NewReader(line))
				d.UseNumber()
				require.NoError(t, d.Decode(&k))
				if k.Side == "consumer" {
					calls = append(calls, k)
				} else {
					served = append(served, k)
				}
			}
			tripleBodies(t, exchanges(t, c.Path()), calls, served)
		})
	}
}

func tripleBodies(t *testing.T, streams []*exchange, calls, served []tripleCall) {
	d := triple.NewDecoder(formats.All())
	compared, garbles := 0, 0
	for _, x := range streams {
		op := d.Operation(x.headers[0])
		require.NotNil(t, op)
		use, sure := triple.UseOf(x.headers[0])
		assert.True(t, use == triple.Triple && sure)
		if len(x.messages[0]) == 0 {
			continue
		}
		m := x.message(0, 0)
		d.Decode(m, op, rpc.Values)
		assert.Nil(t, m.Err, "%s %d", op.Method, x.id)
		assert.Equal(t, "full", m.Decoded, "%s %d", op.Method, x.id)
		checkParts(t, d, x, 0, op)
		arguments := asJSON(t, m.AppendArguments(nil))
		op = m.Operation
		same := func(k tripleCall) bool { // calls that run side by side have no order
			return (k.Method == op.Method || op.Generic && k.Method == m.GenericMethod) && sameArguments(arguments, k.Arguments, op)
		}
		k := slices.IndexFunc(calls, same)
		if k < 0 && slices.ContainsFunc(served, same) { // the consumer does not log calls that it gave up
			continue
		}
		if !assert.GreaterOrEqual(t, k, 0, "stream %d: no call of %s has the arguments %s", x.id, op.Signature(), short(arguments)) {
			continue
		}
		call := calls[k]
		calls = slices.Delete(slices.Clone(calls), k, k+1)
		compared++
		if op.Types != nil {
			for i, typ := range call.ParameterTypes { // as Class.getName returns it
				assert.Equal(t, decode.JavaName(typ), op.Types[i])
			}
		}
		if len(x.messages[1]) == 0 {
			continue
		}
		answer := x.message(1, 0)
		d.Outcome(answer)
		assert.Equal(t, int32(0), answer.Status)
		d.Decode(answer, op, rpc.Values)
		assert.Nil(t, answer.Err, "answer to %s %d", op.Method, x.id)
		diff := sameAnswer(t, answer, op, &call)
		// A consumer without the class of an exception, or that cannot read a result, logs what it made of it.
		if diff != "" && call.ResultKind == "exception" && slices.ContainsFunc(served, func(k tripleCall) bool {
			return k.Method == op.Method && sameAnswer(t, answer, op, &k) == ""
		}) {
			diff = ""
		}
		if diff != "" && call.Exception != nil && call.Exception.Message == "INTERNAL : Deserialize response failed" {
			echoed := call
			echoed.ResultKind, echoed.Result = "value", call.Arguments[0]
			diff = sameAnswer(t, answer, op, &echoed)
		}
		if garbled.MatchString(diff) {
			garbles++
			diff = ""
		}
		assert.Empty(t, diff, "answer to %s %d", op.Method, x.id)
		checkParts(t, d, x, 1, op)
	}
	assert.Greater(t, compared, len(streams)*9/10)
	t.Logf("%d streams, %d compared, %d with garbled floats; %d calls without one", len(streams), compared, garbles, len(calls))
}

// garbled is how the float of an answer of Dubbo 3.3.6 differs: the wire has neither what was sent nor what arrives.
var garbled = regexp.MustCompile(`: [0-9.e+-]+ instead of [0-9]+\.[0-9]+$`)

// sameAnswer returns how an answer differs from what a peer logged, "" if it does not.
func sameAnswer(t *testing.T, answer *rpc.Message, op *rpc.Operation, call *tripleCall) string {
	if kind := map[string]int8{"exception": 0, "value": 1, "null": 2}[call.ResultKind]; kind != answer.ResultKind {
		return fmt.Sprintf("result kind %d instead of %d", answer.ResultKind, kind)
	}
	if call.ResultKind == "exception" {
		if ours := answer.ExceptionClass + ": " + answer.ExceptionMessage; ours != call.Exception.Class+": "+call.Exception.Message {
			return ours + " instead of " + call.Exception.Class + ": " + call.Exception.Message
		}
		return ""
	}
	if op.Types == nil || strings.HasSuffix(op.Service, ".ProtoService") {
		return ""
	}
	result := asJSON(t, answer.AppendResult(nil))
	c := comparer{ours: result, truth: call.Result, full: true}
	return c.compare("", result, call.Result)
}

// checkParts checks that the bytes of each class are the same with and without a tree, and that they are those of the body.
func checkParts(t *testing.T, d *triple.Decoder, x *exchange, dir int, op *rpc.Operation) {
	m, sum := x.message(dir, 0), 0
	d.Decode(m, op, rpc.Values)
	own := decode.PartBytes{}
	for _, p := range m.Tree.Parts(nil, 0) {
		require.Equal(t, sum, p.Off)
		sum += p.Bytes
		own[p.Class] += int32(p.Bytes)
	}
	require.Equal(t, m.BodyLen, sum)
	kind, serialization := m.ResultKind, m.Serialization
	for _, detail := range []rpc.Detail{rpc.Parts, rpc.Envelope} {
		m := x.message(dir, 0)
		d.Decode(m, op, detail)
		assert.Equal(t, serialization, m.Serialization)
		assert.Equal(t, kind, m.ResultKind)
		if detail == rpc.Parts {
			assert.Equal(t, own, m.Parts, "%s", op.Method)
		}
	}
}

func sameArguments(ours any, truth []any, op *rpc.Operation) bool {
	if op.Types == nil || op.Generic || strings.HasSuffix(op.Service, ".ProtoService") { // messages of protocol buffers have no names
		return true
	}
	c := comparer{ours: ours, truth: any(truth), full: true}
	return c.compare("", ours, any(truth)) == ""
}

func asJSON(t testing.TB, b []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	require.NoError(t, d.Decode(&v), "%s", b)
	return v
}
