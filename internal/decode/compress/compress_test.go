package compress

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/snappy/xerial"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	_ "dubbo-wire/internal/dev/testkit"
)

// forms returns b in every form that peers write, by the name of the encoding and of the form.
func forms(tb testing.TB, b []byte) map[string][]byte {
	with := func(w io.WriteCloser, err error, buf *bytes.Buffer) []byte {
		require.NoError(tb, err)
		_, err = w.Write(b)
		require.NoError(tb, err)
		require.NoError(tb, w.Close())
		return bytes.Clone(buf.Bytes())
	}
	var buf bytes.Buffer
	all := map[string][]byte{}
	all["gzip"] = with(gzip.NewWriter(&buf), nil, &buf)
	buf.Reset()
	all["deflate"] = with(zlib.NewWriter(&buf), nil, &buf)
	buf.Reset()
	f, err := flate.NewWriter(&buf, 6)
	all["deflate bare"] = with(f, err, &buf)
	buf.Reset()
	z, err := zstd.NewWriter(&buf)
	all["zstd"] = with(z, err, &buf)
	buf.Reset()
	for _, quality := range []int{1, 11} {
		all[fmt.Sprint("br ", quality)] = with(brotli.NewWriterLevel(&buf, quality), nil, &buf)
		buf.Reset()
	}
	all["snappy framed"] = with(snappy.NewBufferedWriter(&buf), nil, &buf)
	all["snappy"] = s2.EncodeSnappy(nil, b)
	all["snappy xerial"] = xerial.Encode(nil, b)
	return all
}

// hello is "hello hello hello hello\n" as bzip2 1.0.8 writes it.
const hello = "QlpoOTFBWSZTWW9PEPMAAAXRAAAQQAACRKAAMMACqDRxDa2HDxdyRThQkG9PEPM="

// largeBlock is "ab" 100,000 times in one block, as bzip2 -9 writes it.
const largeBlock = "QlpoOTFBWSZTWaNZMdkAw0+BADAAIAAwgCkYElBYElBcXckU4UJCjWTHZA=="

func TestPlain(t *testing.T) {
	var d Decompressor
	for _, text := range []string{"", "a", strings.Repeat("some text, ", 5000), strings.Repeat("x", 200<<10)} {
		for name, b := range forms(t, []byte(text)) {
			encoding, _, _ := strings.Cut(name, " ")
			for range 2 { // decoders are reused
				plain, err := d.Plain(encoding, b)
				require.Nil(t, err, "%s: %v", name, err)
				assert.Equal(t, text, string(plain), name)
			}
			for _, cut := range []int{len(b) / 2, len(b) - 1} {
				if cut <= 0 || text == "" || name == "deflate bare" || name == "snappy framed" {
					continue
				}
				_, err := d.Plain(encoding, b[:cut])
				assert.NotNil(t, err, "%s: %d of %d bytes are accepted", name, cut, len(b))
			}
		}
	}
	raw, err := base64.StdEncoding.DecodeString(hello)
	require.NoError(t, err)
	plain, fault := d.Plain("bzip2", raw)
	require.Nil(t, fault)
	assert.Equal(t, "hello hello hello hello\n", string(plain))
	plain, fault = d.Plain("bzip2", block(t))
	require.Nil(t, fault)
	assert.Equal(t, strings.Repeat("ab", 100_000), string(plain))
}

func TestPlainFails(t *testing.T) {
	var d Decompressor
	for _, row := range []struct {
		encoding, body string
		cause          decode.Cause
	}{
		{"compress", "x", decode.Unsupported},
		{"br", "no brotli at all", decode.Malformed},
		{strings.Repeat("y", 1000), "x", decode.Unsupported},
		{"gzip", "no gzip at all", decode.Malformed},
		{"deflate", "\xff\xff\xff", decode.Malformed},
		{"bzip2", "BZh9rubbish", decode.Malformed},
		{"zstd", "\x28\xb5\x2f\xfdrubbish", decode.Malformed},
		{"snappy", "\xff\xff\xff\xff\x0f....", decode.Limit},
		{"snappy", "\x05\xf0", decode.Malformed},
	} {
		plain, err := d.Plain(row.encoding, []byte(row.body))
		if assert.NotNil(t, err, "%s %q: %q", row.encoding, row.body, plain) {
			assert.Equal(t, row.cause, err.Cause, "%s %q: %v", row.encoding, row.body, err)
			assert.Less(t, len(err.Error()), 200)
		}
	}
	_, err := d.Plain("GZIP", nil)
	assert.Nil(t, err)
	for _, encoding := range []string{"compress", "identity"} {
		_, err := d.Plain(encoding, nil)
		if assert.NotNil(t, err, encoding) {
			assert.Equal(t, decode.Unsupported, err.Cause, encoding)
		}
	}
}

// TestBombs: small messages that become large stop at a bound.
func TestBombs(t *testing.T) {
	var d Decompressor
	zeros := make([]byte, MaxPlain+1)
	var buf bytes.Buffer
	w, err := gzip.NewWriterLevel(&buf, gzip.BestSpeed)
	require.NoError(t, err)
	w.Write(zeros)
	w.Close()
	bombs := forms(t, zeros[:4<<20])
	for name, b := range map[string][]byte{"gzip": buf.Bytes(), "zstd": bombs["zstd"], "br": bombs["br 11"], "bzip2": bytes.Repeat(block(t), 4)} {
		encoding := name
		_, err := d.Plain(encoding, b)
		if assert.NotNil(t, err, name) {
			assert.Equal(t, decode.Limit, err.Cause, "%s: %v", name, err)
		}
		assert.LessOrEqual(t, cap(d.buf), MaxPlain+1, name)
	}
	plain, err := d.Plain("gzip", forms(t, []byte("small"))["gzip"])
	require.Nil(t, err)
	assert.Equal(t, "small", string(plain))
	assert.LessOrEqual(t, cap(d.buf), maxKept, "a large buffer is not kept")
}

// The window of brotli is reduced to what a message may become, and the content is the same.
func TestBrotliWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var d Decompressor
	for _, size := range []int{1, 1000, smallPlain - 17, smallPlain, 1 << 20} {
		text := make([]byte, size)
		for i := range text {
			if text[i] = "abcdefgh"[r.IntN(8)]; i > 2000 && r.IntN(50) == 0 { // something from far away
				from := r.IntN(i - 1000)
				copy(text[i-500:i], text[from:])
			}
		}
		for _, window := range []int{10, 16, 17, 18, 20, 24} {
			var buf bytes.Buffer
			w := brotli.NewWriterOptions(&buf, brotli.WriterOptions{Quality: 5, LGWin: window})
			_, _ = w.Write(text)
			require.NoError(t, w.Close())
			plain, err := d.Plain("br", buf.Bytes())
			require.Nil(t, err, "%d bytes, window 2^%d: %v", size, window, err)
			require.True(t, bytes.Equal(text, plain), "%d bytes, window 2^%d", size, window)
		}
	}
}

// block returns a message of bzip2 that becomes 200 kB.
func block(t *testing.T) []byte {
	raw, err := base64.StdEncoding.DecodeString(largeBlock)
	require.NoError(t, err)
	return raw
}

func FuzzPlain(f *testing.F) {
	for name, b := range forms(f, []byte(strings.Repeat("some text, ", 20))) {
		encoding, _, _ := strings.Cut(name, " ")
		f.Add(encoding, b)
	}
	raw, _ := base64.StdEncoding.DecodeString(hello)
	f.Add("bzip2", raw)
	f.Add("snappy", binary.AppendUvarint(nil, 1<<31))
	var d Decompressor
	f.Fuzz(func(t *testing.T, encoding string, b []byte) {
		plain, err := d.Plain(encoding, b)
		if (plain == nil) != (err != nil) {
			t.Fatalf("%d bytes and the error %v", len(plain), err)
		}
		if len(plain) > max(smallPlain, MaxRatio*len(b)) || len(plain) > MaxPlain {
			t.Fatalf("%d bytes become %d", len(b), len(plain))
		}
	})
}

func BenchmarkPlain(b *testing.B) {
	text := bytes.Repeat([]byte("some text with a few words, and then the next; "), 20)
	for name, packed := range forms(b, text) {
		encoding, _, _ := strings.Cut(name, " ")
		b.Run(name, func(b *testing.B) {
			var d Decompressor
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Plain(encoding, packed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
