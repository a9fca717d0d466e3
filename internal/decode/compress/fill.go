package compress

import (
	"bytes"
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// fillers write a message with exactly as many bytes as was has, which is another message in the same form. They return nil if they
// cannot.
var fillers = map[string]func(was, plain []byte) []byte{
	"gzip": fillGzip, "x-gzip": fillGzip, "deflate": fillDeflate, "zstd": fillZstd, "snappy": fillSnappy, "bzip2": fillBzip2,
	"br": fillBrotli,
}

// Fill compresses plain into b, which holds another message with that encoding, so that all of b is needed. It returns false, and does
// not change b, if it cannot do that.
func Fill(b []byte, encoding string, plain []byte) bool {
	var d Decompressor
	if was, err := d.Plain(encoding, b); err == nil && bytes.Equal(was, plain) {
		return true
	}
	fill := fillers[strings.ToLower(encoding)]
	if fill == nil {
		return false
	}
	out := fill(b, plain)
	if len(out) != len(b) {
		return false
	}
	is, err := d.Plain(encoding, out)
	if err != nil || !bytes.Equal(is, plain) {
		return false
	}
	copy(b, out)
	return true
}

// levels are those of deflate, the best first.
var levels = [...]int{flate.BestCompression, flate.DefaultCompression, flate.BestSpeed, flate.HuffmanOnly}

// deflated returns plain in deflate. If it is not closed, more blocks may follow.
func deflated(plain []byte, level int, closed bool) []byte {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, level)
	if err != nil {
		panic(err) // the levels are valid
	}
	_, _ = w.Write(plain) // to memory
	if closed {
		_ = w.Close()
	} else {
		_ = w.Flush()
	}
	return out.Bytes()
}

// ends are the ends of a stream of deflate that starts at a byte, of 2 to 6 bytes: empty blocks.
var ends = [...]string{
	2: "\x03\x00", 3: "\x02\x0c\x00", 4: "\x02\x08\x30\x00", 5: "\x02\x08\x20\xc0\x00", 6: "\x02\x04\x00\x00\xff\xff",
}

// deflateLong is deflateTo for a long text.
func deflateLong(plain []byte, n int) []byte {
	for _, level := range levels {
		if n == 0 {
			return deflated(plain, level, true)
		}
		b := deflated(plain, level, false)
		left := n - len(b)
		if left < 2 {
			continue
		}
		for ; left > 6; left -= 5 {
			b = append(b, 0, 0, 0, 0xff, 0xff)
		}
		return append(b, ends[left]...)
	}
	return nil
}

// maxExtra is the maximum length of the extra field of gzip.
const maxExtra = 1<<16 - 1

func fillGzip(was, plain []byte) []byte {
	const head, tail = 10, 8
	if len(was) < head+tail {
		return nil
	}
	out := append(make([]byte, 0, len(was)), was[:head]...)
	out[3] = 0
	room := len(was) - head - tail
	body := deflateTo(plain, 0)
	switch more := room - len(body); {
	case more < 0:
		return nil
	case more == 1:
		out[3] = 8 // an empty name
		out = append(out, 0)
	case more > 0 && more-2 <= maxExtra:
		out[3] = 4 // an extra field
		out = binary.LittleEndian.AppendUint16(out, uint16(more-2))
		out = append(out, make([]byte, more-2)...)
	case more > 0:
		body = deflateTo(plain, room)
	}
	out = append(out, body...)
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(plain))
	return binary.LittleEndian.AppendUint32(out, uint32(len(plain)))
}

func fillDeflate(was, plain []byte) []byte {
	const head, tail = 2, 4
	if !isZlib(was) {
		return deflateTo(plain, len(was))
	}
	if len(was) < head+tail {
		return nil
	}
	out := append(make([]byte, 0, len(was)), was[:head]...)
	out = append(out, deflateTo(plain, len(was)-head-tail)...)
	return binary.BigEndian.AppendUint32(out, adler32.Checksum(plain))
}

// fillZstd adds a frame that is skipped, of at least eight bytes, and varies what is optional to leave room for one, or none.
func fillZstd(was, plain []byte) []byte {
	const skipped = 8
	for _, level := range [...]zstd.EncoderLevel{zstd.SpeedBestCompression, zstd.SpeedDefault, zstd.SpeedFastest} {
		for _, crc := range [...]bool{false, true} {
			for _, single := range [...]bool{false, true} {
				w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(crc), zstd.WithSingleSegment(single), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
				if err != nil {
					return nil
				}
				out := w.EncodeAll(plain, nil)
				if left := len(was) - len(out); left == 0 {
					return out
				} else if left >= skipped {
					out = append(out, 0x50, 0x2a, 0x4d, 0x18)
					out = binary.LittleEndian.AppendUint32(out, uint32(left-skipped))
					return append(out, make([]byte, left-skipped)...)
				}
			}
		}
	}
	return nil
}

// fillBrotli adds blocks without content, of a byte each (RFC 7932, section 9.2).
func fillBrotli(was, plain []byte) []byte {
	const block, end = 0x06, 0x03 // of metadata; the last one, which is empty
	quality := brotli.BestCompression
	if len(plain) > maxParsed {
		quality = brotli.DefaultCompression
	}
	for _, closed := range [...]bool{false, true} {
		var out bytes.Buffer
		w := brotli.NewWriterLevel(&out, quality)
		_, _ = w.Write(plain) // to memory
		if closed {
			_ = w.Close()
			if out.Len() == len(was) {
				return out.Bytes()
			}
		} else if _ = w.Flush(); out.Len() < len(was) {
			b := append(out.Bytes(), bytes.Repeat([]byte{block}, len(was)-out.Len()-1)...)
			return append(b, end)
		}
	}
	return nil
}

// fillSnappy writes a bare block: literals take up to five bytes more, and may be divided.
func fillSnappy(was, plain []byte) []byte {
	if bytes.HasPrefix(was, framedStart) || bytes.HasPrefix(was, xerialStart) {
		return nil
	}
	if out := sameCopies(was, plain); out != nil {
		return out
	}
	best := s2.EncodeSnappyBest(nil, plain)
	_, n := binary.Uvarint(best)
	out := append(make([]byte, 0, len(was)), best[:n]...)
	more := len(was) - len(best)
	if n <= 0 || more < 0 {
		return nil
	}
	room := 0 // bytes that the literals can take in addition
	var list []snappyPart
	at := 0
	for b := best[n:]; len(b) > 0; {
		size, head := snappyElement(b)
		if head == 0 || size > len(b) {
			return nil
		}
		p := snappyPart{from: at, to: at + size - head}
		if b[0]&3 != 0 {
			p.copied, p.to = b[:size], at+copyLen(b)
		} else {
			room += literalRoom(p.to - p.from)
		}
		list = append(list, p)
		at, b = p.to, b[size:]
	}
	for i := range list { // literals instead of copies, while they have no room
		p := &list[i]
		if larger := literalHead(p.to-p.from) + p.to - p.from - len(p.copied); p.copied != nil && room < more && larger <= more {
			more -= larger
			room += literalRoom(p.to - p.from)
			p.copied = nil
		}
	}
	for _, p := range list {
		if p.copied != nil {
			out = append(out, p.copied...)
			continue
		}
		text := plain[p.from:p.to]
		for len(text) > 1 && more > 5-literalHead(len(text)) { // one byte at a time
			more += literalHead(len(text)) - literalHead(len(text)-1)
			h := min(5, more)
			more -= h
			out = appendLiteral(out, text[:1], h)
			text = text[1:]
		}
		h := min(5, literalHead(len(text))+more)
		more -= h - literalHead(len(text))
		out = appendLiteral(out, text, h)
	}
	return out
}

// sameCopies writes a block with the copies of another one of as many bytes without compression, nil if plain does not repeat itself
// where that one did.
func sameCopies(was, plain []byte) []byte {
	size, at := binary.Uvarint(was)
	if at <= 0 || size != uint64(len(plain)) {
		return nil
	}
	out := bytes.Clone(was)
	for from := 0; at < len(out); {
		size, head := snappyElement(out[at:])
		if head == 0 || size > len(out)-at {
			return nil
		}
		if out[at]&3 != 0 {
			from += copyLen(out[at:])
		} else {
			from += copy(out[at+head:at+size], plain[min(from, len(plain)):])
		}
		at += size
	}
	if is, err := s2.Decode(nil, out); err != nil || !bytes.Equal(is, plain) {
		return nil
	}
	return out
}

// snappyPart is an element of a block of snappy: bytes of the text, as a literal unless copied has the copy.
type snappyPart struct {
	from, to int
	copied   []byte
}

// literalRoom returns the number of bytes that a literal of n bytes can take in addition.
func literalRoom(n int) int { return 5*n - literalHead(n) }

// copyLen returns the number of bytes that a copy stands for.
func copyLen(b []byte) int {
	if b[0]&3 == 1 {
		return int(b[0]>>2&7) + 4
	}
	return int(b[0]>>2) + 1
}

// snappyElement returns the length of the element that b starts with, and of its head if it is a literal.
func snappyElement(b []byte) (size, head int) {
	switch b[0] & 3 {
	case 1:
		return 2, 2
	case 2:
		return 3, 3
	case 3:
		return 5, 5
	}
	n := int(b[0] >> 2)
	if n < 60 {
		return 1 + n + 1, 1
	}
	head = 1 + n - 59
	if len(b) < head {
		return 0, 0
	}
	n = 0
	for i := head - 1; i > 0; i-- {
		n = n<<8 | int(b[i])
	}
	return head + n + 1, head
}

// literalHead returns the least length of the head of a literal of n bytes.
func literalHead(n int) int {
	switch n--; {
	case n < 60:
		return 1
	case n < 1<<8:
		return 2
	case n < 1<<16:
		return 3
	case n < 1<<24:
		return 4
	}
	return 5
}

// appendLiteral appends a literal with a head of that length.
func appendLiteral(dst, text []byte, head int) []byte {
	n := len(text) - 1
	if head == 1 {
		return append(append(dst, byte(n<<2)), text...)
	}
	dst = append(dst, byte(58+head)<<2)
	for range head - 1 {
		dst = append(dst, byte(n))
		n >>= 8
	}
	return append(dst, text...)
}
