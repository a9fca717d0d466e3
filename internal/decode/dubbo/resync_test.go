package dubbo

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Headers of which one after the other turns out to be none, each with megabytes behind it, cost no copy of them each.
func TestSearchMovesLittle(t *testing.T) {
	const segment, segments = 1400, 10_000
	n := new(notes)
	f := NewFramer(Config{}, n, false)
	b := make([]byte, segment)
	for at := 0; at+32 <= segment; at += 32 {
		copy(b[at:], "\xda\xbb\xc2\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x052.0.2")
		binary.BigEndian.PutUint32(b[at+12:], uint32(min(8<<20, segment*5000-at)))
	}
	start := time.Now()
	for i := range segments {
		f.Data(b, &Chunk{Pos: int64(i * segment)})
	}
	f.End()
	assert.Equal(t, int64(segment*segments), n.framed+n.skipped)
	assert.Less(t, time.Since(start), 3*time.Second)
}
