package furycompatible

import (
	"strings"
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

// withGraphs returns a format whose readers know the classes of the rig's graphs.
func withGraphs(tb testing.TB, f decode.Format) decode.Format {
	tb.Helper()
	return fury.With(f, formattest.Models(tb, "graphs.jar"))
}

// Bodies are of the rig's graphs, whose values package truth compares with what Java wrote.
func TestLaterClasses(t *testing.T) {
	formattest.WantsBodies(t, withGraphs(t, Format010), "testdata/classes_later.tsv")
}

// TestCollectionsInMaps: the generated code counts the elements of collections that are keys or values, whatever their flags say. Fury wrote
// these bodies with values of the rig's class Shelves.
func TestCollectionsInMaps(t *testing.T) {
	formattest.WantsBodies(t, withGraphs(t, Format), "testdata/classes_collections.tsv")
}

func FuzzLaterClasses(f *testing.F) {
	formattest.Fuzz(f, withGraphs(f, Format010), "testdata/classes_later.tsv")
}

// TestHostileDefinitions: what is not a definition of a class, and bombs.
func TestHostileDefinitions(t *testing.T) {
	format := withGraphs(t, Format010)
	for name, hex := range map[string]string{
		"after the document":    "02 10000000 00 2c 08 6162",
		"none":                  "02 04000000 00 2c 08 6162",
		"no bytes":              "02 03000000 00 01 00 00",
		"many":                  "02 03000000 00 01 00 ffffff7f",
		"a length without end":  "02 03000000 00 01 00 01 70ffffffffffffff ff",
		"no zlib":               "02 03000000 00 01 00 01 c000000000000000 03 616263",
		"a number of layers":    "02 03000000 00 01 00 01 5f00000000000000 01 ff",
		"a class that is none":  "02 02000000 00 07 01 5000000000000000 02 00 00",
		"fields without end":    "02 02000000 00 01 01 5000000000000000 05 feffffff7f",
		"types in one another":  "02 02000000 00 01 01 5000000000000000 40 02 00 0441 00 61" + strings.Repeat("02", 58),
		"an array of many dims": "02 02000000 00 01 01 5000000000000000 0c 02 00 0441 00 61 03 ffff7f 16",
	} {
		body := formattest.Hex(hex)
		body = append([]byte{byte(len(body)), byte(len(body) >> 8), 0, 0}, body...)
		assert.Contains(t, formattest.Value(t, format, body), "@opaque", name)
		formattest.Check(t, format, body)
	}
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

// What is counted without a tree is what the tree says.
func TestCounted(t *testing.T) {
	formattest.Damaged(t, withModels(t, Format), "testdata/classes_frames.tsv")
}
