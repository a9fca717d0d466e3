package furycompatible

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/formats/fury"
)

// withModels returns a format whose readers know the classes of the committed captures.
func withModels(tb testing.TB, f decode.Format) decode.Format {
	tb.Helper()
	return fury.With(f, formattest.Rig(tb, classpath.Options{}))
}

// Frames are of the capture edge-fury-compatible-3.2.16, whose values package truth compares with what Java logged.
func TestClasses(t *testing.T) {
	formattest.Whole(t, withModels(t, Format), "testdata/classes_frames.tsv")
}

func FuzzClasses(f *testing.F) {
	formattest.Fuzz(f, withModels(f, Format), "testdata/classes_frames.tsv")
}

// TestHostileClasses: fields that no class has are shown with the names that their tags have, and tags that are none are an error.
func TestHostileClasses(t *testing.T) {
	format := withModels(t, Format)
	const node = "00 01 00 0000000000000000 1600 6f72672e647562626f776972652e7269672e65646765 00 0000000000000000 0400 4e6f6465" // org.dubbowire.rig.edge.Node
	const end = "feffffffffffff7f"
	for _, c := range []struct{ name, hex, want string }{
		{"an int with another name", node + "25 3f0600 04" + end, `"@class":"org.dubbowire.rig.edge.Node"`},
		{"a field again", node + "25270b00 04 25270b00 04" + end, "@opaque"},
		{"no end", node + "25270b00 04", "@opaque"},
		{"another end", node + "02000000 00000000", "@opaque"},
		{"a class that has no number", node + "fd270b00 04" + end, "@opaque"},
		{"a kind of field that is none", node + "c4c1450d12650b0e 00 07" + end, "@opaque"},
	} {
		body := formattest.Hex(c.hex)
		body = append([]byte{byte(len(body)), 0, 0, 0}, body...)
		assert.Contains(t, formattest.Value(t, format, body), c.want, c.name)
		formattest.Check(t, format, body)
	}
}
