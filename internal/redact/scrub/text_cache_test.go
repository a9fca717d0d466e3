package scrub

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
)

// However many texts there are, each has its own replacement or none.
func TestTextCache(t *testing.T) {
	c := newTextCache()
	long := strings.Repeat("x", 1000)
	for i := range 20000 {
		text := []byte(fmt.Sprint(i, long[:i%1000]))
		hash := c.hash(text)
		require.Nil(t, c.find(text, hash))
		copy(c.add(text, hash), strings.ToUpper(string(text)))
		require.Equal(t, strings.ToUpper(string(text)), string(c.find(text, hash)))
	}
	require.LessOrEqual(t, len(c.bytes), maxTextBytes)
}

// A short text is read and written back whatever its length, with and without room for 16 bytes, and leaves what is around it.
func TestShortText(t *testing.T) {
	for n := 1; n <= maxShortText; n++ {
		text := []byte(strings.Repeat("0123456789abcdef", 2))
		short := shortTextOf(text[:n:n])
		require.Equal(t, short, shortTextIn(text[:16], n))
		for _, put := range []func(b []byte){func(b []byte) { short.put(b[:n]) }, func(b []byte) { short.putIn(b, n) }} {
			b := []byte(strings.Repeat("x", 32))
			put(b)
			require.Equal(t, string(text[:n])+strings.Repeat("x", 32-n), string(b))
		}
	}
}

// Values that are replaced together become what each becomes alone.
func TestValues(t *testing.T) {
	var b []byte
	var values []decode.ValueAt
	add := func(k decode.Kind, v []byte) {
		values = append(values, decode.ValueAt{Off: int32(len(b)), Len: int32(len(v)), Kind: k})
		b = append(b, v...)
	}
	for i := range 100 {
		add(decode.String, []byte(strings.Repeat("a text", 10)[:i%60]))
		add(decode.Int, binary.BigEndian.AppendUint64(nil, uint64(int64(i*i*i*1000-5000))))
		add(decode.Int, binary.BigEndian.AppendUint32(nil, uint32(int32(i-50))))
		add(decode.Float64, binary.BigEndian.AppendUint64(nil, math.Float64bits(float64(i)/8)))
		add(decode.String, []byte("é限"))
	}
	want := bytes.Clone(b)
	one := New(nil, key)
	for _, v := range values {
		one.Values(want, []decode.ValueAt{v})
	}
	one = New(nil, key)
	for range 2 { // when they are new, and when they are known
		got := bytes.Clone(b)
		one.Values(got, values)
		require.Equal(t, want, got)
	}
	recorded := bytes.Clone(b)
	one.Record(func(string) {})
	one.Values(recorded, values)
	require.Equal(t, want, recorded)
}
