package dubbo_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats/hessian2"
)

// Names that were read are found whichever others were read since, so that what is sampled does not depend on hashes.
func TestNamesAtAreFound(t *testing.T) {
	d, dialects := dubbo.NewDecoder([]decode.Format{hessian2.Format}), new(dubbo.Dialects)
	body := func(i int) string { return fmt.Sprintf("\x052.0.2\x03a.S\x050.0.0\x06do%04d\x00HZ", i) }
	const methods = 3000 // more than a cache holds
	read := make([]*dubbo.Names, methods)
	for i := range methods {
		read[i] = d.Decode(frameOf(2, body(i)), dubbo.Envelope, dialects).Names
		require.NotNil(t, read[i])
	}
	for range 2 {
		for i := range methods {
			f := frameOf(2, body(i))
			require.Same(t, read[i], d.NamesAt(&f.Header, f.Body))
		}
	}
	f := frameOf(2, body(methods))
	require.Nil(t, d.NamesAt(&f.Header, f.Body))
}
