package kryo

import (
	"testing"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// withAnnotated returns a format whose readers know the classes with annotations that random graphs are made of.
func withAnnotated(tb testing.TB, f decode.Format) decode.Format {
	tb.Helper()
	return With(f, formattest.Models(tb, "annotated.jar", "graphs.jar"))
}

// Frames are random graphs that Dubbo 2.7.23 and 3.2.16 wrote, of which package truth compares more with what Java says.

func TestAnnotated(t *testing.T) {
	formattest.Whole(t, withAnnotated(t, Format), "testdata/annotated_frames.tsv")
}

func TestAnnotated5(t *testing.T) {
	formattest.Whole(t, withAnnotated(t, Format5), "testdata/annotated_frames5.tsv")
}

func FuzzAnnotated(f *testing.F) {
	formattest.Fuzz(f, withAnnotated(f, Format), "testdata/annotated_frames.tsv")
}

func FuzzAnnotated5(f *testing.F) {
	formattest.Fuzz(f, withAnnotated(f, Format5), "testdata/annotated_frames5.tsv")
}
