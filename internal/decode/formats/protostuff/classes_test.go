package protostuff

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// withGraphs returns a format with the classes of the rig's random graphs.
func withGraphs(tb testing.TB, f decode.Format, jars ...string) decode.Format {
	tb.Helper()
	return With(f, formattest.Models(tb, append(jars, "graphs.jar")...))
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

// Frames were written with a later version of their classes; some of them tell what may have changed.
func TestOtherClasses(t *testing.T) {
	formattest.Whole(t, withGraphs(t, Format), "testdata/misfits_frames.tsv")
}

func FuzzOtherClasses(f *testing.F) {
	formattest.Fuzz(f, withGraphs(f, Format), "testdata/misfits_frames.tsv")
}

const models = "org.dubbowire.rig.models."

// Square has a float side and a String label; Money a String currency, a long cents and a Color, one of three.
func TestMisfits(t *testing.T) {
	f := withGraphs(t, Format)
	for _, c := range []struct{ name, class, message, where, expected, found string }{
		{"it fits", "Square", "0d00000000 120161", "", "", ""},
		{"half a surrogate pair", "Square", "0d00000000 1203eda0bd", "", "", ""},
		{"null", "Square", "0d00000000", "", "", ""},
		{"another field", "Square", "0d00000000 120161 1801", "Square.", "a field of number 1 to 2 of class " + models + "Square", "field 3"},
		{"a primitive field less", "Square", "120161", "Square.side", "field 1, side of class " + models + "Square, which has a value in each message", "none"},
		{"nothing", "Square", "", "Square.side", "field 1, side of class " + models + "Square, which has a value in each message", "none"},
		{"twice", "Square", "0d00000000 0d00000000", "Square.", "a field of number 1 to 2 of class " + models + "Square", "field 1"},
		{"another order", "Square", "120161 0d00000000", "Square.side", "field 1, side of class " + models + "Square, which has a value in each message", "none"},
		{"an int", "Square", "0801", "Square.side", "a float", "a number"},
		{"a message", "Square", "0d00000000 1314", "Square.label", "a text", "a message"},
		{"bytes", "Square", "0d00000000 120280ff", "Square.label", "a text", "bytes that are not UTF-8"},
		{"a length too large", "Square", "0d00000000 127f61", "Square.label", "a text (127 bytes)", "1 bytes to the end of the body"},
		{"another constant", "Money", "1005 1803", "Money.color", "a constant of enum " + models + "Color", "number 3"},
		{"a negative constant", "Money", "1005 18ffffffffffffffffff01", "Money.color", "a constant of enum " + models + "Color", "number -1"},
		{"an object as a constant", "Money", "1005 1b1c", "Money.color", "a number", "a message"},
		{"a boolean", "Flags", "0802", "Flags.a", "a boolean", "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := value(models+c.class, c.message)
			formattest.Check(t, f, body)
			r := f.New().(*classReader)
			tree := decode.Tree{WithValues: true}
			r.Reset(body, decode.Malformed, &tree)
			r.Value(decode.ByField, "result", 0, "")
			require.Nil(t, r.Err())
			if c.expected == "" {
				require.Nil(t, r.Fault())
				return
			}
			require.NotNil(t, r.Fault())
			assert.Equal(t, decode.Malformed, r.Fault().Cause)
			assert.Equal(t, c.expected, r.Fault().Expected)
			assert.Equal(t, c.found, r.Fault().Found)
			assert.True(t, r.Misfits(r.Fault()))
			class, field := r.Stopped()
			assert.Equal(t, models+c.where, class+"."+field)
			assert.Equal(t, decode.Opaque, tree.Nodes[len(tree.Nodes)-1].Kind)

			// Without a tree it stops at the same place.
			fault := *r.Fault()
			r.Reset(body, decode.Malformed, nil)
			r.Value(decode.ByField, "result", 0, "")
			require.NotNil(t, r.Fault())
			assert.Equal(t, fault, *r.Fault())
			class, field = r.Stopped()
			assert.Equal(t, models+c.where, class+"."+field)

			// A reader that distrusts its classes says why.
			r.Distrust(&decode.Error{Cause: decode.Unsupported, Expected: "the fields", Found: "others"})
			r.Reset(body, decode.Malformed, nil)
			r.Value(decode.ByField, "result", 0, "")
			require.NotNil(t, r.Fault())
			assert.Equal(t, "the fields", r.Fault().Expected)
			assert.False(t, r.Misfits(r.Fault()))
		})
	}
}

// A class that is missing is named, and does not keep the rest from being read.
func TestMissingClass(t *testing.T) {
	f := withGraphs(t, Format)
	square := "fa07 1f 6f72672e647562626f776972652e7269672e6d6f64656c732e537175617265 0d00000000 120161"
	gone := "fa07 06 712e476f6e65 0801 130801141e00"
	body := value(wrapper, "0b ca01 09 41727261794c697374 0b "+gone+" 0c 0b "+square+" 0c 0e02 0e03 0c")
	formattest.Check(t, f, body)
	r := f.New().(*classReader)
	tree := decode.Tree{WithValues: true}
	r.Reset(body, decode.Malformed, &tree)
	r.Value(decode.ByField, "result", 0, "")
	require.Nil(t, r.Err())
	assert.Equal(t, `[{"@class":"q.Gone","#opaque":{"@opaque":9}},{"@class":"org.dubbowire.rig.models.Square","side":0,"label":"a"},{"@opaque":2},{"@ref":"result[1]"}]`,
		string(tree.AppendJSON(nil, 0)))
	require.NotNil(t, r.Fault())
	assert.Equal(t, "q.Gone", r.Fault().Class)
	assert.Equal(t, decode.Unsupported, r.Fault().Cause)
	assert.False(t, r.Misfits(r.Fault()))
	missing, found := r.library.path.Missing()
	assert.Equal(t, []string{"q.Gone"}, missing)
	assert.Equal(t, 1, found)
}

// Objects that cannot be are opaque. Node has the fields name, next and others.
func TestHostileClasses(t *testing.T) {
	f := withGraphs(t, Format)
	for _, c := range []struct{ name, class, message string }{
		{"an interface", models + "Shape", "0801"},
		{"an abstract class", models + "Base", "0801"},
		{"a constant", models + "Color", "0801"},
		{"nested too deep", models + "Node", strings.Repeat("13", 1200) + strings.Repeat("14", 1200)},
		{"a message without end", models + "Node", "13"},
		{"the end of another message", models + "Node", "131c"},
		{"a reference to a later object", models + "Node", "1605"},
		{"a list in a list in a list", wrapper, strings.Repeat("0b e00100 53 ", 1200)},
		{"views without end", wrapper, "0b e00100" + strings.Repeat("53", 1200)},
		{"copies without number", wrapper, "0b e00100 3000 0c"},
		{"2^63 copies", wrapper, "0b e00100 3000 08ffffffffffffffff7f 130801140c"},
		{"a class of 300 dimensions", wrapper, "0b a20103696e74 10ac02 0c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := value(c.class, c.message)
			formattest.Check(t, f, body)
			r := f.New().(*classReader)
			r.Reset(body, decode.Malformed, nil)
			r.Value(decode.ByField, "result", 0, "")
			require.Nil(t, r.Err())
			require.NotNil(t, r.Fault())
			assert.NotEmpty(t, r.Fault().Expected)
			assert.Equal(t, len(body), r.Offset())
		})
	}
}

// Objects of classes that were met before are walked without allocation.
func TestClassesDoNotAllocate(t *testing.T) {
	body := benchBody(t, "wallet 16 S2C")
	r := withGraphs(t, Format).New()
	walk := func() {
		r.Reset(body, decode.Malformed, nil)
		r.ResultKind()
		r.Value(decode.ByField, "result", 0, "")
	}
	walk()
	require.Nil(t, r.Err())
	assert.Zero(t, testing.AllocsPerRun(100, walk))
}

// The changes of one field after which a body fits. Square has a float and a String.
func TestVary(t *testing.T) {
	f := withGraphs(t, Format)
	for _, c := range []struct{ message, want string }{
		{"0d00000000 120161 1801", "has another field (an int) after label, or another field (a long) after label, or another field (an Integer) after label, or another field (a Long) after label (4 more changes fit)"},
		{"0d00000000 1005 1a0161", "has another field (an int) after side, or another field (a long) after side, or another field (an Integer) after side, or another field (a Long) after side (2 more changes fit)"},
		{"0a0161", "has no field side, or field side as a String"},
		{"0d00000000 1005", "has field label as an int, or field label as a long, or field label as an Integer, or field label as a Long (8 more changes fit)"},
	} {
		body := value(models+"Square", c.message)
		r := f.New().(*classReader)
		r.WrittenBy(decode.Provider)
		whole := func(tree *decode.Tree) (bool, int) {
			r.Reset(body, decode.Malformed, tree)
			r.Value(decode.ByField, "result", 0, "")
			return r.Fault() == nil, len(body)
		}
		ok, _ := whole(nil)
		require.False(t, ok)
		m := decode.NewMisfit(r, decode.Provider, r.Fault())
		m.Search(r, whole)
		assert.Equal(t, "the writer's "+models+"Square "+c.want, m.Text(), c.message)
	}
}
