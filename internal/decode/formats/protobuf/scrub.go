package protobuf

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/wire"
)

// scrub replaces values after their tags. The zero of a wrapper is an empty message and stays.
func scrub(b []byte, n *decode.Node, m decode.Mapper) bool {
	if n.Kind == decode.Overhead {
		return n.Name == "text" && scrubTwice(b, m)
	}
	if len(b) == 1 && b[0] == 0 && n.Num == 0 && n.Float == 0 && n.Text == "" && len(n.Raw) == 0 {
		return true
	}
	return forms(b, n, m)
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
