package kryo2

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/formats/kryo"
)

// Where the declared type is the runtime class, values are read. Bytes measured with dubbo-serialization-kryo 3.2.0.
func TestValues5(t *testing.T) {
	for _, c := range []struct{ typ, hex, want string }{
		{"Ljava/lang/String;", "0161e2", `"ab"`},
		{"I", "010a", "5"},
		{"J", "01d804", "300"},
		{"Ljava/lang/Double;", "01000000000000f83f", "1.5"},
		{"Ljava/lang/Short;", "010300", "3"},
		{"[B", "0104010203", `{"@bytes":"AQID"}`},
		{"[Ljava/lang/String;", "010401826100018262", `["a",null,"b"]`},
		{"Ljava/time/DayOfWeek;", "0105", `{"@enum":"java.time.DayOfWeek","ordinal":4}`},
		{"Ljava/time/DayOfWeek;", "00", "null"},
		{"Ljava/time/LocalDate;", "01e40f0102", `{"@date":"2020-01-02"}`},
		{"Ljava/util/UUID;", "0101000000000000000200000000000000", `{"@class":"java.util.UUID","value":"00000000-0000-0001-0000-000000000002"}`},
		{"Ljava/util/List;", "0183010047656e24557365f200010e01626fe203", ""},
		{"Ljava/util/ArrayList;", "0103030182610202", ""},
		{"Ljava/util/Date;", "0101", ""},
		{"LGen$Color;", "0101", ""},
		{"", "0161e2", ""},
	} {
		checkValue(t, &Format5, c.typ, c.hex, c.want)
	}
}

// Frames captured with Dubbo 3.3.4 and kryo 5.6.2.
func TestFrames5(t *testing.T) { formattest.Whole(t, Format5, "testdata/frames5.tsv") }

// Each of them tells its dialect, except heartbeats and read-only events.
func TestTell5(t *testing.T) {
	d := dubbo.NewDecoder([]decode.Format{Format, Format5})
	told := 0
	for _, row := range formattest.Frames(t, "testdata/frames5.tsv") {
		f := &dubbo.Frame{Body: row.Body, Captured: len(row.Body), MissingAt: len(row.Body)}
		f.Flags, f.Status, f.BodyLen = row.Header[2], row.Header[3], len(row.Body)
		if !f.Event() {
			assert.Equal(t, "kryo2 (Kryo 5)", d.Decode(f, dubbo.Envelope, &dubbo.Dialects{}).Serialization, row.Name)
			told++
		}
	}
	assert.Greater(t, told, 8)
}

func FuzzReader5(f *testing.F) { formattest.Fuzz(f, Format5, "testdata/frames5.tsv") }

// withGraphs returns a format whose readers know the classes of the random graphs.
func withGraphs(t *testing.T, f decode.Format) decode.Format {
	return kryo.With(f, formattest.Models(t, "graphs.jar"))
}

// A value that all classes under which the body can be read have in common is that value. Bytes of random graphs, Dubbo 3.2.16.
func TestSameValueOfAllClasses(t *testing.T) {
	f := withGraphs(t, Format5)
	for _, c := range []struct{ typ, hex, want string }{
		{"Ljava/util/List;", "0101", "[]"}, // also one without nulls, as of List.of
		{"Ljava/util/Set;", "0101", "[]"},
		{"Ljava/util/List;", "018200", "[null]"}, // also a singleton
		{"Ljava/util/List;", "01030301826100", `["a",null]`},
		{"Ljava/util/List;", "01 83 03 00 018261 018262", `["a","b"]`},
		{"[Ljava/lang/Object;", "0101", "[]"}, // also a String[]
		{"[Ljava/lang/Object;", "01030000", "[null,null]"},
		{"Lorg/dubbowire/rig/models/Shape;", "0102", `{"@enum":"org.dubbowire.rig.models.Op","name":"MINUS"}`}, // constants have bodies
		{"Ljava/lang/Number;", "0102", ""},
	} {
		checkValue(t, &f, c.typ, c.hex, c.want)
	}
}

// dubbo-serialization-kryo 1.0.1 writes no class of an exception, which it cannot read back; 3.2.0 writes it.
func TestExceptionWithoutClass(t *testing.T) {
	body := formattest.Hex("01 aced0005 7372 0007 612e4661756c74 0000000000000001 020000 7870")
	tree := decode.Tree{WithValues: true}
	r := Format5.New()
	r.Reset(body, decode.Malformed, &tree)
	r.Throwable()
	formattest.Balance(t, &tree, r.Offset())
	require.Nil(t, r.Err())
	assert.Equal(t, `{"@class":"a.Fault"}`, string(tree.AppendJSON(nil, 0)))
}
