// Package compress removes the compression of messages, by the names that grpc-encoding and content-encoding give it.
//
// The output of a message is bounded, by [MaxPlain] and by [MaxRatio], since a peer may send bytes that become very large. A
// [Decompressor] owns the memory of its last output and reuses it.
//
// Sources: RFC 1952 (gzip), RFC 1950 (deflate), RFC 7932 (br), RFC 8878 (zstd), the bzip2 and snappy formats, Dubbo's Gzip, Bzip2 and Snappy
// compressors (3.0 to 3.3), which compress an empty message to no bytes.
package compress

import (
	"bytes"
	"compress/bzip2"
	"errors"
	"io"
	"math/bits"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy/xerial"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"dubbo-wire/internal/decode"
)

// The bounds of what a message may become, in bytes and as a multiple of its compressed bytes. Deflate cannot exceed the ratio.
// Small messages may become up to smallPlain bytes.
const (
	MaxPlain   = 64 << 20
	MaxRatio   = 1100
	smallPlain = 256 << 10
)

// maxKept is the size of the buffer that is kept for the next message, in bytes.
const maxKept = 1 << 20

// maxWindow bounds the memory of a zstd decoder, in bytes. gRPC peers use 8 MiB at most.
const maxWindow = 8 << 20

// Decompressor removes compression. The zero value is ready. It is not safe for concurrent use.
type Decompressor struct {
	src    bytes.Reader
	buf    []byte
	gzip   *gzip.Reader
	zlib   io.ReadCloser
	flate  io.ReadCloser
	zstd   *zstd.Decoder
	brotli *brotli.Reader
	first  [1]byte // of a message of brotli
	framed *s2.Reader
}

// names are the encodings that can be removed, by the texts that peers write.
var names = map[string]func(*Decompressor, []byte) (io.Reader, error){
	"gzip":    (*Decompressor).openGzip,
	"x-gzip":  (*Decompressor).openGzip,
	"deflate": (*Decompressor).openDeflate,
	"bzip2":   (*Decompressor).openBzip2,
	"zstd":    (*Decompressor).openZstd,
	"br":      (*Decompressor).openBrotli,
	"snappy":  (*Decompressor).openSnappy,
}

// starts are how messages begin whose encoding tells itself, and proves by a checksum that it is the one.
var starts = []struct{ start, encoding string }{
	{"\x1f\x8b\x08", "gzip"}, {"BZh", "bzip2"}, {"\x28\xb5\x2f\xfd", "zstd"}, {"\xff\x06\x00\x00sNaPpY", "snappy"},
}

// Recognize returns the encoding of b by how it begins, "" if that does not tell.
func Recognize(b []byte) string {
	for i := range starts {
		if bytes.HasPrefix(b, []byte(starts[i].start)) {
			return starts[i].encoding
		}
	}
	return ""
}

// Plain returns b, a complete message, without its compression. The result is valid until the next call.
func (d *Decompressor) Plain(encoding string, b []byte) ([]byte, *decode.Error) {
	open := names[encoding]
	if open == nil {
		open = names[strings.ToLower(encoding)]
	}
	if open == nil {
		return nil, &decode.Error{Cause: decode.Unsupported, Expected: "a known compression", Found: excerpt(encoding)}
	}
	if cap(d.buf) > maxKept {
		d.buf, d.brotli = nil, nil // the latter has a window of up to 16 MiB
	}
	d.buf = d.buf[:0]
	if len(b) == 0 {
		return []byte{}, nil
	}
	limit := limitOf(b)
	r, err := open(d, b)
	switch {
	case err == nil && r == nil: // a block of snappy
		err = d.block(b, limit)
	case err == nil:
		if err = d.readAll(r, limit); err != nil {
			if r := d.reopen(b, err); r != nil {
				err = d.readAll(r, limit)
			}
		}
	}
	d.src.Reset(nil)
	switch {
	case errors.Is(err, errLimit):
		return nil, &decode.Error{
			Cause: decode.Limit, Expected: "at most " + strconv.Itoa(limit) + " bytes without " + excerpt(encoding), Found: "more",
		}
	case err != nil:
		return nil, &decode.Error{Cause: decode.Malformed, Expected: "a message compressed with " + excerpt(encoding), Found: err.Error()}
	}
	if d.buf == nil {
		return []byte{}, nil // a block of nothing
	}
	return d.buf, nil
}

// limitOf returns what a message may become, in bytes.
func limitOf(b []byte) int { return min(max(smallPlain, MaxRatio*len(b)), MaxPlain) }

// errLimit is the error of an output beyond its bound.
var errLimit = errors.New("too large")

// excerpt shortens the name of an encoding, which a peer chooses, for errors.
func excerpt(encoding string) string {
	if len(encoding) > 32 {
		return strconv.Quote(encoding[:32]) + "..."
	}
	return encoding
}

// readAll reads r to its end into buf.
func (d *Decompressor) readAll(r io.Reader, limit int) error {
	for {
		if len(d.buf) == cap(d.buf) {
			d.grow(limit)
		}
		n, err := r.Read(d.buf[len(d.buf):cap(d.buf)])
		d.buf = d.buf[:len(d.buf)+n]
		switch {
		case len(d.buf) > limit:
			return errLimit
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// grow doubles the buffer, up to one byte more than limit.
func (d *Decompressor) grow(limit int) {
	size := min(max(2*cap(d.buf), 4<<10), limit+1)
	grown := make([]byte, len(d.buf), max(size, len(d.buf)+1))
	copy(grown, d.buf)
	d.buf = grown
}

func (d *Decompressor) openGzip(b []byte) (io.Reader, error) {
	d.src.Reset(b)
	if d.gzip == nil {
		d.gzip = new(gzip.Reader)
	}
	return d.gzip, d.gzip.Reset(&d.src)
}

// openDeflate takes the zlib format, which is what the name means, or the bare one, which some peers write.
func (d *Decompressor) openDeflate(b []byte) (io.Reader, error) {
	d.src.Reset(b)
	var err error
	if isZlib(b) {
		if d.zlib == nil {
			d.zlib, err = zlib.NewReader(&d.src)
			return d.zlib, err
		}
		return d.zlib, d.zlib.(zlib.Resetter).Reset(&d.src, nil)
	}
	if d.flate == nil {
		d.flate = flate.NewReader(&d.src)
		return d.flate, nil
	}
	return d.flate, d.flate.(flate.Resetter).Reset(&d.src, nil)
}

func isZlib(b []byte) bool {
	return len(b) >= 2 && b[0]&0x0f == 8 && b[0]>>4 <= 7 && (int(b[0])<<8|int(b[1]))%31 == 0
}

// openBzip2 takes a message with the smallest size of its blocks instead of the announced one. The library has no decoder that can be
// reused, and it allocates four bytes for each byte of a block: 3.6 MB for messages of Dubbo's, which seldom have one of 100 kB.
func (d *Decompressor) openBzip2(b []byte) (io.Reader, error) {
	if len(b) < len(bzip2Start) {
		return bzip2.NewReader(&d.src), nil
	}
	d.src.Reset(b[len(bzip2Start):])
	return bzip2.NewReader(io.MultiReader(strings.NewReader(bzip2Start), &d.src)), checkBzip2(b)
}

// bzip2Start is the start of a message with blocks of up to 100 kB.
const bzip2Start = "BZh1"

// checkBzip2 checks the start of b, which has at least the length of bzip2Start.
func checkBzip2(b []byte) error {
	if string(b[:3]) != bzip2Start[:3] || b[3] < '1' || b[3] > '9' {
		return bzip2.StructuralError("bad start")
	}
	return nil
}

// reopen returns another reader for b after one failed, or nil: one for bzip2 with larger blocks.
func (d *Decompressor) reopen(b []byte, failed error) io.Reader {
	var structural bzip2.StructuralError
	if !errors.As(failed, &structural) || len(b) < len(bzip2Start) || checkBzip2(b) != nil || b[3] == bzip2Start[3] {
		return nil
	}
	d.src.Reset(b)
	d.buf = d.buf[:0]
	return bzip2.NewReader(&d.src)
}

func (d *Decompressor) openZstd(b []byte) (io.Reader, error) {
	d.src.Reset(b)
	if d.zstd == nil {
		r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		d.zstd = r
	}
	return d.zstd, d.zstd.Reset(&d.src)
}

// openBrotli takes a message whose window is at most as large as what it may become: the library decodes a whole window before it returns
// the first byte. As long as the content fits into the window, its size changes nothing else.
func (d *Decompressor) openBrotli(b []byte) (io.Reader, error) {
	d.src.Reset(b)
	src := io.Reader(&d.src)
	// Windows of 2^18 to 2^24 bytes have codes of four bits: 1, and the exponent less 17 (RFC 7932, section 9.1).
	window := 17 + int(b[0]>>1&7)
	least := max(18, bits.Len(uint(limitOf(b)+brotliMargin)))
	if b[0]&1 == 1 && window > least {
		d.first[0] = b[0]&^0x0f | byte(least-17)<<1 | 1
		d.src.Reset(b[1:])
		src = io.MultiReader(bytes.NewReader(d.first[:]), &d.src)
	}
	if d.brotli == nil {
		d.brotli = brotli.NewReader(src)
		return d.brotli, nil
	}
	return d.brotli, d.brotli.Reset(src)
}

// brotliMargin is the number of bytes of a window that distances do not reach.
const brotliMargin = 16

// The first bytes of snappy's framing format and of the stream format of its Java library.
var (
	framedStart = []byte("\xff\x06\x00\x00sNaPpY")
	xerialStart = []byte("\x82SNAPPY\x00")
)

// openSnappy tells the three forms of snappy apart. Dubbo writes a bare block; then the reader is nil.
func (d *Decompressor) openSnappy(b []byte) (io.Reader, error) {
	if !bytes.HasPrefix(b, framedStart) {
		return nil, nil
	}
	d.src.Reset(b)
	if d.framed == nil {
		d.framed = s2.NewReader(&d.src, s2.ReaderMaxBlockSize(64<<10))
	} else {
		d.framed.Reset(&d.src)
	}
	return d.framed, nil
}

// block takes snappy without a framing format, or in the one of Java's library.
func (d *Decompressor) block(b []byte, limit int) (err error) {
	if bytes.HasPrefix(b, xerialStart) {
		d.buf, err = xerial.DecodeCapped(d.buf[:0:min(cap(d.buf), limit)], b)
		if errors.Is(err, xerial.ErrDstTooSmall) {
			d.buf, err = xerial.DecodeCapped(make([]byte, 0, limit), b)
			if errors.Is(err, xerial.ErrDstTooSmall) {
				return errLimit
			}
		}
		return err
	}
	n, err := s2.DecodedLen(b)
	if err != nil {
		return err
	}
	if n > limit {
		return errLimit
	}
	if cap(d.buf) < n {
		d.buf = make([]byte, 0, n)
	}
	d.buf, err = s2.Decode(d.buf[:n], b)
	return err
}
