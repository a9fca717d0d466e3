package dubbo_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats/hessian2"
)

// Of a body of more values than a tree takes, those before the bound stand, and the rest is opaque; without a tree, too.
func TestMoreValuesThanATreeTakes(t *testing.T) {
	n := decode.DefaultMaxNodes + 1000
	body := []byte("\x052.0.2\x01s\x050.0.0\x01m\x10Ljava/util/List;" + "\x58\x49")
	body = append(body, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	head := len(body)
	body = append(body, bytes.Repeat([]byte{0x90}, n)...)
	body = append(body, 'H', 'Z')
	f := dubbo.Frame{Header: dubbo.Header{Flags: 0xc2, BodyLen: len(body)}, Body: body, Captured: len(body), MissingAt: len(body)}
	d := dubbo.NewDecoder([]decode.Format{hessian2.Format})
	m := d.Decode(&f, dubbo.Values, nil)
	require.NotNil(t, m.Err)
	assert.Equal(t, decode.Limit, m.Err.Cause)
	assert.Equal(t, "partly", m.Decoded)
	assert.Equal(t, "m", m.Names.Method)
	assert.Greater(t, m.Err.At, head+decode.DefaultMaxNodes-100)
	sums, all := m.Parts, 0
	for _, n := range sums {
		all += int(n)
	}
	assert.Equal(t, len(body), all)
	assert.Greater(t, int(sums[decode.ClassValues]), decode.DefaultMaxNodes-100)
	assert.Positive(t, sums[decode.ClassOpaque])

	m = d.Decode(&f, dubbo.Parts, nil)
	assert.Equal(t, sums, m.Parts)
}
