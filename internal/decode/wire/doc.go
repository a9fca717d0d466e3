// Package wire replaces values in the bytes of a body, for redaction. It has the encodings that serializations share: of
// texts (UTF-8 as in the standard and as Java writes it, UTF-16, Latin-1, JSON) and of numbers (fixed and variable length,
// decimal). Encodings of one serialization are in its folder below internal/decode/formats, file scrub.go.
//
// An encoding is a [decode.ScrubFunc]. It gets the bytes that a node of the tree owns: the value, perhaps after a byte for
// its type and after its length. It looks for the node's value in them and replaces it. If it does not find the value, it
// changes nothing and returns false. It keeps nothing.
package wire

import "dubbo-wire/internal/decode"

// Any tries encodings in order; the first one that finds the value replaces it.
func Any(encodings ...decode.ScrubFunc) decode.ScrubFunc {
	return func(b []byte, n *decode.Node, m decode.Mapper) bool {
		for _, f := range encodings {
			if f(b, n, m) {
				return true
			}
		}
		return false
	}
}

// Shared tries all encodings of this package, those with the fewest false matches first.
var Shared = Any(Raw, UTF8, UTF16, Latin1, Quoted, Decimal, UUID, Fixed, Varint, Zigzag, Unscaled, Calendar)
