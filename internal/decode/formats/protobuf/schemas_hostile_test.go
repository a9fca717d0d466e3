package protobuf

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/dev/testkit"
)

// hostile is a schema with all that nests and all that is checked.
const hostile = `
	syntax = "proto2";
	package a;
	import "google/protobuf/any.proto";
	import "google/protobuf/struct.proto";
	import "google/protobuf/timestamp.proto";
	import "google/protobuf/wrappers.proto";
	import "google/protobuf/field_mask.proto";
	message M {
		optional M m = 1;
		repeated M list = 2;
		map<string, M> map = 3;
		optional group G = 4 { optional M m = 1; optional G g = 4; }
		optional google.protobuf.Any any = 5;
		optional google.protobuf.Struct struct = 6;
		repeated int32 numbers = 7;
		optional string text = 8;
		optional google.protobuf.Timestamp at = 9;
		optional google.protobuf.BytesValue bytes = 10;
		optional google.protobuf.FieldMask mask = 11;
		optional google.protobuf.Value value = 12;
		oneof o { sint64 one = 13; fixed32 two = 14; }
		optional E e = 15;
		map<int32, E> es = 16;
		optional R r = 17;
	}
	message R { required int32 id = 1; required string name = 2; }
	enum E { ZERO = 0; }
	service S { rpc Get(M) returns (M); }
`

// FuzzSchemas: whatever the bytes are, each has one owner, and counting finds the same.
func FuzzSchemas(f *testing.F) {
	p := opened(f, "m.proto", hostile)
	for _, b := range []string{
		"", "0a020a00", "1a080a016b12020a00", "230a0024", "2a0b0a07782e792f612e4d1200", "320b0a090a016b12041a026162", "3a03010203", "42026162",
		"4a0408011002", "52030a0161", "5a060a01611201", "6202100162", "6801", "7500000000", "7805", "820104080110001a", "8a0105080112016e", "8a01020801", "38ff",
		"0a04a01f0510", "62091a07", "2b0b", "42030a0161",
	} {
		f.Add(formattest.Hex(b))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<12 {
			return
		}
		readAs(t, p, "a.S", "Get", b)
		for cut := range min(len(b), 40) {
			readCut(t, p, b[:cut])
		}
	})
}

// readCut reads the start of a message, of which the capture lacks the rest.
func readCut(t *testing.T, p *classpath.Path, b []byte) {
	r := With(Format, p).New()
	tree := decode.Tree{WithValues: true}
	r.(decode.MethodReader).SetMethod(decode.Consumer, "a.S", "Get")
	r.Reset(b, decode.Cut, &tree)
	r.(decode.MethodReader).Whole(decode.ByField, "result", 0)
	tree.CloseTo(0)
	formattest.Balance(t, &tree, r.Offset())
	if f := r.(decode.Faulter).Fault(); f != nil && f.Misfit != nil {
		assert.NotContains(t, f.Misfit.Found, "the end of the message", "what is required may follow")
	}
}

// Messages are nested as deep as protobuf's own readers take them, in whatever they are nested, and the rest is bytes.
func TestSchemaDepth(t *testing.T) {
	p := opened(t, "m.proto", hostile)
	for name, wrap := range map[string]func(b []byte) []byte{
		"messages": func(b []byte) []byte { return delimit(0x0a, b) },
		"lists":    func(b []byte) []byte { return append(delimit(0x12, b), 0x12, 0) },
		"maps":     func(b []byte) []byte { return delimit(0x1a, append([]byte{0x0a, 1, 'k'}, delimit(0x12, b)...)) },
		"groups":   func(b []byte) []byte { return append(append([]byte{0x23}, b...), 0x24) },
		"any":      func(b []byte) []byte { return delimit(0x2a, append([]byte("\x0a\x05x/a.M"), delimit(0x12, b)...)) },
		"values": func(b []byte) []byte {
			return delimit(0x32, delimit(0x0a, append([]byte{0x0a, 0}, delimit(0x12, delimit(0x2a, b))...)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b []byte
			for range 300 {
				if name == "values" && len(b) > 0 {
					b = b[protowireTag(b):] // a Struct in a Value, not in a field
				}
				b = wrap(b)
			}
			text, fault := readAs(t, p, "a.S", "Get", b)
			require.NotNil(t, fault)
			assert.Contains(t, []decode.Cause{decode.Limit, decode.Malformed, decode.Unsupported}, fault.Cause)
			assert.Less(t, bytes.Count([]byte(text), []byte("{")), 4*maxNested)
		})
	}
}

// protowireTag returns the bytes of the first tag and length.
func protowireTag(b []byte) int {
	_, _, n := protowire.ConsumeTag(b)
	_, k := protowire.ConsumeVarint(b[n:])
	return n + k
}

// The time for a message with a schema grows with its length, however it is nested, and whatever nearly fits it.
func TestSchemaTime(t *testing.T) {
	const size, deep = 1 << 18, maxNested - 4
	p := opened(t, "m.proto", hostile)
	f := With(Format, p)
	tree := &decode.Tree{WithValues: true}
	best := func(body []byte) time.Duration {
		least := time.Hour
		for range 5 {
			tree.Reset()
			r := f.New()
			r.(decode.MethodReader).SetMethod(decode.Consumer, "a.S", "Get")
			used := testkit.CPU()
			r.Reset(body, decode.Malformed, tree)
			r.(decode.MethodReader).Whole(decode.ByField, "result", 0)
			least = min(least, used())
			require.Nil(t, r.Err())
		}
		return least
	}
	flat := best(bytes.Repeat([]byte{0x12, 0}, size/8))
	for name, b := range map[string][]byte{
		"a text":                      delimit(0x42, bytes.Repeat([]byte("x"), size)),
		"texts that are messages":     bytes.Repeat(delimit(0x42, []byte{8, 1}), size/16),
		"lists":                       bytes.Repeat([]byte{0x12, 0}, size/8),
		"texts instead of messages":   bytes.Repeat(delimit(0x12, []byte("}    }    ")), size/32),
		"packed":                      delimit(0x3a, bytes.Repeat([]byte{1}, size/8)),
		"what is required is missing": bytes.Repeat(delimit(0x12, []byte{0x8a, 1, 0}), size/16),
	} {
		t.Run(name, func(t *testing.T) {
			nested := b
			for range deep {
				nested = delimit(0x0a, nested)
			}
			assert.Less(t, best(nested), 20*flat+100*time.Millisecond, "flat %s", flat)
		})
	}
}

// Reading with a schema and without a tree allocates nothing.
func TestSchemaAllocs(t *testing.T) {
	p := opened(t, "m.proto", hostile)
	body := typical(t)
	r := With(Format, p).New()
	r.(decode.MethodReader).SetMethod(decode.Consumer, "a.S", "Get")
	read := func() {
		r.Reset(body, decode.Malformed, nil)
		r.(decode.MethodReader).Whole(decode.ByField, "result", 0)
	}
	read()
	require.Nil(t, r.(decode.Faulter).Fault())
	assert.Zero(t, testing.AllocsPerRun(100, read))
}

// typical is a message with something of everything.
func typical(tb testing.TB) []byte {
	tb.Helper()
	one := formattest.Hex("1a 07 0a 01 6b 12 02 0a 00", "32 0b 0a 09 0a 01 6b 12 04 1a 02 6162", "3a 03 010203", "42 05 68656c6c6f", "4a 04 0801 1002", "52 03 0a 0161",
		"5a 03 0a 01 61", "62 02 1a 00", "68 01", "78 00", "8201 04 0801 1000", "8a01 05 0801 1201 6e")
	var b []byte
	for range 20 {
		b = append(b, delimit(0x12, one)...)
	}
	return b
}

func BenchmarkWithSchema(b *testing.B) {
	p := opened(b, "m.proto", hostile)
	body := typical(b)
	for name, tree := range map[string]*decode.Tree{"counting": nil, "tree": {WithValues: true}} {
		for schema, f := range map[string]decode.Format{"schema": With(Format, p), "guess": Format} {
			b.Run(name+" "+schema, func(b *testing.B) {
				r := f.New()
				if m, ok := r.(decode.MethodReader); ok {
					m.SetMethod(decode.Consumer, "a.S", "Get")
				}
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					tree.Reset()
					r.Reset(body, decode.Malformed, tree)
					r.(decode.WholeReader).Whole(decode.ByField, "result", 0)
				}
			})
		}
	}
}
