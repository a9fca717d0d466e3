package compress

import (
	"io"

	"github.com/klauspost/compress/flate"
)

// Inflater opens streams of deflate without a header (RFC 1951), one after the other, as zip files have them. It takes half
// the time of compress/flate. The zero value is ready. It is not safe for concurrent use.
type Inflater struct{ r io.ReadCloser }

// Open returns what src has uncompressed; it is valid until the next call. The caller bounds how much is read. src is read
// in small pieces: it should be buffered.
func (f *Inflater) Open(src io.Reader) (io.Reader, error) {
	if f.r == nil {
		f.r = flate.NewReader(src)
		return f.r, nil
	}
	return f.r, f.r.(flate.Resetter).Reset(src, nil)
}
