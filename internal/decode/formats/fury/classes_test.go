package fury

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/formats/formattest"
)

// withModels returns a format whose readers know the classes of the committed captures.
func withModels(tb testing.TB, f decode.Format) decode.Format {
	tb.Helper()
	return With(f, formattest.Rig(tb, classpath.Options{}))
}

// Frames are of the capture edge-fury-3.2.16, whose values package truth compares with what Java logged.
func TestClasses(t *testing.T) {
	formattest.Whole(t, withModels(t, Format), "testdata/classes_frames.tsv")
}

func FuzzClasses(f *testing.F) {
	formattest.Fuzz(f, withModels(f, Format), "testdata/classes_frames.tsv", "testdata/values.tsv")
}

// withGraphs returns a format whose readers know the classes of the rig's graphs.
func withGraphs(tb testing.TB, f decode.Format) decode.Format {
	tb.Helper()
	return With(f, formattest.Models(tb, "graphs.jar"))
}

// Bodies are of the rig's graphs, whose values package truth compares with what Java wrote.
func TestLaterClasses(t *testing.T) {
	formattest.WantsBodies(t, withGraphs(t, Format010), "testdata/classes_later.tsv")
}

func FuzzLaterClasses(f *testing.F) {
	formattest.Fuzz(f, withGraphs(f, Format010), "testdata/classes_later.tsv", "testdata/values-later.tsv")
}

// TestHostileLaterClasses: maps, names and arrays of 0.10 that cannot be.
func TestHostileLaterClasses(t *testing.T) {
	format := withGraphs(t, Format010)
	for _, c := range []struct {
		name, hex string
		cause     decode.Cause
		expected  string
	}{
		{"flags of entries that are none", "44 01 40", decode.Malformed, "the flags of entries"},
		{"a chunk of nothing", "44 01 00 00", decode.Malformed, "up to 1 entries"},
		{"a chunk of too many", "44 01 00 02 2c 2c", decode.Malformed, "up to 1 entries"},
		{"entries without end", "44 ffffff7f 12", decode.Malformed, ""},
		{"a name that was not there", "0f", decode.Malformed, "the number of a name"},
		{"an encoding that is none", "05 07 61 00 00", decode.Malformed, "the encoding of a name"},
		{"a class without a name", "01 00 00 00", decode.Malformed, "the name of a class"},
		{"a name cut", "8101 0000000000000000", decode.Malformed, ""},
		{"strings with other flags", "3e 01 04 00", decode.Malformed, "the flags of strings"},
		{"an array that says another thing", "40 03 fd", decode.Malformed, "the length of an array of [Ljava.lang.Object;"},
		{"a set of another map", "e601 44 00", decode.Unsupported, "a set of the keys of a map"},
		{"a number without end", "5e 00 00 ffffffffffffffffff", decode.Malformed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := document("02 00", c.hex)
			r := format.New()
			tree := decode.Tree{WithValues: true}
			r.Reset(body, decode.Malformed, &tree)
			r.Value(decode.ByField, "result", 0, "")
			require.Nil(t, r.Err())
			require.Equal(t, len(body), r.Offset())
			formattest.Balance(t, &tree, len(body))
			err := r.(decode.Faulter).Fault()
			require.NotNil(t, err)
			if c.expected != "" {
				assert.Equal(t, c.expected, err.Expected)
				assert.Equal(t, c.cause, err.Cause, err.Expected)
			}
			formattest.Check(t, format, body)
		})
	}
}

// document is a value: a length, a reference flag and the rest.
func document(hex ...string) []byte {
	doc := formattest.Hex(hex...)
	return append(le.AppendUint32(nil, uint32(len(doc))), doc...)
}

// named is a class with its name.
func named(name string) string {
	at := strings.LastIndexByte(name, '.')
	part := func(s string) string {
		var b strings.Builder
		b.WriteString("00 0000000000000000 ")
		b.WriteString(hexOf(byte(len(s)), byte(len(s)>>8)))
		b.WriteString(hexOf([]byte(s)...))
		return b.String()
	}
	return "01" + part(name[:max(at, 0)]) + part(name[at+1:])
}

func hexOf(b ...byte) string {
	const digits = "0123456789abcdef"
	var s strings.Builder
	for _, c := range b {
		s.WriteByte(digits[c>>4])
		s.WriteByte(digits[c&15])
	}
	return s.String()
}

const edge = "org.dubbowire.rig.edge."

// TestHostileClasses: what a class cannot be is opaque, and the fault says why.
func TestHostileClasses(t *testing.T) {
	format := withModels(t, Format)
	for _, c := range []struct {
		name, hex string
		cause     decode.Cause
		expected  string
	}{
		{"no fields", named(edge + "Node"), decode.Malformed, "an int (1 bytes)"},
		{"a reference flag that is none", named(edge+"Node") + "02 17", decode.Malformed, "a reference flag"},
		{"a class that the field does not allow", named(edge+"Node") + "02 fd 00 2c 00 01 61", decode.Malformed, "an object of org.dubbowire.rig.edge.Node"},
		{"bytes after the object", named(edge+"Node") + "02 fd fd fd fd fd fd", decode.Malformed, "the end of an object"},
		{"an ordinal that the enum does not have", named(edge+"Color") + "7f", decode.Malformed, "an ordinal up to 2, since org.dubbowire.rig.edge.Color has 3 constants"},
		{"an interface", named(edge + "EdgeService"), decode.Malformed, "an object"},
		{"a class that is not in the class path", named("org.dubbowire.Missing") + "00", decode.Unsupported, "the fields of class org.dubbowire.Missing"},
		{"an array of 2^31", named("[Lorg.dubbowire.rig.edge.Node;") + "ffffff7f fd", decode.Malformed, "2147483647 elements (268435455 bytes)"},
		{"an array of arrays that has no end", named("[[J") + "ffffffff", decode.Malformed, "4294967295 elements (268435455 bytes)"},
		{"an array without a component", named("["), decode.Malformed, "the name of a class"},
		{"what stands for nothing", "06 05", decode.Malformed, "what stands for an object"},
		{"replaced without end", strings.Repeat("06 01 00", 3000), decode.Limit, "values nested at most 1000 deep"},
		{"a proxy without a handler", "04 00", decode.Malformed, ""},
		{"a set of no enum", "9802 2c 41 00", decode.Unsupported, "the fields of class java.lang.String"},
		{"a set whose count has no end", "9802" + named(edge+"Color") + "ffffffffffffffffff", decode.Malformed, "the number of elements"},
		{"sections of other classes", named(edge+"Custom$Written") + "0100" + named(edge+"Node"), decode.Malformed, "a superclass of org.dubbowire.rig.edge.Custom$Written"},
		{"lambdas in one another", strings.Repeat("02", 20), decode.Malformed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := document("00", c.hex)
			r := format.New()
			tree := decode.Tree{WithValues: true}
			r.Reset(body, decode.Malformed, &tree)
			r.Value(decode.ByField, "result", 0, "")
			require.Nil(t, r.Err())
			require.Equal(t, len(body), r.Offset())
			formattest.Balance(t, &tree, len(body))
			err := r.(decode.Faulter).Fault()
			require.NotNil(t, err)
			assert.Equal(t, c.cause, err.Cause, err.Expected)
			if c.expected != "" {
				assert.Equal(t, c.expected, err.Expected)
			}
			formattest.Check(t, format, body)
		})
	}
}

// A body misfits if it has objects whose fields were read, and then something that cannot be; it does not if a class is
// missing. A reader that distrusts its classes says why.
func TestMisfits(t *testing.T) {
	r := withModels(t, Format).New()
	c := r.(decode.ClassReader)
	read := func(hex string) *decode.Error {
		tree := decode.Tree{WithValues: true}
		r.Reset(document("00", hex), decode.Malformed, &tree)
		r.Value(decode.ByField, "result", 0, "")
		require.NotNil(t, r.(decode.Faulter).Fault())
		return r.(decode.Faulter).Fault()
	}
	c.WrittenBy(decode.Provider)
	node := named(edge+"Node") + "02 17"
	assert.True(t, c.Misfits(read(node)))
	class, field := r.(decode.VaryingReader).Stopped()
	assert.Equal(t, edge+"Node name", class+" "+field)
	c.Distrust(&decode.Error{Cause: decode.Unsupported, Expected: "the fields", Found: "others"})
	assert.Equal(t, "the fields", read(node).Expected)
	c.Distrust(nil)
	assert.False(t, c.Misfits(read(named("org.dubbowire.Missing")+"00")))
	assert.True(t, c.Misfits(read(named(edge+"Color")+"7f")))
}

// The hash of names is MurmurHash3_x64_128 with seed 47: tags that Fury wrote for long and short names.
func TestTags(t *testing.T) {
	assert.Equal(t, detailMessageTag, string(le.AppendUint64(nil, tagOf(&field{is: &declared{class: classes[22], final: true}}, "detailMessage"))))
	for _, name := range []string{"a", "Z9", "name", "children", "ninechars"} {
		tag := tagOf(&field{is: primitiveTypes['I']}, name)
		assert.Equal(t, name, nameOf(tag))
		assert.NotZero(t, tag&1)
	}
}

// Objects of classes that were met before are walked without allocation.
func TestClassesDoNotAllocate(t *testing.T) {
	format := withModels(t, Format)
	body := formattest.Named(t, "testdata/classes_frames.tsv", "Node S2C")[1:]
	r := format.New()
	walk := func() {
		r.Reset(body, decode.Malformed, nil)
		r.Value(decode.ByField, "result", 0, "")
	}
	walk()
	require.Nil(t, r.(decode.Faulter).Fault())
	assert.Zero(t, testing.AllocsPerRun(100, walk))
}

func BenchmarkClasses(b *testing.B) {
	format := withModels(b, Format)
	for _, name := range []string{"Node S2C", "Lists S2C", "Maps S2C"} {
		body := formattest.Named(b, "testdata/classes_frames.tsv", name)[1:]
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
					r.Value(decode.ByField, "result", 0, "")
				}
			})
		}
	}
}

// What is counted without a tree is what the tree says.
func TestCounted(t *testing.T) {
	formattest.Damaged(t, withModels(t, Format), "testdata/classes_frames.tsv")
}
