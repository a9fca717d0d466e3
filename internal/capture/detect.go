package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"dubbo-wire/internal/term"
)

// maxZstdWindow bounds the memory in bytes of a zstd decoder; zstd -d has the same default. Only --long and --ultra -22
// need more.
const maxZstdWindow = 128 << 20

// packetReader reads one opened capture. next fills all fields of a Packet but File and returns nil or io.EOF; damage
// is noted in the Input. ready does the same for the next packets that were read already and are undamaged, as far as ps has room; it
// returns how many these are, and 0 if next must look.
type packetReader interface {
	next(p *Packet) error
	ready(ps []Packet) int
	window() *window
	iface(id int) Origin
}

// reader is what the readers of all formats have.
type reader struct {
	win    window
	in     *Input
	number int64 // of the last packet delivered or left out
	done   bool  // the end was noted, or nothing after damage can be read
}

func (r *reader) window() *window { return &r.win }

// skipDamage notes that nothing can start at the window's position, and moves to the next position that accepts accepts.
// The number of lost packets is not known; they count as one.
func (r *reader) skipDamage(accepts func(b []byte, ended bool) bool, format string, args ...any) {
	if r.win.endIfCut() {
		return
	}
	at := r.win.offset()
	passed, found := r.win.search(accepts)
	r.number++
	r.done = !found
	result := "the rest of the file is damaged and was not read; copy or record it again"
	if found {
		result = "skipped " + term.Counted(passed, "byte") + "; copy or record the file again"
	}
	r.in.note(r.number, at, "%s; %s", fmt.Sprintf(format, args...), result)
}

// finish notes how the stream ended, unless it ended cleanly between records. size is the size in bytes of the record
// at the window's position.
func (r *reader) finish(size int64, part string) error {
	w, packet := &r.win, r.number+1
	have := int64(w.end - w.pos)
	r.done = true
	switch {
	case w.err != io.EOF && w.err != io.ErrUnexpectedEOF:
		r.in.note(packet, w.offset(), "reading stopped here: %v; everything before this packet was read", w.err)
	case w.err == io.ErrUnexpectedEOF:
		r.in.note(packet, w.offset(), "the compressed data ends early; everything before this packet was read; copy the file again, or let the recorder finish")
	case have > 0:
		r.in.note(packet, w.offset(), "the file ends inside %sthis packet (%s of %s); everything before it was read; copy the file again, or let the recorder finish", part, term.Count(have), term.Counted(size, "byte"))
	}
	return io.EOF
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
		text := in.File + " is empty; record it again, or wait until the recorder has written the first packets"
		if in.File == "-" {
			text = "standard input is empty; pipe a capture into it: tcpdump -w - | dubbo-wire analyze -"
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
