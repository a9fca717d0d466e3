package protobuf

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/dev/testkit"
)

func TestHostile(t *testing.T) {
	formattest.Stops(t, Format, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "a length that does not end", Body: bytes.Repeat([]byte{0xff}, 9), Cause: decode.Malformed},
		{Name: "a length of more than 64 bits", Body: bytes.Repeat([]byte{0xff}, 20), Cause: decode.Malformed},
		{Name: "the longest length", Body: formattest.Hex("ffffffffffffffffff01 00"), Cause: decode.Malformed},
		{Name: "2 GB", Body: formattest.Hex("ffffffff07 00"), Cause: decode.Malformed},
		{Name: "a byte too few", Body: formattest.Hex("03 0801"), Cause: decode.Malformed},
	})
}

// A message that does not consist of fields is opaque, to its end and with its length; what stands after it is read.
func TestDamage(t *testing.T) {
	for name, fields := range map[string]string{
		"a tag that does not end":            "88",
		"a tag of eleven bytes":              "88 8080808080808080 8080 01 01",
		"field 0":                            "00 01",
		"field 0 behind another":             "08 01 02 00",
		"wire type 6":                        "0e 01",
		"wire type 7":                        "0f 01",
		"no varint":                          "08",
		"a varint that does not end":         "08 80",
		"a varint of eleven bytes":           "08 80808080808080808080 01",
		"four bytes cut":                     "0d 010203",
		"eight bytes cut":                    "09 01020304050607",
		"no length":                          "0a",
		"a length that does not end":         "0a ff",
		"a length of 2 GB":                   "0a ffffffff07 61",
		"a length of 64 bits":                "0a ffffffffffffffffff01 61",
		"one byte less than a length":        "0a 02 61",
		"a group without end":                "0b 08 01",
		"the end of no group":                "0c",
		"the end of another group":           "0b 14",
		"a group within one that ends first": "0b 13 0c 14",
		"a field behind which a byte stands": "08 01 ff",
	} {
		body := delimit(0, formattest.Hex(fields))[1:]
		tree := &decode.Tree{WithValues: true}
		r := New().(*Reader)
		r.Reset(append(body, 2, 8, 5), decode.Malformed, tree)
		r.Value(decode.ByField, "result", 0, "")
		require.Nil(t, r.Err(), name)
		require.NotNil(t, r.Fault(), name)
		assert.Equal(t, decode.Malformed, r.Fault().Cause, name)
		assert.NotEmpty(t, r.Fault().Expected, name)
		assert.Equal(t, decode.Opaque, tree.Nodes[0].Kind, name)
		assert.EqualValues(t, len(body), tree.Nodes[0].Len, name)
		next := len(tree.Nodes)
		r.Value(decode.ByField, "next", 0, "")
		assert.Equal(t, `{"#1":5}`, string(tree.AppendJSON(nil, next)), name)
		formattest.Check(t, Format, body)
	}
}

// Why a value is opaque is what a frame says of itself.
func TestFault(t *testing.T) {
	d := dubbo.NewDecoder([]decode.Format{Format})
	const kind, none = "02 08 04", "00"
	for _, c := range []struct{ value, attachments, want string }{
		{"02 0801", none, `response | full | result={"#1":1} | attachments={}`},
		{"01 ff", none, `response | envelope | result={"@opaque":2} | attachments={} | !malformed: the fields of a message`},
		{"02 0801", "02 18 01", `response | partly | result={"#1":1} | attachments={"#3":{"@opaque":2}} | !unsupported: an attachment as Dubbo writes it`},
		{"02 0801", "08 12 06 0a 01 6b 12 01 76", `response | partly | result={"#1":1} | attachments={"k":{"@opaque":1}} | !unsupported: an attachment of a type that Dubbo writes`},
		{"02 0801", "01 0a", `response | partly | result={"#1":1} | attachments={"@opaque":2} | !malformed: the fields of a message`},
	} {
		got := formattest.Summary(t, d, formattest.Hex("dabb1614"), formattest.Hex(kind, c.value, c.attachments))
		assert.Equal(t, c.want, got[:strings.LastIndex(got, " | ")])
	}
}

func TestTexts(t *testing.T) {
	for body, ok := range map[string]bool{
		"04 0a 02 6162": true, "00": true, "02 0a 00": true,
		"": false, "04 0a 02 61": false, "02 08 01": false, "03 0a 02 61": false, "05 0a 02 6162 08": false, "01 0a": false,
	} {
		r := Format.New()
		r.Reset(formattest.Hex(body), decode.Malformed, nil)
		r.Text("path")
		require.Equal(t, ok, r.Err() == nil, body)
		if !ok {
			require.Equal(t, decode.Malformed, r.Err().Cause, body)
			require.Zero(t, r.Offset(), body)
		}
	}
	r := Format.New()
	r.Reset(formattest.Hex("04 0a 02 61"), decode.Cut, nil)
	r.Text("path")
	require.Equal(t, decode.Cut, r.Err().Cause)
}

func TestResultKind(t *testing.T) {
	for body, want := range map[string]int{
		"02 08 04": 4, "00": 0, "02 08 7f": 127, // which is for the caller to judge
		"": -1, "02 08": -1, "03 08 80 01": -1, "02 10 04": -1, "0b 08 ffffffffffffffffff01": -1, "03 0a 01 61": -1,
	} {
		r := Format.New()
		r.Reset(formattest.Hex(body), decode.Malformed, nil)
		kind := r.ResultKind()
		require.Equal(t, want >= 0, r.Err() == nil, body)
		if want >= 0 {
			require.Equal(t, byte(want), kind)
		}
	}
}

// delimit puts tag and length in front.
func delimit(tag byte, b []byte) []byte {
	return append(protowire.AppendVarint([]byte{tag}, uint64(len(b))), b...)
}

// walk reads a value that fills the body and returns its tree.
func walk(tb testing.TB, body []byte) *decode.Tree {
	tb.Helper()
	tree := &decode.Tree{WithValues: true}
	r := Format.New()
	r.Reset(body, decode.Malformed, tree)
	r.Value(decode.ByField, "result", 0, "")
	if err := r.Err(); err != nil {
		require.Equal(tb, decode.Limit, err.Cause)
	} else {
		require.Equal(tb, len(body), r.Offset())
	}
	formattest.Balance(tb, tree, r.Offset())
	return tree
}

// Deep nesting ends in bytes, as it does for protobuf's own readers.
func TestDepth(t *testing.T) {
	nested := []byte{8, 1}
	for range 120 {
		nested = delimit(0x0a, nested)
	}
	group := append(bytes.Repeat([]byte{0x0b}, 120), bytes.Repeat([]byte{0x0c}, 120)...)
	for name, b := range map[string][]byte{"messages": nested, "groups": delimit(0x0a, group), "exceptions": bytes.ReplaceAll(nested, []byte{0x0a}, []byte{0x22})} {
		tree := walk(t, delimit(0, b)[1:])
		objects, depth := 0, 0
		for i, n := range tree.Nodes {
			if n.Kind == decode.Object {
				objects++
			}
			d := 0
			for p := tree.Nodes[i].Parent; p >= 0; p = tree.Nodes[p].Parent {
				d++
			}
			depth = max(depth, d)
		}
		assert.LessOrEqual(t, objects, maxNested, name)
		assert.LessOrEqual(t, depth, maxNested, name)
	}
	// The schema of an exception does not lead deeper either.
	var body []byte
	for range 500 {
		body = delimit(0x22, body)
	}
	tree := decode.Tree{}
	r := Format.New()
	r.Reset(delimit(0, body)[1:], decode.Malformed, &tree)
	r.Throwable()
	require.Nil(t, r.Err())
	require.Equal(t, decode.Opaque, tree.Nodes[len(tree.Nodes)-1].Kind)
	require.Equal(t, decode.Limit, r.(decode.Faulter).Fault().Cause)
}

// The time for a body grows with its length, however deep what lies in it is nested, and whatever nearly is a text or a
// message: a reader that looks at the same bytes again on each level takes a hundred times as long.
func TestLinearTime(t *testing.T) {
	const size, deep = 1 << 18, maxNested - 2
	for name, b := range map[string][]byte{
		"a text": bytes.Repeat([]byte("x"), size),
		"a text that ends in a control character": append(bytes.Repeat([]byte("x"), size), 0),
		"lines that end in a control character":   append(bytes.Repeat([]byte("\n"), size), 0),
		"fields, the last one cut":                append(bytes.Repeat([]byte{8, 1}, size/2), 8),
		"fields":                                  bytes.Repeat([]byte{8, 1}, size/8),
		"empty texts":                             bytes.Repeat([]byte{0x0a, 0}, size/8),
	} {
		t.Run(name, func(t *testing.T) {
			nested := b
			for range deep {
				nested = delimit(0x22, nested)
			}
			ratio(t, delimit(0x22, b), nested)
		})
	}
	t.Run("groups", func(t *testing.T) {
		nested := append(bytes.Repeat([]byte{0x0b}, deep), bytes.Repeat([]byte{0x0c}, deep)...)
		ratio(t, bytes.Repeat([]byte{0x0b, 0x0c}, size/16), bytes.Repeat(nested, size/16/deep))
	})
}

// ratio checks that one message takes not much longer than another one of the same size.
func ratio(t *testing.T, flat, nested []byte) {
	t.Helper()
	tree := &decode.Tree{WithValues: true}
	best := func(fields []byte) time.Duration {
		body := delimit(0, fields)[1:]
		least := time.Hour
		for range 5 {
			tree.Reset()
			r := Format.New()
			used := testkit.CPU()
			r.Reset(body, decode.Malformed, tree)
			r.Value(decode.ByField, "result", 0, "")
			least = min(least, used())
			require.Nil(t, r.Err())
		}
		return least
	}
	short, long := best(flat), best(nested)
	assert.Less(t, long, 20*short+50*time.Millisecond, "flat %s", short)
}
