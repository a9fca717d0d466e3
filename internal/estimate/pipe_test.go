package estimate

import (
	"encoding/binary"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// recordReader reads what Record.Append writes, as the Java side does.
type recordReader struct {
	t     *testing.T
	b     []byte
	nodes int32
}

func (r *recordReader) take(n int) []byte {
	require.LessOrEqual(r.t, n, len(r.b))
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *recordReader) int32() int32 { return int32(binary.BigEndian.Uint32(r.take(4))) }

func (r *recordReader) text() (s string, null bool) {
	n := r.int32()
	if n < 0 {
		require.EqualValues(r.t, -1, n)
		return "", true
	}
	return string(r.take(int(n))), false
}

func (r *recordReader) node(depth int) {
	require.LessOrEqual(r.t, depth, maxPiped)
	kind := decode.Kind(r.take(1)[0])
	label := decode.Label(r.take(1)[0])
	require.NotEqual(r.t, decode.ByRole, label)
	number := r.nodes
	r.nodes++
	name, null := r.text()
	assert.Equal(r.t, label != decode.ByField || name == "", null)
	r.text()
	switch kind {
	case decode.Null, unwritten:
	case decode.Bool:
		r.take(1)
	case decode.Int:
		r.take(8)
	case decode.Float32:
		r.take(4)
	case decode.Float64:
		r.take(8)
		r.text()
	case decode.Char, decode.String, decode.Decimal, decode.Bytes:
		r.text()
	case decode.Date, decode.Enum:
		r.text()
		r.take(8)
	case decode.List, decode.Map, decode.Object:
		for n := r.int32(); n > 0; n-- {
			r.node(depth + 1)
		}
	case decode.Ref:
		require.Less(r.t, r.int32(), number)
	default:
		require.Fail(r.t, "kind", kind)
	}
}

// Every message of the captures that is decoded whole can be sent, and is sent whole.
func TestRecords(t *testing.T) {
	testkit.Each(t, 12, func(t *testing.T, c *testkit.Capture) {
		src, err := capture.Open([]string{c.Path()}, capture.Options{})
		require.NoError(t, err)
		defer src.Close()
		_, err = pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Values, Rows: true}, recordSink{t})
		if err != io.EOF {
			require.NoError(t, err)
		}
	})
}

type recordSink struct{ t *testing.T }

func (s recordSink) Call(*call.Call, bool) {}

func (s recordSink) Frame(row *pipeline.Row) { recorded(s.t, row.Msg) }

// recorded checks the record of a message.
func recorded(t *testing.T, m *rpc.Message) {
	const number = 12345
	before := []byte("before")
	values, cause := AppendValues(before, m)
	require.Equal(t, "before", string(values[:len(before)]))
	if cause != "" {
		require.Len(t, values, len(before))
		return
	}
	r := Record{ID: number, Group: 7, Response: m.Kind == rpc.Response, Operation: m.Operation, ResultKind: m.ResultKind, Values: values[len(before):]}
	read := recordReader{t: t, b: r.Append(nil)}
	assert.EqualValues(t, map[bool]byte{false: 1, true: 2}[r.Response], read.take(1)[0])
	assert.EqualValues(t, number, binary.BigEndian.Uint64(read.take(8)))
	assert.EqualValues(t, 7, read.int32())
	for i, want := range []func(op *rpc.Operation) string{
		func(op *rpc.Operation) string { return op.ProtocolVersion },
		func(op *rpc.Operation) string { return op.Service },
		func(op *rpc.Operation) string { return op.Version },
		func(op *rpc.Operation) string { return op.Method },
		descriptor,
	} {
		text, null := read.text()
		if !null {
			assert.Equal(t, want(m.Operation), text, i)
		}
	}
	read.take(1)
	for n := read.int32(); n > 0; n-- {
		read.node(1)
	}
	about := read.take(1)[0]
	if about&hasAttachments != 0 {
		read.node(1)
	}
	if about&lacksValues != 0 {
		text, _ := read.text()
		assert.NotEmpty(t, text)
	}
	assert.Empty(t, read.b)
}

// A collection in a wrapper is shown as one value; its class has both. So has the one whose elements lie in a map.
func TestWrappers(t *testing.T) {
	classes := classSink{}
	for _, name := range []string{"zoo-java", "zoo-nativejava"} {
		src, err := capture.Open([]string{testkit.Get(t, name).Path()}, capture.Options{})
		require.NoError(t, err)
		_, err = pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Values, Rows: true}, classes)
		if err != io.EOF {
			require.NoError(t, err)
		}
		require.NoError(t, src.Close())
	}
	for _, class := range []string{
		"java.util.Collections$UnmodifiableCollection<java.util.ArrayList>", "java.util.Collections$SynchronizedList<java.util.ArrayList>",
		"java.util.Collections$SynchronizedMap<java.util.HashMap>", "java.util.Collections$SetFromMap", "java.util.concurrent.CopyOnWriteArraySet",
	} {
		assert.Contains(t, classes, class)
	}
}

type classSink map[string]bool

func (classSink) Call(*call.Call, bool) {}

func (s classSink) Frame(row *pipeline.Row) {
	for i := range row.Msg.Tree.Nodes {
		s[row.Msg.Tree.Nodes[i].Class] = true
	}
}
