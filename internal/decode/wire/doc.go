// Package wire replaces values where they stand: it knows the forms that serializations share, of texts (UTF-8 as everybody
// and as Java writes it, UTF-16, Latin-1, JSON) and of numbers (fixed and variable length, decimal). What is a
// serialization's own is in its folder below internal/decode/formats, file scrub.go.
//
// A form gets the bytes that a node of the tree owns: a value, perhaps behind a mark of its type and its length. It looks for
// the value that the tree has in them and replaces it; where it does not find it, it changes nothing and says so. It keeps
// nothing.
package wire

import "dubbo-wire/internal/decode"

// Any is the forms one after the other: the first that finds the value replaces it.
func Any(forms ...decode.ScrubFunc) decode.ScrubFunc {
	return func(b []byte, n *decode.Node, m decode.Mapper) bool {
		for _, f := range forms {
			if f(b, n, m) {
				return true
			}
		}
		return false
	}
}

// Shared is all forms of this package, the most telling first.
var Shared = Any(Raw, UTF8, UTF16, Latin1, Quoted, Decimal, UUID, Fixed, Varint, Zigzag, Unscaled, Calendar)
