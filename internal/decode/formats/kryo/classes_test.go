package kryo

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats/formattest"
)

// withModels returns a format whose readers know the classes of the committed captures.
func withModels(tb testing.TB, f decode.Format) decode.Format {
	tb.Helper()
	return With(f, formattest.Rig(tb, classpath.Options{}))
}

// Frames are of the captures edge-kryo and edge-kryo-3.2.16, whose values package truth compares with what Java logged.

func TestClasses(t *testing.T) {
	formattest.Whole(t, withModels(t, Format), "testdata/classes_frames.tsv")
}

func TestClasses5(t *testing.T) {
	formattest.Whole(t, withModels(t, Format5), "testdata/classes_frames5.tsv")
}

// Where objects have no reference byte, or it is not known whether they have one, nothing is taken for a reference.
func TestNoReferences5(t *testing.T) {
	const emptyList, end = "23 01 01", "22 01 01"
	color := hex.EncodeToString([]byte("org.dubbowire.rig.edge.Colo")) + "f2"
	for _, body := range [][]byte{
		formattest.Hex("04 23 01 17", strings.Repeat(emptyList, 4), "01 00", color, "02", "01 00 05", strings.Repeat("00", 16), end), // a constant that the enum does not have
		formattest.Hex("04 23 01 92 83 01 00", strings.Repeat("02", 17), end),                                                        // a class that is not known
	} {
		formattest.Check(t, withModels(t, Format5), body)
	}
}

func FuzzClasses(f *testing.F) {
	formattest.Fuzz(f, withModels(f, Format), "testdata/classes_frames.tsv")
}

func FuzzUntaggedClasses(f *testing.F) {
	format := Format5
	format.New = NewUntagged5
	formattest.Fuzz(f, withModels(f, format), "testdata/classes_frames5.tsv", "testdata/frames5.tsv")
}

func FuzzClasses5(f *testing.F) {
	formattest.Fuzz(f, withModels(f, Format5), "testdata/classes_frames5.tsv")
}

// numbered returns the format with the classes that the rig's optimizer registers.
func numbered(tb testing.TB) decode.Format {
	return With(Format5, formattest.Rig(tb, classpath.Options{Optimizers: []string{formattest.RigOptimizer}}))
}

// Frames are of the capture kryo-optimizer-3.2.16, whose values package truth compares with what Java logged. The order in which classes
// were registered is not known there.
func TestNumbers5(t *testing.T) { formattest.Whole(t, numbered(t), "testdata/numbers_frames5.tsv") }

func FuzzNumbers5(f *testing.F) {
	formattest.Fuzz(f, numbered(f), "testdata/numbers_frames5.tsv")
}

// The search for what numbers stand for reads no more than its bound, and none takes place for each variation of a class.
func TestSearchIsBounded(t *testing.T) {
	r := numbered(t).New().(*classReader)
	var hex strings.Builder
	for id := len(kryo5.classes); id < len(kryo5.classes)+7; id++ { // an array of objects without fields that are set
		hex.WriteString(fmt.Sprintf("%02x 01 00 00 00 00 00 00", id+idOffset))
	}
	body := formattest.Hex("30 01 7f", strings.Repeat(hex.String(), 100))
	r.Reset(body, decode.Malformed, nil)
	for r.OK() && r.Off < len(body) {
		r.Value(decode.ByField, "result", 0, "")
	}
	assert.Positive(t, r.tried)
	assert.LessOrEqual(t, r.tried, r.maxTried()+len(body)+1<<8)
	r.variation = &decode.Variation{Class: "p.Other"}
	r.Reset(body, decode.Malformed, nil)
	r.Value(decode.ByField, "result", 0, "")
	assert.Zero(t, r.tried)
}

const (
	shadow = "0100 6f72672e6475626f"                                                   // cut
	node   = "0100 6f72672e6475" + "62626f776972652e7269672e656467652e4e6f64e5" + "01" // org.dubbowire.rig.edge.Node
	color  = "0100 6f72672e6475" + "62626f776972652e7269672e656467652e436f6c6ff2"      // org.dubbowire.rig.edge.Color
)

func TestHostileClasses(t *testing.T) {
	formattest.Stops(t, withModels(t, Format), []formattest.Hostile{
		{Name: "a class name cut", Body: formattest.Hex(shadow), Cause: decode.Malformed},
		{Name: "no fields", Body: formattest.Hex(node), Cause: decode.Malformed},
		{Name: "an ordinal that the enum does not have", Body: formattest.Hex(color, "01 7f"), Cause: decode.Malformed},
		{Name: "a class that the field does not allow", Body: formattest.Hex(node, "0202"), Cause: decode.Malformed},
		{Name: "a name that is none", Body: formattest.Hex(node, "0101 61ba"), Cause: decode.Malformed},
		{Name: "nested too deep", Body: formattest.Hex(node, "0000 02 00", strings.Repeat("010001 0000 02 00", 1200)), Cause: decode.Limit},
		{Name: "a comparator that is none", Body: formattest.Hex("27 01 02 01 00"), Cause: decode.Malformed},
		{Name: "a class that is not in the class path", Body: formattest.Hex("0100 47656e24557365f2 01 0e"), Cause: decode.Unsupported},
	})
}

// A body misfits if it has objects whose fields were read, and then something that cannot be; it does not if a class is
// missing. A reader that distrusts its classes says why.
func TestMisfits(t *testing.T) {
	r := withModels(t, Format).New()
	c := r.(decode.ClassReader)
	read := func(hex ...string) *decode.Error {
		r.Reset(formattest.Hex(hex...), decode.Malformed, nil)
		r.Value(decode.ByField, "result", 0, "")
		require.NotNil(t, r.Err())
		return r.Err()
	}
	c.WrittenBy(decode.Provider)
	err := read(node, "0202")
	assert.Equal(t, "an object of java.util.Map", err.Expected)
	assert.True(t, c.Misfits(err))
	c.Distrust(&decode.Error{Cause: decode.Unsupported, Expected: "the fields", Found: "others"})
	err = read(node, "0202")
	assert.Equal(t, decode.Unsupported, err.Cause)
	assert.Equal(t, "the fields", err.Expected)
	c.Distrust(nil)
	assert.False(t, c.Misfits(read("0100 47656e24557365f2 01 0e")))
	assert.True(t, c.Misfits(read(color, "01 7f")))
}

// The views of the JDK's maps are collections.
func TestMapViews(t *testing.T) {
	for _, view := range []string{"HashMap$KeySet", "HashMap$Values", "LinkedHashMap$LinkedKeySet", "LinkedHashMap$LinkedValues", "TreeMap$KeySet", "TreeMap$Values", "Collections$SetFromMap"} {
		name := []byte("java.util." + view)
		name[len(name)-1] |= 0x80
		tree := decode.Tree{WithValues: true}
		r := withModels(t, Format).New()
		r.Reset(formattest.Hex("0100", hex.EncodeToString(name), "01 02 0202 0204"), decode.Malformed, &tree)
		r.Value(decode.ByField, "result", 0, "Ljava/util/Collection;")
		require.Nil(t, r.Err(), view)
		assert.Equal(t, "[1,2]", (&formattest.Message{Tree: tree}).Value("result"), view)
	}
}

// A value whose class cannot be where its type is declared does not fit, nor do bytes behind what a list of registered classes said.
func TestDeclaredTypes(t *testing.T) {
	const node, color = "Lorg/dubbowire/rig/edge/Node;", "Lorg/dubbowire/rig/edge/Color;"
	path := formattest.Rig(t, classpath.Options{Lists: []string{formattest.List(t, "org.dubbowire.rig.edge.Color", "org.dubbowire.rig.edge.Node")}})
	first := byte(len(kryo4.classes)) + idOffset
	listed := hex.EncodeToString([]byte{first, 1}) // Color
	for _, c := range []struct {
		name, typ, hex string
		bad, misfit    bool
	}{
		{"the declared class", color, listed + "01", false, true},
		{"any class", "Ljava/lang/Object;", listed + "01", false, true},
		{"an interface", "Ljava/lang/Comparable;", listed + "01", false, true},
		{"a type that is not known", "Lorg/dubbowire/rig/edge/Unknown;", listed + "01", false, true},
		{"nothing declared", "", listed + "01", false, true},
		{"another class", node, listed + "01", true, true},
		{"a primitive type", "I", listed + "01", true, true},
		{"an array", "[" + color, listed + "01", true, true},
		{"a class of the JDK", color, "29 01 01", true, true},
		{"null", color, "00", false, false},
		{"an int", "I", "02 02", false, false},
		{"an Integer", "Ljava/lang/Integer;", "02 02", false, false},
		{"classes of the JDK without others", "Ljava/lang/Integer;", "03 01 82 61", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := With(Format, path).New()
			classes := r.(decode.ClassReader)
			classes.WrittenBy(decode.Consumer)
			read := func() *decode.Error {
				r.Reset(formattest.Hex(c.hex), decode.Malformed, nil)
				r.Value(decode.ByIndex, "", 0, c.typ)
				return r.Err()
			}
			err := read()
			assert.Equal(t, c.bad, err != nil)
			if err == nil {
				err = &decode.Error{Cause: decode.Malformed} // bytes are left over
			}
			assert.Equal(t, c.misfit, classes.Misfits(err))
			assert.Equal(t, strings.HasPrefix(c.hex, listed), r.(decode.ListReader).Listed())
			classes.Distrust(&decode.Error{Cause: decode.Unsupported, Expected: "others"})
			err = read()
			require.Equal(t, c.misfit, err != nil && err.Expected == "others", "%v", err)
		})
	}
}

// A first argument of which the list says a class that it cannot have refutes the list for the connection.
func TestRefutedList(t *testing.T) {
	path := formattest.Rig(t, classpath.Options{Lists: []string{formattest.List(t, "org.dubbowire.rig.edge.Color")}})
	d := dubbo.NewDecoder([]decode.Format{With(Format, path)})
	text := func(s string) string {
		return hex.EncodeToString([]byte(s[:len(s)-1])) + hex.EncodeToString([]byte{s[len(s)-1] | 0x80})
	}
	listed := hex.EncodeToString([]byte{byte(len(kryo4.classes)) + idOffset, 1, 2}) // the second Color
	decoded := func(dialects *dubbo.Dialects, types string, arguments ...string) string {
		body := formattest.Hex(text("2.0.2"), text("p.S"), text("0.0.0"), text("say"), text(types), strings.Join(arguments, ""), "2301 01 0301", text("path"), "0301", text("p.S"))
		f := dubbo.Frame{Header: dubbo.Header{Flags: 0xc0 | Format.ID, BodyLen: len(body)}, Body: body, Captured: len(body), MissingAt: len(body)}
		return string(d.Decode(&f, dubbo.Values, dialects).AppendArguments(nil))
	}
	const object, node, colors = "Ljava/lang/Object;", "Lorg/dubbowire/rig/edge/Node;", `[{"@enum":"org.dubbowire.rig.edge.Color"`
	var one, two dubbo.Dialects
	assert.Contains(t, decoded(&one, object, listed), colors)
	assert.NotContains(t, decoded(&one, node, listed), colors)
	assert.NotContains(t, decoded(&one, object, listed), colors)
	assert.NotContains(t, decoded(&two, object+node, "00", listed), colors)
	assert.Contains(t, decoded(&two, object, listed), colors) // the second value may follow one that was misread
}

// A class may be read as if the writer had another field, or one less: those of Node are byName, children, id, name, parent, self.
func TestVary(t *testing.T) {
	r := withModels(t, Format).New()
	v := r.(decode.VaryingReader)
	read := func(hex string) *decode.Error {
		r.Reset(formattest.Hex(node, hex), decode.Malformed, nil)
		r.Value(decode.ByField, "result", 0, "")
		if r.Err() == nil && r.Offset() < len(formattest.Hex(node, hex)) {
			return &decode.Error{Cause: decode.Malformed}
		}
		return r.Err()
	}
	const whole = "00 00 0e 00 00 00"
	require.Nil(t, read(whole))
	assert.Equal(t, []decode.UsedClass{{Name: "org.dubbowire.rig.edge.Node", Fields: []string{"byName", "children", "id", "name", "parent", "self"}}}, v.Used())
	require.NotNil(t, read("00 00 00 00 00"))
	class, field := v.Stopped()
	assert.Equal(t, "org.dubbowire.rig.edge.Node self", class+" "+field)
	v.Vary(&decode.Variation{Class: "org.dubbowire.rig.edge.Node", Index: 2})
	assert.Nil(t, read("00 00 00 00 00"))
	v.Vary(&decode.Variation{Class: "org.dubbowire.rig.edge.Node", Index: 6, Type: "Ljava/lang/String;"})
	assert.Nil(t, read(whole+"01 61e2"))
	v.Vary(nil)
	assert.Nil(t, read(whole))
}

// What kryo2 writes for a declared type that is not final is of the class under which the value can be read to its end.
func TestUntaggedClasses(t *testing.T) {
	format := Format
	format.New = NewUntagged4
	format = withModels(t, format)
	counting := format.New() // for all bodies: it begins with the class that the last object of a type had
	cases := []struct{ typ, hex, want string }{
		{"Lorg/dubbowire/rig/edge/Node;", "01 00 00 0e 00 00 00", `{"@class":"org.dubbowire.rig.edge.Node","byName":null,"children":null,"id":7,"name":null,"parent":null,"self":null}`},
		{"Ljava/util/List;", "01 02 0202 0204", "[1,2]"},
		{"Ljava/util/List;", "01 02 0202 0204 00", "!"},
		{"Ljava/util/List;", "01 00", "[]"},
		{"Ljava/util/List;", "01 02 24 01 01 0202", "[1]"}, // unmodifiable
		{"Ljava/util/List;", "01 01 00", "!"},              // of one element or of many
		{"Ljava/util/Map;", "01 01 0301826b 0202", `{"k":1}`},
		{"Ljava/util/Map;", "01 00 01 0301826b 0202", `{"k":1}`}, // sorted
		{"Ljava/util/Date;", "01 01", `{"@date":"1970-01-01T00:00:00.001Z"}`},
		{"Ljava/lang/Object;", "01 01", "!"},
		{"Lorg/dubbowire/rig/edge/Unknown;", "01 01", "!"},
	}
	for _, c := range append(cases, cases...) {
		body := formattest.Hex(c.hex)
		tree := decode.Tree{WithValues: true}
		r := format.New()
		r.Reset(body, decode.Malformed, &tree)
		r.Value(decode.ByField, "result", 0, c.typ)
		counting.Reset(body, decode.Malformed, nil)
		counting.Value(decode.ByField, "result", 0, c.typ)
		assert.Equal(t, r.Err(), counting.Err(), c.hex)
		assert.Equal(t, r.Offset(), counting.Offset(), c.hex)
		if c.want == "!" {
			assert.Equal(t, decode.Unsupported, r.Err().Cause, c.hex)
			continue
		}
		require.Nil(t, r.Err(), c.hex)
		assert.Equal(t, c.want, (&formattest.Message{Tree: tree}).Value("result"), c.hex)
		sum, ok := counting.(decode.Summer).Sum()
		assert.True(t, ok, c.hex)
		assert.Equal(t, tree.Sums().Parts, sum, c.hex)
	}
}

// benchBodies returns values of the application: bodies without the kind of the result and the attachments.
func benchBodies(tb testing.TB) map[string][]byte {
	bodies := map[string][]byte{}
	for _, row := range formattest.Frames(tb, "testdata/classes_frames.tsv") {
		bodies[row.Name] = row.Body[1:]
	}
	return bodies
}

func BenchmarkClasses(b *testing.B) {
	format := withModels(b, Format)
	for name, body := range benchBodies(b) {
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

// Objects of classes that were met before are walked without allocation.
func TestClassesDoNotAllocate(t *testing.T) {
	format := withModels(t, Format)
	body := benchBodies(t)["echoNode S2C"]
	require.NotEmpty(t, body)
	r := format.New()
	walk := func() {
		r.Reset(body, decode.Malformed, nil)
		r.Value(decode.ByField, "result", 0, "")
	}
	walk()
	require.Nil(t, r.Err())
	assert.Zero(t, testing.AllocsPerRun(100, walk))
}

// What is counted without a tree is what the tree says.
func TestCounted(t *testing.T) {
	untagged := Format5
	untagged.New = NewUntagged5
	const file, file5 = "testdata/classes_frames.tsv", "testdata/classes_frames5.tsv"
	for _, c := range []struct {
		name, file string
		format     decode.Format
	}{
		{"Kryo 4", file, withModels(t, Format)},
		{"Kryo 5", file5, withModels(t, Format5)},
		{"untagged", file5, withModels(t, untagged)},
		{"annotated", "testdata/annotated_frames.tsv", withAnnotated(t, Format)},
		{"annotated 5", "testdata/annotated_frames5.tsv", withAnnotated(t, Format5)},
		{"numbers", "testdata/numbers_frames5.tsv", numbered(t)},
	} {
		t.Run(c.name, func(t *testing.T) { formattest.Damaged(t, c.format, c.file) })
	}
}
