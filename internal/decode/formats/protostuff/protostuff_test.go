package protostuff

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

func TestValues(t *testing.T) { formattest.Wants(t, Format, "testdata/values.tsv") }

func TestFrames(t *testing.T) { formattest.Whole(t, Format, "testdata/frames.tsv") }

func FuzzReader(f *testing.F) {
	formattest.Fuzz(f, Format, "testdata/values.tsv", "testdata/frames.tsv")
}

// value writes an object of a class: the lengths, the name, the message.
func value(class, message string) []byte {
	m := formattest.Hex(message)
	b := binary.BigEndian.AppendUint32(nil, uint32(len(class)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(m)))
	return append(append(b, class...), m...)
}

func TestText(t *testing.T) {
	for _, c := range []struct{ hex, want string }{
		{"00000000", ""},
		{"00000002 6162", "ab"},
		{"00000003 e4b8ad", "中"},
		{"00000004 f09f9880", "😀"},
		{"00000003 61 ff 62", "a\ufffdb"},
	} {
		r := Format.New()
		r.Reset(formattest.Hex(c.hex), decode.Malformed, nil)
		s, null := r.Text("errorMessage")
		require.Nil(t, r.Err(), c.hex)
		assert.Equal(t, c.want, s, c.hex)
		assert.False(t, null, c.hex)
	}
}

func TestHostile(t *testing.T) {
	formattest.Stops(t, Format, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "lengths cut", Body: formattest.Hex("00000001 000000"), Cause: decode.Malformed},
		{Name: "class name longer than the body", Body: formattest.Hex("7fffffff 00000000 61"), Cause: decode.Malformed},
		{Name: "class name of negative length", Body: formattest.Hex("ffffffff 00000000 61"), Cause: decode.Malformed},
		{Name: "value longer than the body", Body: formattest.Hex("00000001 7fffffff 61"), Cause: decode.Malformed},
		{Name: "value of negative length", Body: formattest.Hex("00000001 ffffffff 61"), Cause: decode.Malformed},
	})
}

// A message that is not what its class name promises is measured all the same.
func TestOpaque(t *testing.T) {
	deep := strings.Repeat("0b ca01 01 61", 1200) + strings.Repeat("0c", 1200)
	for _, c := range []struct{ name, class, message string }{
		{"an object of the application", "Gen$User", "0807 1203626f62"},
		{"rubbish", wrapper, "ffff"},
		{"rubbish in an object of the application", "Gen$User", "ffff"},
		{"a string of JDK 8", "java.lang.String", "0b 0802 1061 1062 0c"},
		{"a string whose bytes are cut", "java.lang.String", "0a05 6162"},
		{"a string of coder 2", "java.lang.String", "0a02 6162 1002"},
		{"a box of another wire type", "java.lang.Integer", "0d00000000"},
		{"an unknown member", wrapper, "0b a801 01 0c"},
		{"a group that does not end", wrapper, "0b ca01 09 41727261794c697374"},
		{"a reference to a later object", wrapper, "0b ca01 09 41727261794c697374 0e05 0c"},
		{"bytes behind the value", wrapper, "0b 2801 0c 00"},
		{"lists nested too deep", wrapper, deep},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := value(c.class, c.message)
			tree := decode.Tree{WithValues: true}
			r := Format.New()
			r.Reset(body, decode.Malformed, &tree)
			r.Value(decode.ByField, "result", 0, "")
			require.Nil(t, r.Err())
			assert.Equal(t, len(body), r.Offset())
			formattest.Balance(t, &tree, len(body))
			last := tree.Nodes[len(tree.Nodes)-1]
			assert.Equal(t, decode.Opaque, last.Kind)
			assert.Equal(t, len(formattest.Hex(c.message)), int(last.Len))
			formattest.Check(t, Format, body)
		})
	}
}

// Objects inside a collection that are not decoded are opaque with their extent, and so are references into them.
func TestOpaqueElements(t *testing.T) {
	user := "0b fa07 08 47656e2455736572 0807 1a 01 61 0c"
	list := func(elements string) []byte { return value(wrapper, "0b ca01 09 41727261794c697374"+elements+"0c") }
	for _, c := range []struct{ name, elements, want string }{
		{"an object between two", "0b2801 0c" + user + "0b2802 0c", `[1,{"@class":"Gen$User","#opaque":{"@opaque":6}},2]`},
		{"the same twice", user + "0e01", `[{"@class":"Gen$User","#opaque":{"@opaque":6}},{"@ref":"result[0]"}]`},
		{
			"a part of it again", "0b fa07 08 47656e2455736572 0b 0801 0c 0c 0e02",
			`[{"@class":"Gen$User","#opaque":{"@opaque":5}},{"@opaque":2}]`,
		},
	} {
		assert.Equal(t, c.want, formattest.Value(t, Format, list(c.elements)), c.name)
	}
}

// Strings that are references are repeated, up to a bound; other objects, and strings beyond it, are references.
func TestRepeatedText(t *testing.T) {
	body := value(wrapper, "0b ca01 09 41727261794c697374 0b 4a 8004"+strings.Repeat("78", 512)+"0c"+strings.Repeat("0e01", 2000)+"0c")
	tree := decode.Tree{WithValues: true}
	r := Format.New()
	r.Reset(body, decode.Malformed, &tree)
	r.Value(decode.ByField, "result", 0, "")
	require.Nil(t, r.Err())
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

// An exception has its class and its message; the rest of it is measured.
func TestThrowable(t *testing.T) {
	body := value("a.OrderException", "0a0178 13 a203 10 612e4f72646572457863657074696f6e 0a0178 14")
	tree := decode.Tree{WithValues: true}
	r := Format.New()
	r.Reset(body, decode.Malformed, &tree)
	r.Throwable()
	require.Nil(t, r.Err())
	formattest.Balance(t, &tree, len(body))
	assert.Equal(t, `{"@class":"a.OrderException","detailMessage":"x","#opaque":{"@opaque":24}}`, string(tree.AppendJSON(nil, 0)))
}

func request() []byte {
	var b []byte
	for _, s := range []string{"2.0.2", "d.Hi", "0.0.0", "hi", "Ljava/lang/Integer;Ljava/util/Map;"} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	b = append(b, value("java.lang.Integer", "0805")...)
	b = append(b, value(wrapper, "0b d201 07 486173684d6170"+strings.Repeat("0b 0b 4a016b 0c 13 4a0176 14 0c", 50)+"0c")...)
	return append(b, value(wrapper, "0b d201 07 486173684d6170 0b 0b 4a0470617468 0c 13 4a04642e4869 14 0c 0c")...)
}

func TestNoAllocs(t *testing.T) { formattest.NoAllocs(t, Format, request()) }

func BenchmarkReader(b *testing.B) { formattest.Bench(b, Format, request()) }
