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

// What Dubbo 2.7.0 writes: nested messages after a length.

func TestValues270(t *testing.T) { formattest.Wants(t, Format10, "testdata/values270.tsv") }

func TestFrames270(t *testing.T) { formattest.Whole(t, Format10, "testdata/frames270.tsv") }

// The same value in both forms: a list of a text and a list, a map of a text and a number.
func TestForms(t *testing.T) {
	for _, c := range []struct{ name, groups, lengths, want string }{
		{"a text", "0b 4a0161 0c", "0a03 4a0161", `"a"`},
		{"an empty text", "0b 4a00 0c", "0a02 4a00", `""`},
		{
			"lists", "0b ca01 09 41727261794c697374 0b 4a0161 0c 0b ca01 09 41727261794c697374 0c 0c",
			"0a1f ca01 09 41727261794c697374 0a03 4a0161 0a0c ca01 09 41727261794c697374", `["a",[]]`,
		},
		{
			"a map", "0b d201 07 486173684d6170 0b 0b 4a016b 0c 13 2801 14 0c 0c",
			"0a15 d201 07 486173684d6170 0a09 0a03 4a016b 1202 2801", `{"k":1}`,
		},
		{"an entry of null and null", "0b d201 07 486173684d6170 0b 0c 0c", "0a0c d201 07 486173684d6170 0a00", `{"@map":[[null,null]]}`},
		{"an array of texts", "0b 8802 10 0801 120161 0c", "0a08 8802 10 0801 120161", `["a"]`},
		{
			"an application's object", "0b fa07 08 47656e2455736572 0807 0c", "0a0d fa07 08 47656e2455736572 0807",
			`{"@class":"Gen$User","#opaque":{"@opaque":3}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			lengths := strings.Replace(c.want, `"@opaque":3`, `"@opaque":2`, 1) // no end
			assert.Equal(t, c.want, formattest.Value(t, Format10, value(wrapper, c.groups)), "groups")
			assert.Equal(t, lengths, formattest.Value(t, Format10, value(wrapper, c.lengths)), "lengths")
		})
	}
}

// Messages that contradict themselves are measured as a whole; nothing in them is guessed.
func TestOpaqueLengths(t *testing.T) {
	list := "ca01 09 41727261794c697374"
	for _, c := range []struct{ name, message string }{
		{"a length beyond the value", "0a20 " + list},
		{"a length of 64 bits", "0a ffffffffffffffffff01 " + list},
		{"a length that is cut", "0a 80"},
		{"no member", "0a00"},
		{"a length beyond its message", "0a11 " + list + " 0a04 4a0161 4a"},
		{"bytes behind the member", "0a05 4a0161 2801"},
		{"bytes behind the value", "0a03 4a0161 00"},
		{"a length before its message ends", "0a02 4a0161"},
		{"a text in place of an object", "0a0f " + list + " 0a01 61"},
		{"a group among lengths", "0a11 " + list + " 0b 4a0161 0c"},
		{"a length among groups", "0b " + list + " 0a03 4a0161 0c"},
		{"a reference among lengths", "0a13 " + list + " 0a03 4a0161 0e00"},
		{"a tag of the end of a group", "0a04 4a0161 0c"},
		{"an element of another field", "0a11 " + list + " 1203 4a0161"},
		{"an entry with a third field", "0a0f d201 07 486173684d6170 0a03 1a0161"},
		{"an entry with two values", "0a14 d201 07 486173684d6170 0a08 1202 2801 1202 2801"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := value(wrapper, c.message)
			tree := decode.Tree{WithValues: true}
			r := Format10.New()
			r.Reset(body, decode.Malformed, &tree)
			r.Value(decode.ByField, "result", 0, "")
			require.Nil(t, r.Err())
			assert.Equal(t, len(body), r.Offset())
			formattest.Balance(t, &tree, len(body))
			last := tree.Nodes[len(tree.Nodes)-1]
			assert.Equal(t, decode.Opaque, last.Kind)
			assert.Equal(t, len(formattest.Hex(c.message)), int(last.Len), "nothing of the message is read")
			formattest.Check(t, Format10, body)
		})
	}
}

// What follows a value is read after it, however the value ended.
func TestBehindLengths(t *testing.T) {
	for _, message := range []string{"0a03 4a0161", "0a20 ca01"} {
		body := append(value(wrapper, message), value("java.lang.Integer", "0805")...)
		tree := decode.Tree{WithValues: true}
		r := Format10.New()
		r.Reset(body, decode.Malformed, &tree)
		r.Value(decode.ByField, "result", 0, "")
		r.Attachments()
		require.Nil(t, r.Err())
		assert.Equal(t, len(body), r.Offset())
		m := formattest.Message{Tree: tree}
		assert.Equal(t, "5", m.Value("attachments"))
	}
}

// lists returns nested lists, the innermost one empty.
func lists(depth int) []byte {
	var m []byte
	for range depth {
		m = append(formattest.Hex("ca01 09 41727261794c697374"), m...)
		m = append(binary.AppendUvarint([]byte{byte(tagOf(1, delimited))}, uint64(len(m))), m...)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(len(wrapper)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(m)))
	return append(append(b, wrapper...), m...)
}

func TestDepthOfLengths(t *testing.T) {
	for depth, opaque := range map[int]bool{decode.MaxDepth: false, decode.MaxDepth + 1: true, 3 * decode.MaxDepth: true} {
		body := lists(depth)
		got := formattest.Value(t, Format10, body)
		assert.Equal(t, opaque, strings.Contains(got, "@opaque"), "%d deep", depth)
		formattest.Check(t, Format10, body)
	}
}

// An exception's message is the first field, and a text; a cause is after the second.
func TestThrowableLengths(t *testing.T) {
	for _, c := range []struct{ message, want string }{
		{"0a0178 1a02 0800", `{"@class":"a.OrderException","detailMessage":"x","#opaque":{"@opaque":4}}`},
		{"1a02 0800", `{"@class":"a.OrderException","#opaque":{"@opaque":4}}`},
	} {
		body := value("a.OrderException", c.message)
		tree := decode.Tree{WithValues: true}
		r := Format10.New()
		r.Reset(body, decode.Malformed, &tree)
		r.Throwable()
		require.Nil(t, r.Err())
		formattest.Balance(t, &tree, len(body))
		assert.Equal(t, c.want, string(tree.AppendJSON(nil, 0)))
	}
}

func FuzzReader270(f *testing.F) {
	f.Add(value(wrapper, "0a11 ca01 09 41727261794c697374 0b 4a0161 0c"))
	f.Add(value(wrapper, "0a0f ca01 09 41727261794c697374 0a01 61"))
	f.Add(lists(40))
	formattest.Fuzz(f, Format10, "testdata/values270.tsv", "testdata/frames270.tsv")
}
