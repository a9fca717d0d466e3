package fury

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats/formattest"
)

// Values of 0.2.0 were measured with dubbo-serialization-fury 3.2.0 (its length is set to what it is on a connection: in
// memory it counts its own bytes), those of 0.10.2 with the extensions' source and Dubbo 3.3.4. Frames are of the
// captures.

func TestValues(t *testing.T) { formattest.Wants(t, Format, "testdata/values.tsv") }

func TestLaterValues(t *testing.T) { formattest.Wants(t, Format010, "testdata/values-later.tsv") }

func TestFrames(t *testing.T) { formattest.Whole(t, Format, "testdata/frames.tsv") }

// REQ sayHello(String) and RES value as Fury 0.10.2 and Fory write them.
func TestLaterMessages(t *testing.T) {
	request := formattest.Hex("070000000114322e302e32060000000110642e4869070000000114302e302e30040000000108686915000000014c4c6a6176612f6c616e672f537472696e673b49",
		"0700000002002c0c626f62 040000000200240a 120000000200440100012c2c107061746810642e4869")
	m := formattest.Request(Format010, request, decode.Malformed)
	require.Equal(t, `2.0.2 | d.Hi | 0.0.0 | hi | Ljava/lang/String;I | ["bob",5] | {"path":"d.Hi"}`, m.Summary())
	formattest.Balance(t, &m.Tree, len(request))
	formattest.NoAllocs(t, Format010, request)
	m = formattest.Response(Format010, formattest.Hex("04 0600000002002c086869 140000000200440100012c2c14647562626f14322e302e32"), decode.Malformed)
	require.Equal(t, `4 | "hi" | {"dubbo":"2.0.2"}`, m.Summary())
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		format    decode.Format
		hex, want string
		null      bool
	}{
		{Format, "05000000 01 00 02 6162", "ab", false},
		{Format, "03000000 01 00 00", "", false},
		{Format, "01000000 00", "", true},
		{Format, "05000000 01 01 02 2d4e", "中", false},
		{Format, "07000000 01 01 04 3dd800de", "😀", false},
		{Format, "04000000 01 00 01 e9", "é", false},
		{Format, "07000000 01 01 04 61003dd8", "a\ufffd", false},
		{Format010, "04000000 01 08 6162", "ab", false},
		{Format010, "02000000 01 00", "", false},
		{Format010, "01000000 00", "", true},
		{Format010, "04000000 01 09 2d4e", "中", false},
		{Format010, "05000000 01 0e e4b8ad", "中", false},
	} {
		r := c.format.New()
		r.Reset(formattest.Hex(c.hex), decode.Malformed, nil)
		s, null := r.Text("errorMessage")
		require.Nil(t, r.Err(), c.hex)
		assert.Equal(t, c.want, s, c.hex)
		assert.Equal(t, c.null, null, c.hex)
		assert.Equal(t, len(formattest.Hex(c.hex)), r.Offset(), c.hex)
	}
	for _, c := range []struct {
		hex   string
		short decode.Cause
		want  decode.Cause
	}{
		{"05000000 01 00 02 61", decode.Cut, decode.Cut},
		{"05000000 01 00 02 61", decode.Malformed, decode.Malformed},
		{"04000000 01 00 02 6162", decode.Cut, decode.Malformed},
		{"05000000 01 00 01 6162", decode.Cut, decode.Malformed},
		{"05000000 02 00 02 6162", decode.Cut, decode.Malformed},
		{"05000000 01 02 02 6162", decode.Cut, decode.Malformed},
		{"04000000 01 01 01 61", decode.Cut, decode.Malformed},
		{"00000000 01", decode.Cut, decode.Malformed},
		{"ffffffff 01", decode.Cut, decode.Malformed},
		{"ffffff7f 01", decode.Lost, decode.Lost},
		{"0500", decode.Cut, decode.Cut},
	} {
		r := New()
		r.Reset(formattest.Hex(c.hex), c.short, new(decode.Tree))
		r.Text("path")
		require.NotNil(t, r.Err(), c.hex)
		assert.Equal(t, c.want, r.Err().Cause, c.hex)
		assert.Zero(t, r.Offset(), c.hex)
	}
}

// An exception has its class and its message; the rest of it is measured.
func TestThrowable(t *testing.T) {
	const throwable = "01 00 334db06be7e8189d 0900 6a6176612e6c616e67 00 78b41a764c993224 0900 5468726f7761626c65"
	for _, c := range []struct {
		format    decode.Format
		hex, want string
	}{
		{Format, "2c000000 00 a002 0300" + throwable + "b7641c0c0095aa76 00 00 01 78 c4", `{"@class":"java.lang.RuntimeException","detailMessage":"x","#opaque":{"@opaque":1}}`},
		{Format, "29000000 00 a002 0300" + throwable + "b7641c0c0095aa76 fd c4", `{"@class":"java.lang.RuntimeException","detailMessage":null,"#opaque":{"@opaque":1}}`},
		{Format, "28000000 00 a002 0300" + throwable + "b7641c0c0095aa77 00", `{"@class":"java.lang.RuntimeException","#opaque":{"@opaque":52}}`},
		{Format, "04000000 00 a002 03", `{"@class":"java.lang.RuntimeException","#opaque":{"@opaque":1}}`},
		{Format010, "13000000 02 00 9201 0300 8c01 b7641c0c0095aa76 ff 0478", `{"detailMessage":"x"}`},
	} {
		body := formattest.Hex(c.hex)
		for i := range 4 { // the length
			body[i] = 0
		}
		le.PutUint32(body, uint32(len(body)-4))
		tree := decode.Tree{WithValues: true}
		r := c.format.New()
		r.Reset(body, decode.Malformed, &tree)
		r.Throwable()
		require.Nil(t, r.Err(), c.hex)
		formattest.Balance(t, &tree, len(body))
		got := string(tree.AppendJSON(nil, 0))
		if c.format.Dialect != "" { // the class is not known by its number
			got = strings.Replace(got, `,"#opaque":{"@opaque":0}`, "", 1)
		}
		assert.Equal(t, c.want, got, c.hex)
	}
}

func TestTell(t *testing.T) {
	for _, c := range []struct {
		hex  string
		kind decode.BodyKind
		old  decode.Verdict
		new  decode.Verdict
	}{
		{"08000000 01 00 05 322e302e32", decode.BodyRequest, decode.Own, decode.Foreign},
		{"07000000 01 14 322e302e32", decode.BodyRequest, decode.Foreign, decode.Own},
		{"01000000 00 08000000 01 00", decode.BodyRequest, decode.Unsure, decode.Unsure},
		{"0700", decode.BodyRequest, decode.Unsure, decode.Unsure},
		{"02000000 01 00 000000", decode.BodyText, decode.Unsure, decode.Unsure},
		{"05000000 01 01 02 2d4e", decode.BodyText, decode.Own, decode.Foreign},
		{"04000000 01 09 2d4e", decode.BodyText, decode.Foreign, decode.Own},
		{"04 06000000 00 2c 00 02 6162", decode.BodyResult, decode.Own, decode.Foreign},
		{"05 15000000 00 44 01 ff", decode.BodyResult, decode.Own, decode.Foreign},
		{"01 01000000 fd", decode.BodyResult, decode.Own, decode.Foreign},
		{"04 06000000 02 00 2c 08 6869", decode.BodyResult, decode.Foreign, decode.Own},
		{"01 01000000 03", decode.BodyResult, decode.Foreign, decode.Own},
		{"02", decode.BodyResult, decode.Unsure, decode.Unsure},
		{"", decode.BodyResult, decode.Unsure, decode.Unsure},
		{"04 06000000", decode.BodyResult, decode.Unsure, decode.Unsure},
		{"04 06000000 55", decode.BodyResult, decode.Unsure, decode.Unsure},
		{"05000000 fd", decode.BodyEvent, decode.Own, decode.Foreign},
		{"05000000 00 2c 00 01 52", decode.BodyEvent, decode.Own, decode.Foreign},
		{"01000000 03", decode.BodyEvent, decode.Foreign, decode.Own},
		{"05000000 02 00 2c 04 52", decode.BodyEvent, decode.Foreign, decode.Own},
	} {
		b := formattest.Hex(c.hex)
		assert.Equal(t, c.old, Format.Tell(b, c.kind), c.hex)
		assert.Equal(t, c.new, Format010.Tell(b, c.kind), c.hex)
	}
}

func TestHeartbeats(t *testing.T) {
	d := dubbo.NewDecoder([]decode.Format{Format, Format010})
	for hex, want := range map[string]string{"05000000fd": "fury", "0100000003": "fury (Fury 0.10)"} {
		body := formattest.Hex(hex)
		f := &dubbo.Frame{Body: body, Captured: len(body), MissingAt: len(body)}
		f.Flags, f.BodyLen = 0xfc, len(body)
		m := d.Decode(f, dubbo.Envelope, &dubbo.Dialects{})
		assert.Equal(t, dubbo.Heartbeat, m.Kind)
		assert.Equal(t, want, m.Serialization)
	}
}

func TestHostile(t *testing.T) {
	formattest.Stops(t, Format, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "half a length", Body: formattest.Hex("0600"), Cause: decode.Malformed},
		{Name: "longer than the body", Body: formattest.Hex("06000000 00 2c"), Cause: decode.Malformed},
		{Name: "negative", Body: formattest.Hex("ffffffff 00 2c"), Cause: decode.Malformed},
	})
}

// What a document holds that is not what its classes promise is measured all the same.
func TestOpaque(t *testing.T) {
	for _, c := range []struct {
		name, hex, want string
	}{
		{"nothing", "", `{"@opaque":0}`},
		{"another flag", "55 2c", `{"@opaque":2}`},
		{"a class cut", "00 80", `{"@opaque":2}`},
		{"a number without a class", "00 fe7f", `{"@class":"#8191","#opaque":{"@opaque":0}}`},
		{"an odd class", "00 03 00", `{"@opaque":3}`},
		{"a class name cut", "00 01 00 0000000000000000 ff00 61", `{"@opaque":14}`},
		{"a name that was not there", "00 01 01 0500", `{"@opaque":5}`},
		{"a class without a name", "00 01 00 0000000000000000 0000 01 0000 07", `{"@opaque":17}`},
		{"a string cut", "00 2c 00 05 61", `{"@opaque":5}`},
		{"an object behind the value", "00 24 02 00 24 02", `{"@opaque":6}`},
		{"a list cut", "00 42 05 04 2c 00 01 61", `["a",{"@opaque":0}]`},
		{"a list of 2^31", "00 42 ffffffff07 04 2c", `[{"@opaque":7}]`},
		{"a list of what has no bytes", "00 42 03 04 4a 00 00 00", `[{"@class":"java.lang.Object"},{"@opaque":3}]`},
		{"a map of 2^31", "00 44 ffffffff07", `{"@map":[],"#opaque":{"@opaque":5}}`},
		{"an int[] of 3 bytes", "00 36 03 010203", `{"@opaque":6}`},
		{"an Object[] of 2^32-1", "00 40 ffffffff 00", `{"@opaque":7}`},
		{"a reference to nothing", "00 42 01 05 42 fe07", `[{"@opaque":2}]`},
		{"a comparator", "00 4e 01 00 2c 00 01 61", `[{"@opaque":5}]`},
		{"objects of the application", "00 42 02 05 01 00 0000000000000000 0100 61 00 0000000000000000 0100 42 00 05 00 07", `[{"@class":"a.B","#opaque":{"@opaque":3}}]`},
		{"a long of three forms", "00 28 03 000000", `{"@opaque":6}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := formattest.Hex(c.hex)
			body := append(le.AppendUint32(nil, uint32(len(doc))), doc...)
			tree := decode.Tree{WithValues: true}
			r := New()
			r.Reset(body, decode.Malformed, &tree)
			r.Value(decode.ByField, "result", 0, "")
			require.Nil(t, r.Err())
			assert.Equal(t, len(body), r.Offset())
			formattest.Balance(t, &tree, len(body))
			assert.Equal(t, c.want, string(tree.AppendJSON(nil, 0)))
			formattest.Check(t, Format, body)
		})
	}
	deep := formattest.Hex("00", strings.Repeat("42 01 04", 3000))
	require.Contains(t, formattest.Value(t, Format, append(le.AppendUint32(nil, uint32(len(deep))), deep...)), "@cut")
	wraps := formattest.Hex(strings.Repeat("00 d401", 3000)) // unmodifiable lists, one in another
	require.Contains(t, formattest.Value(t, Format, append(le.AppendUint32(nil, uint32(len(wraps))), wraps...)), "@opaque")
}

func FuzzReader(f *testing.F) {
	formattest.Fuzz(f, Format, "testdata/values.tsv", "testdata/frames.tsv")
}

func FuzzLater(f *testing.F) { formattest.Fuzz(f, Format010, "testdata/values-later.tsv") }

func request(tb testing.TB) []byte {
	return formattest.Named(tb, "testdata/frames.tsv", "bid C2S")
}

func TestNoAllocs(t *testing.T) { formattest.NoAllocs(t, Format, request(t)) }

func BenchmarkReader(b *testing.B) { formattest.Bench(b, Format, request(b)) }
