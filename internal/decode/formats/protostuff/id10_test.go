package protostuff

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// Bodies of id 10 as Dubbo 2.7.1 writes them with protostuff, and later releases with native-hessian.
func TestTellID10(t *testing.T) {
	for _, c := range []struct {
		hex  string
		kind decode.BodyKind
		want decode.Verdict
	}{
		{"00000005 322e302e32 00000004 642e4869", decode.BodyRequest, decode.Own},
		{"00000005", decode.BodyRequest, decode.Unsure},
		{"00000005 61", decode.BodyRequest, decode.Unsure},
		{"05322e302e32 04642e4869", decode.BodyRequest, decode.Foreign},
		{"", decode.BodyRequest, decode.Unsure},
		{"04 00000034 00000000 6f72672e", decode.BodyResult, decode.Own},
		{"02", decode.BodyResult, decode.Own},
		{"92", decode.BodyResult, decode.Foreign},
		{"00000003 616263", decode.BodyText, decode.Own},
		{"00000000", decode.BodyText, decode.Unsure},
		{"3100 61", decode.BodyText, decode.Foreign},
		{"00000010 00000009 6a6176612e6c616e672e537472696e67 0a0152 1000 1800 2000", decode.BodyEvent, decode.Own},
		{"4e", decode.BodyEvent, decode.Foreign},
	} {
		assert.Equal(t, c.want, tellID10(formattest.Hex(c.hex), c.kind), c.hex)
	}
}
