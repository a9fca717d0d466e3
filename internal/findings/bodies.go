package findings

import (
	"compress/gzip"

	"github.com/klauspost/compress/zstd"

	"dubbo-wire/internal/call"
)

const (
	// maxSamples and maxSampleBytes bound the bodies of a method that are kept to be compressed; the first is kept in any
	// case. maxBodies bounds all, in bytes.
	maxSamples, maxSampleBytes, maxBodies = 8, 64 << 10, 16 << 20
	// leastBody is how many bytes a response must have to be worth it.
	leastBody = 1 << 10
	// maxCompressed and maxCompressedBytes bound how many methods have their bodies compressed, and of how many bytes: those
	// with most bytes of large responses.
	maxCompressed, maxCompressedBytes = 8, 2 << 20
)

// bodies is copies of some of a method's responses.
type bodies struct {
	list  [][]byte
	bytes int
	at    place
}

// body keeps a body, if it is one of the first.
func (k *Collector) body(m *method, p *call.Message) {
	s, b := m.bodies, p.Sample.Body
	switch {
	case k.bodies+len(b) > maxBodies:
		return
	case s == nil:
		s = &bodies{at: placeOf(p)}
		m.bodies = s
	case len(s.list) >= maxSamples, s.bytes+len(b) > maxSampleBytes:
		return
	}
	k.bodies += len(b)
	s.bytes += len(b)
	s.list = append(s.list, b)
}

// squeezer measures what bodies weigh compressed, each by itself.
type squeezer struct {
	gzip *gzip.Writer
	zstd *zstd.Encoder
	buf  []byte
}

func newSqueezer() *squeezer {
	// Neither fails: the options are constants and in range.
	z, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(false))
	return &squeezer{gzip: gzip.NewWriter(nil), zstd: z}
}

// counter counts what is written.
type counter struct{ n int64 }

func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return len(b), nil
}

// sizes returns the bytes of bodies compressed with gzip and with zstd, at their default levels.
func (s *squeezer) sizes(list [][]byte) (gzipped, zstded int64) {
	for _, b := range list {
		var n counter
		s.gzip.Reset(&n)
		_, _ = s.gzip.Write(b) // a counter takes everything
		_ = s.gzip.Close()
		gzipped += n.n
		s.buf = s.zstd.EncodeAll(b, s.buf[:0])
		zstded += int64(len(s.buf))
	}
	return gzipped, zstded
}

func (s *squeezer) close() { _ = s.zstd.Close() }
