package compress

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A message of another text takes exactly as many bytes as one that is a little or much longer than needed.
func TestFill(t *testing.T) {
	steps := 8
	if testing.Short() {
		steps = 1
	}
	r := rand.New(rand.NewPCG(1, 2))
	text := []byte(strings.Repeat("some text of a message, ", 40))
	random := make([]byte, 900)
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	for name, b := range forms(t, append(bytes.Clone(text), random...)) {
		encoding, form, _ := strings.Cut(name, " ")
		if encoding == "snappy" && form != "" {
			assert.False(t, Fill(bytes.Clone(b), encoding, text), name)
			continue
		}
		for n := 0; n < 900; n += 1 + n/steps {
			was := append(bytes.Clone(text), random...)
			is := append(bytes.Clone(text), bytes.Repeat([]byte("y"), len(random)-n)...)
			is = append(is, random[:n]...)
			out := bytes.Clone(b)
			if !Fill(out, encoding, is) {
				assert.Greater(t, n, 860, "%s: %d random bytes", name, n)
				assert.Equal(t, b, out)
				continue
			}
			require.Len(t, out, len(b))
			var d Decompressor
			plain, err := d.Plain(encoding, out)
			require.Nil(t, err, name)
			assert.Equal(t, is, plain)
			assert.Len(t, plain, len(was))
		}
	}
}

// Each length from the least one on can be had.
func TestFillAnyLength(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 7
	}
	text := []byte("a text, a text, and another text of a message, of which some is repeated")
	for name, least := range map[string]int{"gzip": 0, "deflate": 2, "snappy": 0, "bzip2": 0, "zstd": 12, "br 11": 2} {
		small := forms(t, text)[name]
		if name == "bzip2" {
			small = writeBzip2([]byte("BZh9"), text, 0)
		}
		name, _, _ := strings.Cut(name, " ")
		fill := fillers[name]
		for n := len(small) + least; n < len(small)+200; n += step {
			was := append(bytes.Clone(small), make([]byte, n-len(small))...)
			out := fill(was, text)
			require.Len(t, out, n, name)
			var d Decompressor
			plain, err := d.Plain(name, out)
			require.Nil(t, err, "%s of %d bytes: %v", name, n, err)
			require.Equal(t, text, plain)
		}
	}
}

func TestWriteBzip2(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var d Decompressor
	for _, text := range []string{"a", "ab", strings.Repeat("a", 4), strings.Repeat("a", 700), strings.Repeat("ab", 5000), "abcabd, abcabe, z", strings.Repeat("abc, def; ", 3000)} {
		out := writeBzip2([]byte("BZh1"), []byte(text), r.IntN(3))
		plain, err := d.Plain("bzip2", out)
		require.Nil(t, err, "%v", err)
		assert.Equal(t, text, string(plain))
	}
	all := make([]byte, 60_000)
	for i := range all {
		all[i] = byte(r.Uint32())
	}
	plain, err := d.Plain("bzip2", writeBzip2([]byte("BZh9"), all, 0))
	require.Nil(t, err, "%v", err)
	assert.Equal(t, all, plain)
	was, e := base64.StdEncoding.DecodeString(hello)
	require.NoError(t, e)
	assert.True(t, Fill(was, "bzip2", []byte("ghghg ghghg ghghg ghghg\n")))
}
