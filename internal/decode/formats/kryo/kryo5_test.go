package kryo

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// Values were measured with dubbo-serialization-kryo 3.2.0 (kryo 5.4.0) on Dubbo 3.2.16; those of 1.0.1 (kryo 5.3.0) and
// of kryo 5.6.2 are the same. Frames were captured with Dubbo 3.3.4 and kryo 5.6.2.

func TestValues5(t *testing.T) { formattest.Wants(t, Format5, "testdata/values5.tsv") }

func TestFrames5(t *testing.T) { formattest.Whole(t, Format5, "testdata/frames5.tsv") }

func FuzzReader5(f *testing.F) {
	formattest.Fuzz(f, Format5, "testdata/values5.tsv", "testdata/frames5.tsv")
}

func FuzzUntagged5(f *testing.F) {
	format := Format5
	format.New = NewUntagged5
	formattest.Fuzz(f, format, "testdata/values5.tsv", "testdata/frames5.tsv")
}

func TestHostile5(t *testing.T) {
	formattest.Stops(t, Format5, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "list without a count", Body: formattest.Hex("2301"), Cause: decode.Malformed},
		{Name: "list of -1 elements", Body: formattest.Hex("2301 00"), Cause: decode.Malformed},
		{Name: "list of -1 elements of one class", Body: formattest.Hex("2301 80"), Cause: decode.Malformed},
		{Name: "list of 2^31 elements", Body: formattest.Hex("2301 7f ffffffff 0203"), Cause: decode.Malformed},
		{Name: "list of 2^31 strings", Body: formattest.Hex("2301 ff ffffff 7f 03 00 01 8261"), Cause: decode.Malformed},
		{Name: "list of 2^30 nulls", Body: formattest.Hex("2301 c0 80808008 00"), Cause: decode.Limit},
		{Name: "lists of 4000 nulls each", Body: formattest.Hex("3001 f403", strings.Repeat("2301 e03e 00", 499)), Cause: decode.Limit},
		{Name: "null among what has none", Body: formattest.Hex("2301 82 03 00 00"), Cause: decode.Malformed},
		{Name: "one class cut", Body: formattest.Hex("2301 82"), Cause: decode.Malformed},
		{Name: "nothing behind one class", Body: formattest.Hex("2301 82 03"), Cause: decode.Malformed},
		{Name: "neither null nor not", Body: formattest.Hex("2301 82 02 01 02"), Cause: decode.Malformed},
		{Name: "map of -1 entries", Body: formattest.Hex("2201 00"), Cause: decode.Malformed},
		{Name: "map of 2^31 entries", Body: formattest.Hex("2201 ffffffff07"), Cause: decode.Malformed},
		{Name: "set with a comparator of the application", Body: formattest.Hex("2601 02 0100 47656e24436fed 01 0202"), Cause: decode.Unsupported},
		{Name: "reference to a later object", Body: formattest.Hex("2301 02 2307"), Cause: decode.Malformed},
		{Name: "registered class of the application", Body: formattest.Hex("3701 0e"), Cause: decode.Unsupported},
		{Name: "an enum of the application", Body: formattest.Hex("0100 47656e24436f6c6ff2 02"), Cause: decode.Unsupported},
		{Name: "enums of the application", Body: formattest.Hex("2301 82 0100 47656e24436f6c6ff2 00 02"), Cause: decode.Unsupported},
		{Name: "lists nested too deep", Body: formattest.Hex(strings.Repeat("230102", 1200)), Cause: decode.Limit},
		{Name: "lists of one class nested too deep", Body: formattest.Hex("2301", strings.Repeat("82230001", 1200)), Cause: decode.Limit},
	})
}

// An enum of the application has no reference byte and is not told from an object: its ordinal must not be taken for a
// reference to an object before it. The reference byte before a Java serialization stream is one.
func TestWhatOnlyTheClassKnows5(t *testing.T) {
	for hex, at := range map[string]int{
		"2301 82 0100 47656e24436f6c6ff2 00 02": 15,
		"0100 47656e24436f6c6ff2 02":            11,
		"0100 47656e24457272f2 01aced0005":      15,
	} {
		r := New5()
		r.Reset(formattest.Hex(hex), decode.Malformed, nil)
		r.Value(decode.ByField, "result", 0, "")
		require.NotNil(t, r.Err(), hex)
		assert.Equal(t, at, r.Err().At, hex)
	}
}

// Where one of the elements is null, each that is starts with 00, whatever its class.
func TestNullsBeforeWhatOnlyTheClassKnows5(t *testing.T) {
	tree := decode.Tree{WithValues: true}
	r := New5()
	r.Reset(formattest.Hex("2301 84 0100 47656e24436f6c6ff2 01 00 02 00"), decode.Malformed, &tree)
	r.Value(decode.ByField, "result", 0, "")
	require.NotNil(t, r.Err())
	assert.Equal(t, decode.Unsupported, r.Err().Cause)
	assert.Equal(t, 16, r.Err().At)
	tree.CloseTo(0)
	m := formattest.Message{Tree: tree}
	assert.Equal(t, `[null,{"@class":"Gen$Color"}]`, m.Value("result"))
}

const attachments5 = "2201 02 0301 706174e8 0301 642e48e9" // {path=d.Hi}

func TestFindAttachments5(t *testing.T) {
	for _, c := range []struct {
		name, body string
		found      bool
	}{
		{"behind an object", attachments5, true},
		{"a map of the object before", "2201 02 0301826b 03018276" + attachments5, true},
		{"with a list", "2201 03 0301 706174e8 03018261 0301826c 2301 83 0300 018261 018262", true},
		{"as Kryo 4 writes them", attachments, false},
		{"with an enum of the application", "2201 03 0301 706174e8 03018261 03018263 0100 47656e24436f6c6ff2 02", false},
	} {
		body := formattest.Hex(pojo, c.body)
		r := New5()
		r.Reset(body, decode.Malformed, nil)
		r.Value(decode.ByIndex, "", 0, "LGen$User;")
		require.Equal(t, decode.Unsupported, r.Err().Cause, c.name)
		_, ok := r.(decode.AttachmentFinder).FindAttachments(r.Offset())
		require.Equal(t, c.found, ok, c.name)
		if ok {
			r.Attachments()
			require.Nil(t, r.Err(), c.name)
			assert.Equal(t, len(body), r.Offset(), c.name)
		}
	}
}

func request5() []byte {
	b := formattest.Hex("322e302eb2 642e48e9 302e302eb0 68e9")
	desc := "Ljava/util/List;Ljava/util/Map;"
	b = append(b, desc[:len(desc)-1]...)
	b = append(b, desc[len(desc)-1]|0x80)
	b = append(b, formattest.Hex("2301 b3 0300", strings.Repeat("01 6be5", 50), "2201 33")...)
	for i := range 50 {
		b = append(b, formattest.Hex("0301 6b65", "f"+string("0123456789abcdef"[i&15]), "02c09a0c")...)
	}
	return append(b, formattest.Hex(attachments5)...)
}

func TestNoAllocs5(t *testing.T) { formattest.NoAllocs(t, Format5, request5()) }

func BenchmarkReader5(b *testing.B) { formattest.Bench(b, Format5, request5()) }

// void has no number and is a primitive type: a byte follows its name that says so.
func TestVoid5(t *testing.T) {
	tree := decode.Tree{WithValues: true}
	r := New5()
	r.Reset(formattest.Hex("0100 6a6176612e6c616e672e436c6173f3 01 0101 766f69e4 01"), decode.Malformed, &tree)
	r.Value(decode.ByField, "result", 0, "")
	require.Nil(t, r.Err())
	assert.Equal(t, len(r.(*Reader).Buf), r.Offset())
	assert.Equal(t, `{"@class":"java.lang.Class","value":"void"}`, (&formattest.Message{Tree: tree}).Value("result"))
}
