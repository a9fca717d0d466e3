package scrub

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/wire"
)

// Each form finds the value of a node in its bytes and leaves what stands around it; what has another value it leaves alone.
func TestForms(t *testing.T) {
	utf16 := []byte{9, 0x50, 0, 0x61, 0, 0x69, 0, 0x64, 0}
	long := binary.BigEndian.AppendUint64([]byte{'L'}, 1732240000000)
	for _, c := range []struct {
		name string
		form decode.ScrubFunc
		b    []byte
		node decode.Node
		kept int // bytes at the start that stay
	}{
		{"UTF-8", wire.UTF8, []byte("\x04Paid"), decode.Node{Kind: decode.String, Text: "Paid"}, 1},
		{"UTF-8, ideograms", wire.UTF8, []byte("\x06订单"), decode.Node{Kind: decode.String, Text: "订单"}, 1},
		{"surrogates of three bytes", wire.UTF8, []byte("\x02\xed\xa0\xbd\xed\xb8\x80"), decode.Node{Kind: decode.String, Text: "😀"}, 1},
		{"Latin-1", wire.Latin1, []byte("\x03\xe9t\xe9"), decode.Node{Kind: decode.String, Text: "été"}, 1},
		{"UTF-16", wire.UTF16, utf16, decode.Node{Kind: decode.String, Text: "Paid"}, 1},
		{"JSON", wire.Quoted, []byte(`"a\n\u8ba2\"b"`), decode.Node{Kind: decode.String, Text: "a\n订\"b"}, 1},
		{"JSON number", wire.Decimal, []byte("-12.50"), decode.Node{Kind: decode.Float64, Float: -12.5}, 1},
		{"8 bytes", wire.Fixed, long, decode.Node{Kind: decode.Int, Num: 1732240000000}, 1},
		{"date", wire.Fixed, long, decode.Node{Kind: decode.Date, Text: "2024-11-22T01:46:40Z"}, 1},
		{"varint", wire.Varint, []byte{8, 0x96, 1}, decode.Node{Kind: decode.Int, Num: 150}, 1},
		{"zigzag", wire.Zigzag, []byte{8, 0xab, 2}, decode.Node{Kind: decode.Int, Num: -150}, 1},
		{"bytes", wire.Raw, []byte{4, 1, 2, 3, 4}, decode.Node{Kind: decode.Bytes, Raw: []byte{1, 2, 3, 4}}, 1},
		{"digits of a decimal", wire.Unscaled, []byte{2, 0x04, 0xe2}, decode.Node{Kind: decode.Decimal, Text: "12.50"}, 1},
		{"parts of a date", wire.Calendar, []byte{3, 0, 0, 7, 0xe8, 5, 6}, decode.Node{Kind: decode.Date, Text: "2024-05-06"}, 4},
	} {
		s := New(nil, key)
		got := append([]byte(nil), c.b...)
		assert.True(t, c.form(got, &c.node, s), c.name)
		assert.Equal(t, c.b[:c.kept], got[:c.kept], c.name)
		assert.NotEqual(t, c.b, got, c.name)
		assert.Len(t, got, len(c.b))

		other := c.node
		other.Text, other.Num, other.Float, other.Raw = "another", 77, 7.5, []byte("another")
		same := append([]byte(nil), c.b...)
		assert.False(t, c.form(same, &other, s), c.name)
		assert.Equal(t, c.b, same, c.name)
	}
}

// A value of one kind becomes the same in every form.
func TestFormsAgree(t *testing.T) {
	s := New(nil, key)
	text := &decode.Node{Kind: decode.String, Text: "order 4711"}
	plain, quoted := []byte("\x0aorder 4711"), []byte(`"order 4711"`)
	assert.True(t, wire.UTF8(plain, text, s))
	assert.True(t, wire.Quoted(quoted, text, s))
	assert.Equal(t, string(plain[1:]), string(quoted[1:len(quoted)-1]))

	num := &decode.Node{Kind: decode.Int, Num: 4711}
	fixed, digits := []byte{0, 0, 0x12, 0x67}, []byte("4711")
	assert.True(t, wire.Fixed(fixed, num, s))
	assert.True(t, wire.Decimal(digits, num, s))
	assert.Equal(t, string(digits), string(appendDecimal(binary.BigEndian.Uint32(fixed))))
}

func appendDecimal(n uint32) (b []byte) {
	for ; n > 0; n /= 10 {
		b = append([]byte{byte('0' + n%10)}, b...)
	}
	return b
}
