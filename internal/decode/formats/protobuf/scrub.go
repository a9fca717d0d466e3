package protobuf

import (
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/wire"
)

// scrub replaces values after their tags. The zero of a wrapper is an empty message and stays.
func scrub(b []byte, n *decode.Node, m decode.Mapper) bool {
	if n.Kind == decode.Overhead {
		return n.Name == "text" && scrubTwice(b, m)
	}
	if len(b) == 1 && b[0] == 0 && n.Num == 0 && n.Float == 0 && (n.Text == "" || n.Kind == decode.Date || n.Text == "0s") && len(n.Raw) == 0 {
		return true
	}
	return forms(b, n, m) || scrubTime(b, n, m)
}

// scrubTime replaces the seconds and nanoseconds of a Timestamp or a Duration, which is shown as a text. A length may precede them.
func scrubTime(b []byte, n *decode.Node, m decode.Mapper) bool {
	if n.Kind != decode.Date && (n.Kind != decode.String || !strings.HasSuffix(n.Text, "s")) {
		return false
	}
	if size, k := varint(b); k > 0 && size == uint64(len(b)-k) {
		b = b[k:]
	}
	numbers := func(f func(num protowire.Number, value []byte)) bool {
		for at := 0; at < len(b); {
			num, wire, k := tagOf(b[at:])
			if k < 0 || num > 2 || wire != protowire.VarintType {
				return false
			}
			_, size := varint(b[at+k:])
			if size < 0 {
				return false
			}
			f(num, b[at+k:at+k+size])
			at += k + size
		}
		return true
	}
	if len(b) == 0 || !numbers(func(protowire.Number, []byte) {}) {
		return false
	}
	return numbers(func(_ protowire.Number, value []byte) {
		v, _ := varint(value)
		wire.Varint(value, &decode.Node{Kind: decode.Int, Num: int64(v)}, m)
	})
}

var forms = wire.Any(wire.Raw, wire.UTF8, wire.Varint, wire.Zigzag, wire.Fixed)

// scrubTwice replaces the text of an attachment that is written twice, as text and with its type.
func scrubTwice(b []byte, m decode.Mapper) bool {
	if len(b) == 0 || b[0] != textField<<3|2 {
		return false
	}
	var r Reader
	r.Cursor.Reset(b, decode.Malformed)
	e, after, ok := r.entry(len(b))
	if !ok || after != len(b) || e.field != textField {
		return false
	}
	if text := b[e.value.from:e.value.to]; !decode.NamesCallee(string(b[e.key.from:e.key.to]), string(text)) {
		wire.MapUTF8(text, decode.String, m)
	}
	return true
}
