package fury

import (
	"encoding/binary"

	"dubbo-wire/internal/decode"
)

// generation is the version that wrote a body.
type generation uint8

const (
	unclear   generation = iota
	fury02               // fury-core 0.2.0
	fury010              // fury-core 0.10, Fory
	nullOf02  = 0xfd
	nullOf010 = 0x03
)

// Tell says whether fury-core 0.2.0 wrote a body with id 28 or 29.
func Tell(b []byte, k decode.BodyKind) decode.Verdict { return decode.Judge(judge(b, k), fury02) }

// Tell010 says whether fury-core 0.10 or Fory wrote a body with id 28 or 29.
func Tell010(b []byte, k decode.BodyKind) decode.Verdict { return decode.Judge(judge(b, k), fury010) }

// judge looks at the first text or object. A text of 0.2.0 starts with its coder, 0 or 1, one of 0.10 with its length and
// coder in one number, which for a text that is not empty is 4 or more. A document of 0.10 starts with a byte of flags, 2
// or 3, one of 0.2.0 with a reference flag.
func judge(b []byte, k decode.BodyKind) generation {
	switch k {
	case decode.BodyRequest, decode.BodyText:
		switch {
		case len(b) < 6 || b[4] != 1 || binary.LittleEndian.Uint32(b) < 3:
		case b[5] <= 1:
			return fury02
		case b[5] >= 4:
			return fury010
		}
		return unclear
	case decode.BodyResult:
		if len(b) == 0 || b[0] == 2 {
			return unclear
		}
		b = b[1:]
	}
	if len(b) < 5 || binary.LittleEndian.Uint32(b) == 0 {
		return unclear
	}
	switch b[4] {
	case refNew, refNull, refSeen, notNull:
		return fury02
	case plainDocument, nullOf010:
		return fury010
	}
	return unclear
}
