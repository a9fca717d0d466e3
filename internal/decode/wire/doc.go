// Package wire replaces values in the encodings that serializations share: texts (UTF-8 in the standard form and in Java's,
// UTF-16, Latin-1, JSON), numbers (of fixed and variable length, decimal), decimals, dates and arrays of bytes. The encodings
// of one serialization alone are in its folder below internal/decode/formats, file scrub.go.
//
// Each function is a [decode.ScrubFunc]: it gets the bytes that a node of the tree owns, which may begin with a type and a
// length. It searches them for the node's value and replaces that in place; if it does not find the value, it changes nothing
// and returns false. Replacements come from the [decode.Mapper]. The package keeps nothing.
//
// Sources: RFC 3629 and Java's DataInput (modified UTF-8), RFC 8259 (JSON), BigInteger.toByteArray.
package wire

import "dubbo-wire/internal/decode"

// Any returns a function that calls encodings in turn until one has replaced the value.
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

// Shared calls all functions of this package, the most specific ones first.
var Shared = Any(Raw, UTF8, UTF16, Latin1, Quoted, Decimal, UUID, Fixed, Varint, Zigzag, Unscaled, Calendar)
