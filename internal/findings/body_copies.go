package findings

import (
	"bytes"
	"compress/gzip"

	"github.com/klauspost/compress/zstd"

	"dubbo-wire/internal/call"
)

const (
	// maxSamples and maxSampleBytes limit the copies of a method's bodies; the first one is always kept. maxBodies limits
	// the bytes of all copies.
	maxSamples, maxSampleBytes, maxBodies = 8, 64 << 10, 16 << 20
	// leastBody is the minimum size of a copied response in bytes.
	leastBody = 1 << 10
	// maxCompressed and maxCompressedBytes limit the methods whose copies are compressed, and their bytes. Methods with most
	// bytes of large responses come first.
	maxCompressed, maxCompressedBytes = 8, 2 << 20
)

// bodyCopies holds copies of some responses of a method, which are compressed in the end.
type bodyCopies struct {
	list  [][]byte
	bytes int
	at    place
}

// keepBody keeps the body of a response if it is one of the first.
func (k *Collector) keepBody(m *method, p *call.Message) {
	s, b := m.bodies, p.Sample.Body
	switch {
	case k.bodies+len(b) > maxBodies:
		return
	case s == nil:
		s = &bodyCopies{at: placeOf(p)}
		m.rarely().bodies = s
	case len(s.list) >= maxSamples, s.bytes+len(b) > maxSampleBytes:
		return
	}
	k.bodies += len(b)
	s.bytes += len(b)
	s.list = append(s.list, b)
}

// compressor measures the compressed size of bodies, each by itself.
type compressor struct {
	gzip    *gzip.Writer
	gzipped bytes.Buffer
	zstd    *zstd.Encoder
	buf     []byte
}

func newCompressor() *compressor {
	// It does not fail, because the options are valid constants.
	z, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(false))
	return &compressor{gzip: gzip.NewWriter(nil), zstd: z}
}

// sizes returns the compressed bytes of bodies with gzip and zstd at their default levels.
func (s *compressor) sizes(list [][]byte) (gzipped, zstded int64) {
	for _, b := range list {
		s.gzipped.Reset()
		s.gzip.Reset(&s.gzipped)
		_, _ = s.gzip.Write(b) // a buffer takes everything
		_ = s.gzip.Close()
		gzipped += int64(s.gzipped.Len())
		s.buf = s.zstd.EncodeAll(b, s.buf[:0])
		zstded += int64(len(s.buf))
	}
	return gzipped, zstded
}

func (s *compressor) close() { _ = s.zstd.Close() }
