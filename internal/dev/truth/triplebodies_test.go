package truth

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
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

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/dev/streams"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/rpc"
)

// exchange is a stream of HTTP/2 as golang.org/x/net reads it: its headers, and its messages of gRPC in both directions.
type exchange struct {
	id       uint32
	headers  [2][]rpc.Header
	data     [2][]byte
	messages [2][][]byte
	// compressed is the flag of each message.
	compressed [2][]bool
}

// exchanges reads the streams of the connections of a capture without losses, in the order of their ids.
func exchanges(t testing.TB, file string) []*exchange {
	bytesOf, order := streams.Of(t, file)
	var all []*exchange
	for _, w := range order {
		b, ok := bytes.CutPrefix(bytesOf[w], []byte(http2.ClientPreface))
		if !ok {
			continue
		}
		open := map[uint32]*exchange{}
		first := len(all)
		for dir, b := range [][]byte{b, bytesOf[w.Back()]} {
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
				x.compressed[dir] = append(x.compressed[dir], b[0] == 1)
				b = b[5+n:]
			}
			require.Empty(t, b)
		}
	}
	return all
}

// message returns message n of a direction as a connection hands it to the decoder.
func (x *exchange) message(dir, n int) *rpc.Message {
	m := new(rpc.Message)
	b := x.messages[dir][n]
	m.Kind, m.Exchange, m.Ordinal, m.Ends = rpc.Kind(dir), uint64(x.id), int32(n), n == len(x.messages[dir])-1
	for _, h := range x.headers[dir] {
		if n == 0 && !h.Trailer || m.Ends && h.Trailer {
			m.Headers = append(m.Headers, h)
		}
		if h.Name == "grpc-encoding" && x.compressed[dir][n] {
			m.Encoding = h.Value
		}
	}
	m.Body, m.BodyLen, m.Captured, m.MissingAt, m.Complete = b, len(b), len(b), len(b), true
	return m
}

// tripleCall is a line of the log of a Triple peer.
type tripleCall struct {
	Kind, Side, Method string
	ParameterTypes     []string
	Streaming          bool
	Arguments          []any
	Status             *int32 // of gRPC
	ResultKind         string
	Result             any
	Exception          *struct{ Class, Message string }
	UncompressedSha256 string
}

// TestTripleBodies compares what the decoder of bodies makes of the messages of Triple and gRPC with what the peers passed and got.
func TestTripleBodies(t *testing.T) {
	for _, c := range testkit.Captures() {
		is := func(prefix string) bool { return strings.HasPrefix(c.Name, prefix) }
		// Not complete: HPACK cannot read it from its first byte on. Loss: segments are out of order.
		if testing.Short() && !c.Sampled(1) || !c.Complete || is("triple-loss") || !is("triple-") && !is("edge-triple-") && !is("grpc-") {
			continue
		}
		use := triple.Triple
		if is("grpc-") {
			use = triple.GRPC
		}
		t.Run(c.Name, func(t *testing.T) { bodiesOf(t, c, use) })
	}
}

func bodiesOf(t *testing.T, c *testkit.Capture, use triple.Use) {
	newTripleBodies(t, c, use, formats.All()).all(c)
}

func newTripleBodies(t *testing.T, c *testkit.Capture, use triple.Use, known []decode.Format) *tripleBodies {
	b := tripleBodies{T: t, d: triple.NewDecoder(known), use: use, plain: map[string]bool{}, release: c.Dubbo[strings.LastIndexByte(c.Dubbo, ' ')+1:]}
	for line := range strings.Lines(c.TruthLog(t)) {
		var k tripleCall
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		require.NoError(t, d.Decode(&k))
		switch {
		case k.Kind == "message" && k.UncompressedSha256 != "":
			b.plain[k.UncompressedSha256] = true
		case k.Kind != "call":
		case k.Side == "consumer":
			b.calls = append(b.calls, &k)
		default:
			b.served = append(b.served, &k)
		}
	}
	return &b
}

func (b *tripleBodies) all(c *testkit.Capture) {
	streams := exchanges(b, c.Path())
	for _, x := range streams {
		b.stream(x)
	}
	assert.Greater(b, b.compared, len(streams)*9/10)
	b.Logf("%d streams, %d compared, %d messages, %d compressed; %d calls without one", len(streams), b.compared, b.messages,
		b.compressed, len(b.calls))
}

// tripleBodies compares the streams of a capture with its log.
type tripleBodies struct {
	*testing.T
	d                              *triple.Decoder
	use                            triple.Use
	plain                          map[string]bool // hashes of messages without their compression
	calls, served                  []*tripleCall   // consumer's, provider's
	compared, messages, compressed int
	release, serialization         string        // of the consumer, and of the message decoded last
	method                         string        // of the stream; $echo takes an Object
	schemas                        *schemaValues // how messages are compared whose schema is known; else nil
}

func (b *tripleBodies) stream(x *exchange) {
	head := triple.HeadOf(x.headers[0])
	op := b.d.Operation(&head)
	require.NotNil(b, op)
	assert.True(b, !head.Sure && b.use == triple.GRPC || head.Sure && head.Use == b.use)
	if len(x.messages[0]) == 0 {
		return
	}
	what := fmt.Sprintf("stream %d %s", x.id, op.Method)
	b.method = op.Method
	var arguments, results []any
	generic, types, last := "", []string(nil), new(rpc.Message)
	for dir := range x.messages {
		for n := range x.messages[dir] {
			m := x.message(dir, n)
			b.d.Outcome(m, triple.HeadsOf(m.Headers), false)
			b.d.Decode(m, op, rpc.Values)
			if full[m.Serialization] || m.Serialization == "protobuf" {
				if b.schemas == nil || m.Err == nil || m.Err.Misfit == nil || !m.Err.Misfit.NotDeclared {
					assert.Nil(b, m.Err, what)
					assert.Equal(b, "full", m.Decoded, what)
				}
			} else if m.Err != nil { // without the classes
				assert.Equal(b, decode.Unsupported, m.Err.Cause, what)
			}
			b.messages++
			b.serialization = m.Serialization
			if m.Encoding != "" {
				b.compressed++
				hash := sha256.Sum256(m.Plain) // Dubbo compresses nothing to nothing
				assert.True(b, len(m.Body) == 0 || b.plain[hex.EncodeToString(hash[:8])], "%s: nobody compressed %q", what, m.Plain)
			}
			if dir == 0 {
				arguments = append(arguments, asJSON(b, m.AppendArguments(nil)).([]any)...)
				generic, types = m.GenericMethod, m.Operation.Types
			} else if last = m; !m.Exception {
				results = append(results, asJSON(b, m.AppendResult(nil)))
			}
			b.details(x, dir, n, op)
		}
	}
	if len(x.messages[1]) == 0 {
		last.Headers = x.headers[1]
		b.d.Outcome(last, triple.HeadsOf(last.Headers), false)
	}
	if !full[b.serialization] && b.serialization != "protobuf" { // values without classes
		b.compared++
		return
	}
	same := func(k *tripleCall) bool { // calls that run side by side have no order
		return (k.Method == op.Method || op.Generic && k.Method == generic) && b.same(arguments, any(k.Arguments)) == ""
	}
	k := slices.IndexFunc(b.calls, same)
	if k < 0 && slices.ContainsFunc(b.served, same) { // the consumer does not log calls that it gave up
		return
	}
	if k < 0 && op.Generic && generic == "nowhere" { // nobody logs a method that is not found
		return
	}
	if !assert.GreaterOrEqual(b, k, 0, "%s: no call has the arguments %s", what, short(arguments)) {
		return
	}
	call := b.calls[k]
	b.calls = slices.Delete(b.calls, k, k+1)
	b.compared++
	if types != nil && !call.Streaming {
		for i, typ := range call.ParameterTypes { // as Class.getName returns it
			assert.Equal(b, decode.JavaName(typ), types[i])
		}
	}
	diff := b.answer(last, arguments, results, call)
	// What the provider sent counts if the consumer cannot read it: it lacks the class of an exception, or is 3.3.6, whose hessian-lite
	// puts the eight bytes of a double into a field of float, so that the float is half of it, and the field after it the other half.
	if diff != "" && (call.Exception != nil || strings.HasPrefix(b.release, "3.3.")) {
		sent := func(k *tripleCall) bool {
			return (k.Method == op.Method || op.Generic && k.Method == generic) && b.answer(last, arguments, results, k) == ""
		}
		if k := slices.IndexFunc(b.served, sent); k >= 0 {
			b.served = slices.Delete(b.served, k, k+1)
			diff = ""
		}
	}
	if e := call.Exception; diff != "" && e != nil {
		if strings.HasPrefix(b.release, "3.0.") { // wraps what it got: the status, or the stack trace of the exception
			status, _, _ := strings.Cut(diff, " instead of ")
			line, _, _ := strings.Cut(last.ExceptionMessage, "\n")
			traced := strings.Contains(e.Message, "\n"+strings.TrimSuffix(last.ExceptionClass+": "+line, ": ")+"\n")
			if strings.HasPrefix(e.Message, "Fail to invoke remote method: ") && strings.Contains(e.Message, ", cause: "+status) && (traced || last.ExceptionClass == "") {
				diff = ""
			}
		}
		if gaveUp.MatchString(e.Message) {
			diff = ""
		}
	}
	assert.Empty(b, diff, what)
}

// gaveUp is what a consumer makes of a deadline; the provider may answer, or the answer be unreadable.
var gaveUp = regexp.MustCompile(`(^|, cause: org.apache.dubbo.rpc.StatusRpcException: )DEADLINE_EXCEEDED : Waiting server-side response|^Invoke remote method timeout`)

// answer returns how an answer differs from what a peer logged, "" if it does not.
func (b *tripleBodies) answer(last *rpc.Message, arguments, results []any, call *tripleCall) string {
	if e := call.Exception; e != nil && call.Status != nil && last.Status > 0 { // else the client ended the call
		if last.Status != *call.Status {
			return fmt.Sprintf("status %d instead of %d", last.Status, *call.Status)
		}
		if e.Message != last.ErrorMessage && e.Message != triple.StatusText(int(last.Status))+": "+last.ErrorMessage {
			return last.ErrorMessage + " instead of " + e.Message
		}
	}
	if e := call.Exception; e != nil && !call.Streaming { // how a stream ends depends on who ends it
		ours := last.ExceptionClass + ": " + last.ExceptionMessage
		if last.Failed {
			ours = "org.apache.dubbo.rpc.StatusRpcException: " + last.StatusName() + " : " + last.ErrorMessage
			if name := triple.StatusText(int(last.Status)); strings.HasPrefix(last.ErrorMessage, name+" : ") { // stubs of 3.3 send it with its name
				ours = "org.apache.dubbo.rpc.StatusRpcException: " + last.ErrorMessage
			} else if name != "" {
				ours = "org.apache.dubbo.rpc.StatusRpcException: " + name + " : " + last.ErrorMessage
			}
		}
		theirs := e.Class + ": " + e.Message
		traced := last.ExceptionClass != "" && strings.HasPrefix(theirs, ours+"\n"+last.ExceptionClass) // the stack trace of the details
		if ours != theirs && ours != asNetty(theirs) && !traced {
			return ours + " instead of " + e.Class + ": " + e.Message
		}
	}
	switch {
	case call.Streaming:
		return b.same(results, call.Result)
	case call.ResultKind == "value" || call.ResultKind == "null":
		if len(results) != 1 || (last.ResultKind == 2) != (call.ResultKind == "null") {
			return fmt.Sprintf("%d results, the last of kind %d", len(results), last.ResultKind)
		}
		return b.same(results[0], call.Result, any(arguments), any(call.Arguments)) // a service may answer with what it got
	}
	return ""
}

// same compares values with those of the log.
func (b *tripleBodies) same(got, want any, arguments ...any) string {
	list, ok := got.([]any)
	wants, isList := want.([]any)
	if ok && isList && len(list) == len(wants) && hasMessages(want) {
		for i := range list {
			if diff := b.same(list[i], wants[i]); diff != "" {
				return diff
			}
		}
		return ""
	}
	if object, ok := want.(map[string]any); ok && object["@fields"] != nil && b.schemas != nil && b.method != "$echo" {
		return b.schemas.message(got, object)
	}
	if object, ok := want.(map[string]any); ok && object["@fields"] != nil {
		m := messages{T: b.T, guesses: map[string][2]int{}}
		return m.message(got, object)
	}
	c := comparer{ours: got, truth: want, full: true, declared: declared[b.serialization]}
	copy(c.arguments[:], arguments)
	return c.compare("", got, want)
}

// hasMessages reports whether a list of the log has messages of protocol buffers.
func hasMessages(v any) bool {
	list, _ := v.([]any)
	return slices.ContainsFunc(list, func(v any) bool {
		object, ok := v.(map[string]any)
		return ok && object["@fields"] != nil
	})
}

// details checks that a message is the same with less detail, and that its parts are its bytes.
func (b *tripleBodies) details(x *exchange, dir, n int, op *rpc.Operation) {
	m, sum := x.message(dir, n), 0
	b.d.Decode(m, op, rpc.Values)
	own := decode.PartBytes{}
	for _, p := range m.Tree.Parts(nil, 0) {
		require.Equal(b, sum, p.Off)
		sum += p.Bytes
		own[p.Class] += int32(p.Bytes)
	}
	if m.Encoding != "" {
		require.Equal(b, m.UncompressedLen, sum)
		own = decode.PartBytes{decode.ClassCompressed: int32(m.BodyLen)}
	} else {
		require.Equal(b, m.BodyLen, sum)
	}
	kind, serialization := m.ResultKind, m.Serialization
	for _, detail := range []rpc.Detail{rpc.Parts, rpc.Envelope} {
		m := x.message(dir, n)
		b.d.Decode(m, op, detail)
		assert.Equal(b, serialization, m.Serialization)
		assert.Equal(b, kind, m.ResultKind)
		if detail == rpc.Parts {
			assert.Equal(b, own, m.Parts, "%s", op.Method)
		}
	}
}

func asJSON(t testing.TB, b []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	require.NoError(t, d.Decode(&v), "%s", b)
	return v
}
