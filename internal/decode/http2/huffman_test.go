package http2

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2/hpack"
)

// FuzzHuffman: what the table decodes is what the library decodes, and texts of usual characters need no library.
func FuzzHuffman(f *testing.F) {
	for _, text := range []string{"", "a", "application/grpc+proto", "0123456789abcdef", "A1-b2_C3.d4/e5:f6 %?&=;,+()*", "\"{}<>\\^`|~\x00\xff", "/org.apache.dubbo.Demo/sayHello"} {
		coded := hpack.AppendHuffmanString(nil, text)
		f.Add(coded)
		f.Add(coded[:len(coded)/2])
		f.Add(append(coded, 0xff))
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, ok := appendHuffman([]byte("before"), b)
		require.Equal(t, "before", string(got[:len("before")]))
		if ok {
			var want bytes.Buffer
			_, err := hpack.HuffmanDecode(&want, b)
			require.NoError(t, err)
			require.Equal(t, want.String(), string(got[len("before"):]))
		} else {
			require.Len(t, got, len("before"))
		}
		const usual = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/:%=&;, "
		text := make([]byte, len(b))
		for i, c := range b {
			text[i] = usual[int(c)%len(usual)]
		}
		got, ok = appendHuffman(nil, hpack.AppendHuffmanString(nil, string(text)))
		require.True(t, ok)
		require.Equal(t, string(text), string(got))
	})
}
