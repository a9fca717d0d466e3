package kryo

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/dev/testkit"
)

// Rows of JavaSerializer are classes of the JDK as Dubbo 2.6.0 has them written: a class keeps its stream.

func TestValues(t *testing.T) { formattest.Wants(t, Format, "testdata/values.tsv") }

func TestFrames(t *testing.T) { formattest.Whole(t, Format, "testdata/frames.tsv") }

func FuzzReader(f *testing.F) {
	formattest.Fuzz(f, Format, "testdata/values.tsv", "testdata/frames.tsv")
}

func FuzzUntagged(f *testing.F) {
	format := Format
	format.New = NewUntagged4
	formattest.Fuzz(f, format, "testdata/values.tsv", "testdata/frames.tsv")
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		hex, want string
		null      bool
	}{
		{"80", "", true},
		{"81", "", false},
		{"82 61", "a", false},
		{"61e2", "ab", false},
		{"82 e4b8ad", "中", false},
		{"83 eda0bd edb880", "😀", false},
		{"83 61 eda0bd", "a\ufffd", false},
		{"83 edb880 61", "\ufffda", false},
		{"84 eda0bd eda0bd edb880", "\ufffd😀", false},
		{"c101" + strings.Repeat("78", 64), strings.Repeat("x", 64), false},
	} {
		r := Format.New()
		r.Reset(formattest.Hex(c.hex), decode.Malformed, nil)
		s, null := r.Text("errorMessage")
		require.Nil(t, r.Err(), c.hex)
		assert.Equal(t, c.want, s, c.hex)
		assert.Equal(t, c.null, null, c.hex)
		assert.Equal(t, len(formattest.Hex(c.hex)), r.Offset(), c.hex)
	}
}

func TestHostile(t *testing.T) {
	deep := strings.Repeat("240101", 1200)
	formattest.Stops(t, Format, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "a class id cut", Body: formattest.Hex("80"), Cause: decode.Malformed},
		{Name: "string longer than the body", Body: formattest.Hex("0301 ffffffff07 61"), Cause: decode.Malformed},
		{Name: "string of negative length", Body: formattest.Hex("0301 ffffffff7f 61"), Cause: decode.Malformed},
		{Name: "string without end", Body: formattest.Hex("0301 61616161"), Cause: decode.Malformed},
		{Name: "character cut", Body: formattest.Hex("0301 82 e4b8"), Cause: decode.Malformed},
		{Name: "character of a continuation byte", Body: formattest.Hex("0301 82 bf"), Cause: decode.Malformed},
		{Name: "list of 2^31 elements", Body: formattest.Hex("2401 ffffffff07"), Cause: decode.Malformed},
		{Name: "list of -1 elements", Body: formattest.Hex("2401 ffffffff0f"), Cause: decode.Malformed},
		{Name: "double[] of 2^31 elements", Body: formattest.Hex("3701 ffffffff07"), Cause: decode.Malformed},
		{Name: "map cut behind a key", Body: formattest.Hex("2301 01 0301826b"), Cause: decode.Malformed},
		{Name: "reference to a later object", Body: formattest.Hex("2401 01 2407"), Cause: decode.Malformed},
		{Name: "reference byte 0", Body: formattest.Hex("2400"), Cause: decode.Malformed},
		{Name: "class name number 5", Body: formattest.Hex("0105"), Cause: decode.Malformed},
		{Name: "empty class name", Body: formattest.Hex("0100 81 01"), Cause: decode.Malformed},
		{Name: "null class name", Body: formattest.Hex("0100 80 01"), Cause: decode.Malformed},
		{Name: "registered class of the application", Body: formattest.Hex("6901 0e"), Cause: decode.Unsupported},
		{Name: "class of the application", Body: formattest.Hex("0100 47656e24557365f2 01 0e"), Cause: decode.Unsupported},
		{Name: "array of 300 dimensions", Body: append(formattest.Hex("0100 ac04"), append(bytes.Repeat([]byte("["), 299), 'I', 1, 1)...), Cause: decode.Malformed},
		{Name: "lists nested too deep", Body: formattest.Hex(deep), Cause: decode.Limit},
		{Name: "wrappers nested too deep", Body: formattest.Hex(strings.Repeat("160100", 1200)), Cause: decode.Limit},
	})
}

// A class is named by its number where the application registered it.
func TestRegisteredClass(t *testing.T) {
	r := Format.New()
	r.Reset(formattest.Hex("69 01 0e"), decode.Malformed, nil)
	r.Value(decode.ByField, "result", 0, "")
	assert.Equal(t, "the fields of registered class #103", r.Err().Expected)
}

// Strings that are references are repeated, up to a bound; other objects, and strings beyond it, are references.
func TestRepeatedText(t *testing.T) {
	body := formattest.Hex("2401 e807 0301", "c104", strings.Repeat("78", 256), strings.Repeat("0303", 999))
	tree := decode.Tree{WithValues: true}
	r := Format.New()
	r.Reset(body, decode.Malformed, &tree)
	r.Value(decode.ByField, "result", 0, "")
	require.Nil(t, r.Err())
	formattest.Balance(t, &tree, len(body))
	texts, refs := 0, 0
	for _, n := range tree.Nodes {
		texts += len(n.Text)
		if n.Kind == decode.Ref {
			refs++
		}
	}
	assert.Positive(t, refs)
	assert.LessOrEqual(t, texts, (maxCopied+1)*len(body))
}

const (
	pojo        = "0100 47656e24557365f2 01 0e 01626fe2" // Gen$User(7, "bob")
	attachments = "2301 01 0301 706174e8 0301 642e48e9"  // {path=d.Hi}
)

func TestFindAttachments(t *testing.T) {
	formattest.FindAttachments(t, Format, "LGen$User;", attachments, []formattest.Find{
		{Name: "after an object", Before: pojo, Body: attachments},
		{Name: "at the start", Body: attachments},
		{Name: "a map of the object before", Before: pojo + "2301 01 0301826b 03018276", Body: attachments},
		{Name: "bytes like a map before", Before: pojo + "2301 2301 02", Body: attachments},
		{Name: "empty map", Before: pojo, Body: "230100", Want: -1},
		{Name: "a map ends the attachments", Before: pojo, Body: "2301 02 0301 706174e8 03018261 0301 826d 2301 01 03018261 03018262"},
		{Name: "an empty map ends the attachments", Before: pojo, Body: "2301 02 0301 706174e8 03018261 0301 826d 230100"},
		{Name: "without a key of Dubbo", Before: pojo, Body: "2301 01 0301826b 03018276", Want: -1},
		{Name: "a map ends attachments with an object", Before: pojo, Body: "2301 02 0301 706174e8 " + pojo + "0301826d 2301 01 0301826e 0202", Want: -1},
		{Name: "an empty map without a key of Dubbo", Before: pojo, Body: "2301 01 0301 826d 230100", Want: -1},
		{Name: "a key by reference", Before: pojo, Body: "2301 02 0301 706174e8 03018261 0304 03018263"},
		{Name: "a value of the application", Before: pojo, Body: "2301 01 0301 706174e8 " + pojo, Want: -1},
		{Name: "a key that is not a string", Before: pojo, Body: "2301 01 0202 0202", Want: -1},
		{Name: "cut", Before: pojo, Body: "2301 02 0301 706174e8 0301 642e48e9", Want: -1},
	})
}

// The search is linear, whatever the body is full of.
func TestFindIsBounded(t *testing.T) {
	const size = 1 << 20
	for name, unit := range map[string]string{
		"maps":              "2301",
		"maps of one entry": "2301 01 0301",
		"long maps":         "2301 7f 0301 8261",
		"strings":           "2301 7f 03016161",
		"unended strings":   "2301 01 0301 61",
		"names":             "2301 01 0301 8261 0100 61e2",
		"streams":           "2301 01 0301 8261 0100 61e2 01 aced0005 73 72 ffff",
		"streams, Kryo 5":   "2201 02 0301 8261 0100 61e2 01 aced0005 73 72 ffff",
	} {
		body := bytes.Repeat(formattest.Hex(unit), size/len(formattest.Hex(unit)))
		for _, r := range []decode.Reader{New4(), New5(), NewUntagged4(), NewUntagged5()} {
			used := testkit.CPU()
			r.Reset(body, decode.Malformed, nil)
			r.(decode.AttachmentFinder).FindAttachments(0)
			assert.Less(t, used(), 20*time.Second, name)
		}
	}
}

func request() []byte {
	b := formattest.Hex("322e302eb2 642e48e9 302e302eb0 68e9")
	desc := "Ljava/lang/String;Ljava/util/Map;"
	b = append(b, desc[:len(desc)-1]...)
	b = append(b, desc[len(desc)-1]|0x80)
	b = append(b, formattest.Hex("0301 d007", strings.Repeat("61", 463), "2301 32")...)
	for i := range 50 {
		b = append(b, formattest.Hex("0301 6b65", "f"+string("0123456789abcdef"[i&15]), "02c09a0c")...)
	}
	return append(b, formattest.Hex(attachments)...)
}

func TestNoAllocs(t *testing.T) { formattest.NoAllocs(t, Format, request()) }

func BenchmarkReader(b *testing.B) { formattest.Bench(b, Format, request()) }

// A Java serialization stream that cannot be read to its end stops the reader where it does; the attachments are found.
func TestStreamThatBreaks(t *testing.T) {
	const class = "0100 4572f2 01"
	for _, stream := range []string{"aced0005", "aced0005 70", "aced0005 73", "aced0005 73 72 0003 457272 0000000000000000 ff", "aced0005 73 71 007e0000"} {
		for _, c := range []struct {
			format      decode.Format
			attachments string
		}{{Format, attachments}, {Format5, attachments5}} {
			before := formattest.Hex(class, stream)
			body := append(before, formattest.Hex(c.attachments)...)
			tree := decode.Tree{WithValues: true}
			r := c.format.New()
			r.Reset(body, decode.Malformed, &tree)
			r.Throwable()
			require.NotNil(t, r.Err(), stream)
			assert.Equal(t, decode.Unsupported, r.Err().Cause, stream)
			assert.LessOrEqual(t, r.Offset(), len(body), stream)
			formattest.Balance(t, &tree, r.Offset())
			at, ok := r.(decode.AttachmentFinder).FindAttachments(5)
			assert.True(t, ok, stream)
			assert.Equal(t, len(before), at, stream)
			formattest.Check(t, c.format, body)
			r.Reset(before, decode.Cut, &tree)
			r.Throwable()
			require.NotNil(t, r.Err(), stream)
		}
	}
}

// The objects of a class share one stream: in Dubbo 2.6 an object that came inside another one is a reference in it.
func TestReferenceInStream(t *testing.T) {
	const (
		user   = "47656e55736572"
		inside = "73 71 007e0000 70" // handle 3
		first  = "01 aced0005 73 72 0007" + user + "0000000000000001 02 0001 4c 0001 6f 74 0012 4c6a6176612f6c616e672f4f626a6563743b 78 70" + inside
	)
	read := func(again string, tree *decode.Tree) *decode.Error {
		r := New4()
		r.Reset(formattest.Hex("2301 03 0301 8261 0100 47656e557365f2", first, "0301 8262 0100 01", again, "0301 8263 0100 06"), decode.Malformed, tree)
		r.Value(decode.ByField, "result", 0, "")
		return r.Err()
	}
	tree := decode.Tree{WithValues: true}
	require.Nil(t, read("71 007e0003", &tree))
	assert.Equal(t, `{"a":{"@class":"GenUser","o":{"@class":"GenUser","o":null}},"b":{"@ref":"result.a.o"},"c":{"@ref":"result.a.o"}}`, (&formattest.Message{Tree: tree}).Value("result"))
	assert.Nil(t, read("71 007e0003", nil))
	for _, bad := range []string{"71 007e0004", "71 007e0000", "71 007e0001", "71 00"} {
		require.NotNil(t, read(bad, nil), bad)
		require.NotNil(t, read(bad, &decode.Tree{WithValues: true}), bad)
	}
}
