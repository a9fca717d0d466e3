package protostuff

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/formats/formattest"
)

// withGraphs returns a format with the classes of the rig's random graphs.
func withGraphs(tb testing.TB, f decode.Format, jars ...string) decode.Format {
	tb.Helper()
	o := classpath.Options{}
	for _, jar := range append(jars, "graphs.jar") {
		o.Paths = append(o.Paths, "../../../../testdata/models/"+jar)
	}
	p, err := classpath.Open(o)
	require.NoError(tb, err)
	tb.Cleanup(func() { assert.NoError(tb, p.Close()) })
	return With(f, p)
}

// Frames are random graphs that the rig wrote; package truth compares others with what Java logged.
func TestClasses(t *testing.T) {
	formattest.Whole(t, withGraphs(t, Format), "testdata/classes_frames.tsv")
}

func TestClasses270(t *testing.T) {
	formattest.Whole(t, withGraphs(t, Format10), "testdata/classes_frames270.tsv")
}

func FuzzClasses(f *testing.F) {
	formattest.Fuzz(f, withGraphs(f, Format), "testdata/classes_frames.tsv")
}

func FuzzClasses270(f *testing.F) {
	formattest.Fuzz(f, withGraphs(f, Format10), "testdata/classes_frames270.tsv")
}

// benchBody is the response of a map of objects, of the rig's graphs.
func benchBody(tb testing.TB, name string) []byte {
	return formattest.Named(tb, "testdata/classes_frames.tsv", name)
}

func BenchmarkClasses(b *testing.B) {
	format := withGraphs(b, Format)
	for _, name := range []string{"wallet 16 S2C", "containers 81 S2C"} {
		body := benchBody(b, name)
		for _, mode := range []struct {
			name string
			tree *decode.Tree
		}{{"walk", nil}, {"values", &decode.Tree{WithValues: true}}} {
			b.Run(name+"/"+mode.name, func(b *testing.B) {
				r := format.New()
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					mode.tree.Reset()
					r.Reset(body, decode.Malformed, mode.tree)
					r.ResultKind()
					r.Value(decode.ByField, "result", 0, "")
					r.Attachments()
				}
			})
		}
	}
}
