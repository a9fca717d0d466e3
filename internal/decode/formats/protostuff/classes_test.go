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
