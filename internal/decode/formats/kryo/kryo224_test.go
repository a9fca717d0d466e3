package kryo

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats/formattest"
)

// withGraphs returns the format with readers that know the models of the random graphs.
func withGraphs(tb testing.TB) decode.Format {
	tb.Helper()
	return With(Format, formattest.Models(tb, "graphs.jar"))
}

// Frames are random graphs that the rig wrote with Kryo 2.24; package truth compares others with what Java logged. Nothing but the bytes tells the release.
func TestKryo224(t *testing.T) { formattest.Whole(t, withGraphs(t), "testdata/classes_frames224.tsv") }

// FuzzKryo224 reads any bytes as those of Kryo 2.24 first.
func FuzzKryo224(f *testing.F) {
	format := withGraphs(f)
	later := format.New
	format.New = func() decode.Reader {
		r := later()
		r.(decode.OlderReader).SetOlder(true)
		return r
	}
	formattest.Fuzz(f, format, "testdata/classes_frames224.tsv", "testdata/classes_frames.tsv")
}

const (
	leaf = "0100 6f72672e647562626f776972652e7269672e6d6f64656c732e4c6561e6" + "01" // org.dubbowire.rig.models.Leaf
	box  = "0100 6f72672e647562626f776972652e7269672e6d6f64656c732e426ff8" + "01"   // org.dubbowire.rig.models.Box
)

// Without classes the releases differ in the flags of a Pattern.
func TestPattern224(t *testing.T) {
	body := formattest.Hex("11 01 61e2")
	for _, of := range []decode.Format{Format, withGraphs(t)} {
		r := of.New()
		older := r.(decode.OlderReader)
		r.Reset(body, decode.Malformed, nil)
		r.Value(decode.ByField, "result", 0, "")
		assert.Error(t, r.Err())
		assert.True(t, older.MayDiffer())
		older.SetOlder(true)
		r.Reset(body, decode.Malformed, nil)
		assert.False(t, older.MayDiffer())
		r.Value(decode.ByField, "result", 0, "")
		require.Nil(t, r.Err())
		assert.Equal(t, len(body), r.Offset())
		older.SetOlder(false)
		r.Reset(body, decode.Malformed, nil)
		r.Value(decode.ByField, "result", 0, "")
		assert.Error(t, r.Err())
	}
}

// A body that only one release writes decides for those of the connection that both may have written, and a later one decides anew.
func TestReleaseOfConnection(t *testing.T) {
	const (
		older  = "01 0c01 02 11 11 01 61e2 11 01 62e3" // a list of two patterns
		later  = "01 0c01 02 11 11 01 61e2 00 11 01 62e3 02"
		either = "01 24 01 01 0202"
	)
	for _, format := range []decode.Format{Format, withGraphs(t)} {
		d := dubbo.NewDecoder([]decode.Format{format})
		dialects := new(dubbo.Dialects)
		for _, hex := range []string{either, older, either, older, later, later, older} {
			body := formattest.Hex(hex)
			f := &dubbo.Frame{Body: body, Captured: len(body), MissingAt: len(body)}
			f.Flags, f.Status, f.BodyLen = format.ID, dubbo.StatusOK, len(body)
			m := d.Decode(f, dubbo.Values, dialects)
			assert.Nil(t, m.Err, hex)
			assert.Equal(t, "full", m.Decoded, hex)
		}
	}
}

// Kryo 5 and kryo2 were never those of Dubbox.
func TestNotOlder(t *testing.T) {
	for _, of := range []func() decode.Reader{New5, NewUntagged4, NewUntagged5} {
		r := of().(*Reader)
		d := r.d
		r.SetOlder(true)
		assert.Same(t, d, r.d)
		r.pattern = true
		assert.False(t, r.MayDiffer())
	}
}

// A field gives its type arguments to all later objects of the class that are no fields, and none where it is null or a reference.
func TestKept224(t *testing.T) {
	text, number := &class{name: "java.lang.String", layout: stringText, final: true}, &class{name: "int", layout: boxInt, final: true}
	r := withGraphs(t).New().(*classReader)
	r.SetOlder(true)
	cl := r.library.class("org.dubbowire.rig.models.Box")
	require.Equal(t, []string{"T"}, cl.variables())
	r.setGenerics(cl, []*class{text})
	assert.Equal(t, bindings{{"T", text}}, r.enterGeneric(cl))
	r.setGenerics(cl, nil)
	assert.Equal(t, text, r.kept.state(cl).all.find("T"), "by the name of the variable of the object around it")
	pair := r.library.class("org.dubbowire.rig.models.Pair")
	r.setGenerics(pair, []*class{number, nil})
	assert.Equal(t, bindings{{"A", number}, {"T", text}}, r.enterGeneric(pair))
	r.leaveGeneric(pair)
	r.leaveGeneric(cl)
	assert.Empty(t, r.kept.scopes)
	r.setGenerics(cl, nil)
	assert.Empty(t, r.enterGeneric(cl))
	r.Reset(nil, decode.Malformed, nil)
	assert.Empty(t, r.kept.states)
}

func TestHostile224(t *testing.T) {
	format := withGraphs(t)
	later := format.New
	format.New = func() decode.Reader {
		r := later()
		r.(decode.OlderReader).SetOlder(true)
		return r
	}
	formattest.Stops(t, format, []formattest.Hostile{
		{Name: "no fields", Body: formattest.Hex(leaf), Cause: decode.Malformed},
		{Name: "a generic object without fields", Body: formattest.Hex(box), Cause: decode.Malformed},
		{Name: "an enum by its ordinal", Body: formattest.Hex("0100 6f72672e647562626f776972652e7269672e6d6f64656c732e436f6c6ff2", "01 02"), Cause: decode.Malformed},
		{Name: "a generic object in itself", Body: formattest.Hex(box, "0100 02"), Cause: decode.Malformed},
	})
}
