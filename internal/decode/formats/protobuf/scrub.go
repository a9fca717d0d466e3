package protobuf

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/scrub/wire"
)

// scrub replaces values behind their tags. The zero of a wrapper is an empty message: nothing to replace.
func scrub(b []byte, n *decode.Node, m decode.Mapper) bool {
	if len(b) == 1 && b[0] == 0 && n.Num == 0 && n.Float == 0 && n.Text == "" && len(n.Raw) == 0 {
		return true
	}
	return forms(b, n, m)
}

var forms = wire.Any(wire.Raw, wire.UTF8, wire.Varint, wire.Zigzag, wire.Fixed)
