package hessian2

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// benchBodies are what the body of a call looks like at three sizes: a list of users, an exception, a long text.
func benchBodies() map[string][]byte {
	w := new(writer)
	w.typed("java.util.ArrayList", 100)
	for i := range 100 {
		w.object("org.example.User", "name", "email", "id", "age", "created", "tags", "score")
		w.str("user name").str("user@example.org").long(int64(i) << 20).int(i).date(1700000000000 + int64(i))
		w.typed("java.util.ArrayList", 3).str("a").str("bc").str("def").double(0.5 + float64(i))
	}
	ascii := new(writer).str(string(bytes.Repeat([]byte("0123456789"), 5000)))
	chinese := new(writer).str(string(bytes.Repeat([]byte("编码解码"), 4000)))
	ints := new(writer).typed("[int", 5000)
	for i := range 5000 {
		ints.int(i)
	}
	return map[string][]byte{"users": w.b, "text": ascii.b, "chinese": chinese.b, "ints": ints.b}
}

func BenchmarkValue(b *testing.B) {
	for name, body := range benchBodies() {
		for _, mode := range []struct {
			name string
			tree *decode.Tree
		}{
			{"walk", nil},
			{"spans", new(decode.Tree)},
			{"values", &decode.Tree{WithValues: true}},
		} {
			b.Run(name+"/"+mode.name, func(b *testing.B) {
				r := New()
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					mode.tree.Reset()
					r.Reset(body, decode.Malformed, mode.tree)
					r.Value(decode.ByField, "result", 0, "")
				}
				if r.Err() != nil || r.Offset() != len(body) {
					b.Fatal(r.Err())
				}
			})
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	for _, row := range formattest.Frames(b, frameRows) {
		if row.Name == "user C2S" && row.Source == "Dubbo 2.7.8, hessian2" {
			formattest.Bench(b, Format, row.Body)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	for name, body := range benchBodies() {
		r := New()
		walk := func() {
			r.Reset(body, decode.Malformed, nil)
			r.Value(decode.ByField, "result", 0, "")
		}
		require.Zero(t, testing.AllocsPerRun(20, walk), "walk %s", name)
		require.Nil(t, r.Err())
		require.Equal(t, len(body), r.Offset())
	}
	w := new(writer).str("2.0.2").str("org.example.Service").str("0.0.0").str("call").str("I").int(1)
	formattest.NoAllocs(t, Format, w.m("path", "org.example.Service").b)

	// Names are kept from body to body, so that spans cost nothing either.
	tree, r := new(decode.Tree), New()
	body := benchBodies()["users"]
	require.Zero(t, testing.AllocsPerRun(20, func() {
		tree.Reset()
		r.Reset(body, decode.Malformed, tree)
		r.Value(decode.ByField, "result", 0, "")
	}), "spans")
}
