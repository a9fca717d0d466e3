package http2

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
)

// A block of headers is as long as it has to be, and tells what it is a request of.
func TestHeaderBlock(t *testing.T) {
	for _, use := range []string{useTriple, useGRPC, usePlain} {
		for n := 20; n < 6000; n += 1 + n/300 {
			block := headerBlock(use, n)
			require.Len(t, block, n)
			var b bytes.Buffer
			b.WriteString(http2.ClientPreface)
			f := http2.NewFramer(&b, nil)
			require.NoError(t, f.WriteSettings())
			require.NoError(t, f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndHeaders: true}))
			require.Equal(t, use, FirstRequest(b.Bytes()), "%d bytes", n)
		}
	}
}
