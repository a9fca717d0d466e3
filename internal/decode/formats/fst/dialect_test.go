package fst

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats/formattest"
)

// rig1 is rig for FST 1.
func rig1(tb testing.TB, lists ...string) decode.Format {
	return With(Format1, formattest.Rig(tb, classpath.Options{Lists: lists}))
}

// Frames are of the capture dubbox-fst-1.55, whose values package truth compares with what Java logged.
func TestObjects1(t *testing.T) { formattest.Whole(t, rig1(t), "testdata/objects1.tsv") }

func FuzzObjects1(f *testing.F) { formattest.Fuzz(f, rig1(f), "testdata/objects1.tsv") }

func FuzzReader1(f *testing.F) { formattest.Fuzz(f, Format1, "testdata/objects1.tsv") }

func BenchmarkObjects1(b *testing.B) {
	formattest.Bench(b, rig1(b), formattest.Named(b, "testdata/objects1.tsv", "echoHolder S2C"))
}

func TestObjects1WithoutAllocs(t *testing.T) {
	body := formattest.Named(t, "testdata/objects1.tsv", "echoHolder S2C")
	r := rig1(t).New()
	walk := func() {
		r.Reset(body, decode.Malformed, nil)
		r.ResultKind()
		r.Value(decode.ByField, "result", 0, "")
	}
	walk()
	require.Nil(t, r.Err())
	require.Zero(t, testing.AllocsPerRun(100, walk))
}

// Frames that tell their dialect are never taken for the other's; without that, FST 2 is the default.
func TestFramesTell(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"testdata/frames.tsv", "fst"}, {"testdata/objects.tsv", "fst"}, {"testdata/objects1.tsv", "fst (FST 1)"},
	} {
		d := dubbo.NewDecoder([]decode.Format{Format, Format1})
		for _, row := range formattest.Frames(t, c.file) {
			f := &dubbo.Frame{Body: row.Body, Captured: len(row.Body), MissingAt: len(row.Body)}
			f.Flags, f.Status, f.BodyLen = row.Header[2], row.Header[3], len(row.Body)
			if f.Event() {
				continue
			}
			told := tellWhole(row.Body, bodyKind(f))
			if told == nil && c.want != "fst" {
				continue // an object of the application alone looks the same in both
			}
			assert.Equal(t, c.want, d.Decode(f, dubbo.Envelope, &dubbo.Dialects{}).Serialization, "%s in %s", row.Name, c.file)
		}
	}
}

func bodyKind(f *dubbo.Frame) decode.BodyKind {
	switch {
	case f.Request():
		return decode.BodyRequest
	case f.Status != dubbo.StatusOK:
		return decode.BodyText
	}
	return decode.BodyResult
}

func TestTell(t *testing.T) {
	for _, c := range []struct {
		name, hex string
		kind      decode.BodyKind
		start     *dialect
		whole     *dialect
	}{
		{"request", "05322e302e32", decode.BodyRequest, fst2, fst2},
		{"request, FST 1", "0005322e382e34", decode.BodyRequest, fst1, fst1},
		{"a text", "01 fc0161", decode.BodyResult, fst2, fst2},
		{"a text, FST 1", "01 00030161", decode.BodyResult, fst1, fst1},
		{"a date", "01 001301", decode.BodyResult, nil, fst2},
		{"a date, FST 1", "01 00180100000000000000", decode.BodyResult, nil, fst1},
		{"an Integer", "01 f705", decode.BodyResult, nil, nil},
		{"null", "02", decode.BodyResult, nil, nil},
		{"an object of the application", "01 00 01 03 612e42 07", decode.BodyResult, nil, nil},
		{"attachments", "04 00 01 03 612e42 07 000f 01 fc05647562626f fc0161", decode.BodyResult, nil, fst2},
		{"an error text", "80 2c01" + strings.Repeat("61", 300), decode.BodyText, fst2, fst2},
		{"an error text, FST 1", "012c" + strings.Repeat("61", 300), decode.BodyText, nil, fst1},
		{"a short error text", "0161", decode.BodyText, nil, fst2},
		{"a short error text, FST 1", "000161", decode.BodyText, fst1, fst1},
		{"a heartbeat", "ff", decode.BodyEvent, nil, nil},
		{"an event", "fc0152", decode.BodyEvent, fst2, fst2},
		{"an event, FST 1", "00030152", decode.BodyEvent, fst1, fst1},
		{"nothing", "", decode.BodyResult, nil, nil},
	} {
		b := formattest.Hex(c.hex)
		assert.Equal(t, c.start, tell(b, c.kind), c.name)
		assert.Equal(t, c.whole, tellWhole(b, c.kind), c.name)
	}
}

func TestValues1(t *testing.T) {
	for _, c := range []struct{ name, hex, want string }{
		{"null", "ff", "null"},
		{"a text", "0003 02 6162", `"ab"`},
		{"a wide text", "0003 01 ff4e2d", `"中"`},
		{"Integer 300", "f7 80012c", "300"},
		{"Integer 100000", "f7 81000186a0", "100000"},
		{"Long 300", "f6 80012c", "300"},
		{"Long 100000", "f6 81a0860100", "100000"},
		{"Short 300", "0005 ff012c", "300"},
		{"short[]", "fb 3b 02 0001 ffff", "[1,-1]"},
		{"char[]", "fb 34 02 61 ff4e2d", `["a","中"]`},
		{"int[]", "fb 42 01 07000000", "[7]"},
		{"a map that predicts", "000f 02 0003 016b 0003 0161 01 016c 01 0162", `{"k":"a","l":"b"}`},
		{"a list in a map has the map's prediction", "000f 02 0003 016b 0010 00 01 016c 01 01 01 00", `{"k":[],"l":[[]]}`},
		{"a handle predicts", "0010 02 0003 0161 000f 02 f903 f701 01 0162 f702", `["a",{"a":1,"b":2}]`},
		{"null does not", "000f 03 0003 016b 0003 0161 01 016c ff 01 016d 01 0162", `{"k":"a","l":null,"m":"b"}`},
		{"the same text", "0010 02 0003 0161 f903", `["a","a"]`},
		{"a list that refers to itself", "0010 01 f900", `[{"@ref":"result"}]`},
		{"named classes", "0010 02 0001 11 6a6176612e7574696c2e48617368536574 00 0058 00", `[[],[]]`},
		{"Date", "0018 0100000000000000", `{"@date":"1970-01-01T00:00:00.001Z"}`},
		{"java.time", "0001 0d 6a6176612e74696d652e536572", `{"@class":"java.time.Ser"}`},
	} {
		body := formattest.Hex(c.hex)
		assert.Equal(t, c.want, formattest.Value(t, Format1, body), c.name)
		formattest.Check(t, Format1, body)
	}
}

func TestHostile1(t *testing.T) {
	formattest.Stops(t, Format1, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "the tag of a text of FST 2", Body: formattest.Hex("fc0161"), Cause: decode.Malformed},
		{Name: "nothing predicted", Body: formattest.Hex("01 0161"), Cause: decode.Malformed},
		{Name: "a class that maps never predict", Body: formattest.Hex("000f 02 f705 f705 f706 01"), Cause: decode.Malformed},
		{Name: "handle to no object", Body: formattest.Hex("0010 02 f705 f903"), Cause: decode.Malformed},
		{Name: "number that no class has", Body: formattest.Hex("00 57 07"), Cause: decode.Unsupported},
		{Name: "class id never given", Body: formattest.Hex("00 58 07"), Cause: decode.Unsupported},
		{Name: "class of the application", Body: formattest.Hex("00 01 08 47656e2455736572 07"), Cause: decode.Unsupported},
		{Name: "lists nested too deep", Body: formattest.Hex(strings.Repeat("001001", 1200)), Cause: decode.Limit},
	})
}

// Registered classes have a number each, and named ones the numbers after the next one.
func TestNumbers1(t *testing.T) {
	const (
		fields = "00 00 fd0161 fd0162" // version, created, Base#name, name
		set    = "00 01 11 6a6176612e7574696c2e48617368536574 00"
	)
	list := formattest.List(t, onlyNameClass, shadowClass)
	for _, c := range []struct{ name, hex, want string }{
		{"the second", "00 58" + fields, shadowClass},
		{"a named class after two", "0010 03" + set + "00 5a 00" + "00 57 fd0161", onlyNameClass},
		{"a number between", "0010 02" + set + "00 59 00", "!a number that no class has"},
		{"a named class that is not there", "0010 02" + set + "00 5b 00", "!91"},
		{"without a list", "!0010 02" + set + "00 58 00", `[[],[]]`},
	} {
		hex, alone := strings.CutPrefix(c.hex, "!")
		format := rig1(t, list)
		if alone {
			format = rig1(t)
		}
		tree := decode.Tree{WithValues: true}
		r := format.New()
		r.Reset(formattest.Hex(hex), decode.Malformed, &tree)
		r.Value(decode.ByField, "result", 0, "")
		if want, fails := strings.CutPrefix(c.want, "!"); fails {
			require.NotNil(t, r.Err(), c.name)
			assert.Contains(t, r.Err().Found, want, c.name)
			continue
		}
		require.Nil(t, r.Err(), c.name)
		assert.Contains(t, string(tree.AppendJSON(nil, 0)), c.want, c.name)
	}
}
