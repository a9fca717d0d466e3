package protobuf

import (
	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
)

// Tell distinguishes these bodies from lines of JSON, which have the same id, by the first bytes. Every body starts with a string or
// a number. JSON starts these with a quote and with a digit, and has no raw line end within a text: here byte 0a, the tag
// of a string, follows the length.
func Tell(b []byte, k decode.BodyKind) decode.Verdict {
	if len(b) == 0 {
		return decode.Unsure
	}
	if b[0] == 0 { // an empty string, or the number 0
		return decode.Own
	}
	size, n := protowire.ConsumeVarint(b)
	if n < 0 || n == len(b) {
		return decode.Unsure
	}
	tag := b[n]
	switch {
	case k == decode.BodyResult && tag == 0x08 && size <= 1+maxVarint:
		return decode.Own
	case k != decode.BodyResult && tag == 0x0a:
		return decode.Own
	}
	return decode.Foreign
}
