package capture

import (
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxZstdWindow bounds the memory in bytes of a zstd decoder; zstd -d has the same default. Only --long and --ultra -22
// need more.
const maxZstdWindow = 128 << 20

// packetReader reads one opened capture. next fills all fields of a Packet but File and returns nil or io.EOF; damage
// is noted in the Input.
type packetReader interface {
	next(p *Packet) error
	window() *window
	iface(id int) Origin
}

// Magic numbers of compressed files.
const (
	gzipMagic   = "\x1f\x8b"
	zstdMagic   = "\x28\xb5\x2f\xfd"
	zstdSkipLow = 0x50 // a skippable zstd frame starts with 5x 2a 4d 18
)

func isZstd(b []byte) bool {
	return bytes.HasPrefix(b, []byte(zstdMagic)) ||
		len(b) >= 4 && b[0]&0xf0 == zstdSkipLow && string(b[1:4]) == "\x2a\x4d\x18"
}

// foreignCompressions are recognized so that the error can name the command that decompresses the file.
var foreignCompressions = []struct{ magic, name, command string }{
	{"\xfd7zXZ\x00", "xz", "xz -d"},
	{"BZh", "bzip2", "bzip2 -d"},
	{"\x04\x22\x4d\x18", "lz4", "lz4 -d"},
	{"7z\xbc\xaf\x27\x1c", "7z", "7z x"},
}

// detect reads the first bytes of raw and returns a reader of its packets, which uses buf as its buffer, and a function
// that releases the decompressor. It sets the format and the compression of in. kept is the pool of the packets'
// buffers, or nil.
func detect(raw io.Reader, buf []byte, in *Input, kept *buffers) (packetReader, func(), error) {
	win := window{r: raw, buf: buf}
	win.fill(12)
	start := win.rest()
	if len(start) == 0 && win.err != io.EOF {
		return nil, nil, openError(in.File, win.err)
	}
	release := func() {}
	if len(start) == 0 {
		text := in.File + " is empty (0 bytes); record again, or wait until the recorder has written its first packets"
		if in.File == "-" {
			text = "nothing came from standard input; pipe a capture into it, as in: tcpdump -w - | dubbo-wire analyze -"
		}
		return nil, nil, &Error{Cause: Empty, File: in.File, Text: text}
	}
	decompressed, compression, err := Decompress(&windowReader{win: win}, start)
	if in.Compression = compression; compression != "" {
		if err != nil {
			return nil, nil, badCompression(in, err)
		}
		release = func() { _ = decompressed.Close() }
		win = window{r: decompressed, buf: kept.get(len(buf))}
		win.fill(12)
		start = win.rest()
		if len(start) == 0 {
			release()
			if win.err != io.EOF {
				return nil, nil, badCompression(in, win.err)
			}
			return nil, nil, failure(Empty, in.File, nil, "%s is empty inside its %s compression; record again", in.File, in.Compression)
		}
	}
	win.kept = kept
	if _, _, ok := pcapMagic(start); ok {
		r, err := newPcapReader(win, in)
		if err != nil {
			release()
			return nil, nil, err
		}
		return r, release, nil
	}
	if isPcapng(start) {
		return newPcapngReader(win, in), release, nil
	}
	release()
	if len(start) < 12 && bytes.HasPrefix(start, []byte("\x0a\x0d\x0d\x0a")) {
		return nil, nil, failure(CutHeader, in.File, win.err, "%s ends inside its pcapng header (28 bytes); copy or record it again", in.File)
	}
	for _, c := range foreignCompressions {
		if bytes.HasPrefix(start, []byte(c.magic)) {
			return nil, nil, failure(Compression, in.File, nil, "%s is compressed with %s, which is not read; decompress it first: %s %[1]s", in.File, c.name, c.command)
		}
	}
	return nil, nil, notCapture(in.File, start)
}

// Decompress returns a reader of what r, whose first bytes are start, contains, and the name of the compression; "" if r
// is not compressed. Decompression runs in the caller's goroutine.
func Decompress(r io.Reader, start []byte) (decompressed io.ReadCloser, compression string, err error) {
	if bytes.HasPrefix(start, []byte(gzipMagic)) {
		decompressed, err = gzip.NewReader(r)
		return decompressed, "gzip", err
	}
	if !isZstd(start) {
		return nil, "", nil
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxZstdWindow), zstd.WithDecoderMaxMemory(1<<63))
	if err != nil {
		return nil, "zstd", err
	}
	return z.IOReadCloser(), "zstd", nil
}

// badCompression returns the error for a compressed stream that cannot be read from its start.
func badCompression(in *Input, err error) *Error {
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return failure(Compression, in.File, err, "%s was compressed with a window of more than %d MiB; decompress it first: zstd -d --long=31 %[1]s", in.File, maxZstdWindow>>20)
	}
	return failure(Compression, in.File, err, "%s: its %s compression cannot be read: %v; copy it again, or decompress it first", in.File, in.Compression, err)
}

// windowReader reads the bytes that are in the buffer of a window, then the bytes that the window reads. It is a
// ByteReader, so gzip does not take more bytes than it needs.
type windowReader struct{ win window }

func (u *windowReader) Read(b []byte) (int, error) {
	if !u.win.fill(1) {
		return 0, u.win.err
	}
	n := copy(b, u.win.rest())
	u.win.pos += n
	return n, nil
}

func (u *windowReader) ReadByte() (byte, error) {
	if !u.win.fill(1) {
		return 0, u.win.err
	}
	c := u.win.buf[u.win.pos]
	u.win.pos++
	return c, nil
}
