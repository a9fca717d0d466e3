package hessian2

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// Lengths of strings count UTF-16 units. Java writes each unit by itself in 1 to 3 bytes, so that a character beyond
// U+FFFF is two sequences of 3 bytes (CESU-8). Some peers write such a character as 4 bytes of UTF-8; that counts two
// units here, although hessian-lite itself refuses it. A sequence that is longer than needed is read as hessian-lite
// reads it, by its bits.

// asText reports whether b starts a string and whether another chunk follows; head is the length in bytes of opcode
// and length.
func asText(b byte) (head int, more, ok bool) {
	switch {
	case b <= 0x1f:
		return 1, false, true
	case b >= 0x30 && b <= 0x33:
		return 2, false, true
	case b == 'S':
		return 3, false, true
	case b == 'R':
		return 3, true, true
	}
	return 0, false, false
}

// asBytes is asText for a binary.
func asBytes(b byte) (head int, more, ok bool) {
	switch {
	case b >= 0x20 && b <= 0x2f:
		return 1, false, true
	case b >= 0x34 && b <= 0x37:
		return 2, false, true
	case b == 'B':
		return 3, false, true
	case b == 'A':
		return 3, true, true
	}
	return 0, false, false
}

// chunkLen returns the length that a chunk's head of 1 to 3 bytes announces: units of a string, bytes of a binary.
func chunkLen(head []byte) int {
	switch len(head) {
	case 1:
		return int(head[0] & 0x1f) // 00-1f, 20-2f
	case 2:
		return int(head[0]&3)<<8 + int(head[1]) // 30-33, 34-37
	}
	return int(binary.BigEndian.Uint16(head[1:]))
}

// skim returns where n short strings at the start of b end if they are ASCII, -1 for others.
func skim(b []byte, n int) int {
	at := 0
	for range n {
		switch {
		case at >= len(b):
			return -1
		case b[at] <= 0x1f:
			at += 1 + int(b[at])
		case b[at]&^3 == 0x30 && at+1 < len(b):
			at += 2 + int(b[at]&3)<<8 + int(b[at+1])
		case b[at] == 'N':
			at++
		default:
			return -1
		}
	}
	if at > len(b) {
		return -1
	}
	return at
}

// textEnd returns the offset after the string that starts at offset at, -1 after failing.
func (r *Reader) textEnd(at int, what string) int {
	buf := r.Buf
	if at < len(buf) && buf[at] <= 0x1f { // the common case of the general one below
		if stop, left := skipUnits(buf, at+1, int(buf[at])); left == 0 {
			return stop
		}
	}
	for {
		if at >= len(buf) {
			return r.failShort(what)
		}
		head, more, ok := asText(buf[at])
		if !ok {
			return r.failAt(at, decode.Malformed, what, describe(buf[at]))
		}
		if len(buf)-at < head {
			return r.failShort(what)
		}
		units := chunkLen(buf[at : at+head])
		stop, left := skipUnits(buf, at+head, units)
		if left > 0 {
			return r.failText(what, units, stop, left)
		}
		if at = stop; !more {
			return at
		}
	}
}

// failText fails for a string that lacks its last left units, at offset at.
func (r *Reader) failText(what string, units, at, left int) int {
	rest := r.Buf[at:]
	size := 0
	if len(rest) > 0 {
		size = sequenceLen(rest[0])
	}
	if len(rest) == 0 || len(rest) < size && continues(rest[1:]) {
		found, cause := "the end of the body", decode.Malformed
		if r.Short != decode.Malformed {
			found, cause = "the end of the captured bytes", r.Short
		}
		return r.fail(cause, what+" of "+strconv.Itoa(units)+" UTF-16 units", found+" after "+strconv.Itoa(units-left)+" of them")
	}
	one := fmt.Sprintf("%s of %d UTF-16 units: one more, UTF-8 of 1 to 3 bytes (hessian-lite)", what, units)
	what += ": UTF-8 of 1 to 3 bytes a character (hessian-lite)"
	switch _, n := utf8.DecodeRune(rest); {
	case rest[0]&0xc0 == 0x80:
		return r.failAt(at, decode.Malformed, what, fmt.Sprintf("%02x, which continues one", rest[0]))
	case size == 0:
		return r.failAt(at, decode.Malformed, what, fmt.Sprintf("%02x, which starts none", rest[0]))
	case size < 4: // a byte that should continue the character does not
		for k := 1; k < size; k++ {
			if rest[k]&0xc0 != 0x80 {
				return r.failAt(at+k, decode.Malformed, fmt.Sprintf("%s, its byte %d of %d", what, k+1, size), fmt.Sprintf("%02x", rest[k]))
			}
		}
	case n == 4: // of two units, of which one is left
		return r.failAt(at, decode.Malformed, one, fmt.Sprintf("%02x, which starts a character of two", rest[0]))
	}
	return r.failAt(at, decode.Malformed, what, fmt.Sprintf("%02x, which starts 4", rest[0]))
}

// sequenceLen returns how many bytes the sequence starting with b has, 0 when none does.
func sequenceLen(b byte) int {
	switch {
	case b < 0x80:
		return 1
	case b&0xe0 == 0xc0:
		return 2
	case b&0xf0 == 0xe0:
		return 3
	case b&0xf8 == 0xf0:
		return 4
	}
	return 0
}

// continues reports whether b has continuation bytes only.
func continues(b []byte) bool {
	for _, c := range b {
		if c&0xc0 != 0x80 {
			return false
		}
	}
	return true
}

// asciiMasks has, by n, the highest bit of each of the first n bytes of 32.
var asciiMasks = func() (m [33][4]uint64) {
	for n := range m {
		for i := range n {
			m[n][i/8] |= 0x80 << (i % 8 * 8)
		}
	}
	return m
}()

// skipUnits goes over n UTF-16 units of text from offset at and returns the offset after them. Where the text ends or is
// malformed, it returns that offset and the number of units that were not read.
func skipUnits(b []byte, at, n int) (stop, left int) {
	const high = 0x8080808080808080
	if fast && n > window && len(b)-at > window {
		start := at
		if at, n = units(&b[0], at, n, len(b)-window); n < 0 {
			return at, 0
		}
		if at > start { // back to the start of a sequence
			n++
			for at--; b[at]&0xc0 == 0x80; {
				at--
			}
		}
	}
blocks:
	for len(b)-at >= 32 { // 32 bytes of ASCII at a time, the last of them at once
		m, w := &asciiMasks[min(n, 32)], b[at:at+32]
		if m[0]&binary.LittleEndian.Uint64(w)|m[1]&binary.LittleEndian.Uint64(w[8:])|
			m[2]&binary.LittleEndian.Uint64(w[16:])|m[3]&binary.LittleEndian.Uint64(w[24:]) != 0 {
			break
		}
		if n <= 32 {
			return at + n, 0
		}
		at += 32
		n -= 32
	}
	for n > 0 {
		if len(b)-at >= 8 { // eight at a time, then the last up to seven
			high := binary.LittleEndian.Uint64(b[at:]) & high
			if n >= 8 {
				if high == 0 {
					at += 8
					n -= 8
					continue
				}
			} else if high&(1<<(8*n)-1) == 0 {
				return at + n, 0
			}
			ascii := bits.TrailingZeros64(high) / 8
			at += ascii
			n -= ascii
		}
		if at >= len(b) {
			return at, n
		}
		switch c := b[at]; {
		case c < 0x80:
			at++
			n--
		case c&0xf0 == 0xe0:
			if len(b)-at < 3 || b[at+1]&0xc0 != 0x80 || b[at+2]&0xc0 != 0x80 {
				return at, n
			}
			at, n = skipWords(b, at+3, n-1) // more of them follow, mostly
		case c&0xe0 == 0xc0:
			if len(b)-at < 2 || b[at+1]&0xc0 != 0x80 {
				return at, n
			}
			at += 2
			if n--; n > 0 && at < len(b) && b[at] >= 0x80 {
				at, n = skipWords(b, at, n)
			}
		default:
			if _, size := utf8.DecodeRune(b[at:min(len(b), at+4)]); size != 4 || n < 2 {
				return at, n
			}
			at += 4
			n -= 2
		}
		if n >= 64 { // of a long text mostly ASCII follows
			goto blocks
		}
	}
	return at, 0
}

// skipWords goes over text of sequences of 1 to 3 bytes, eight bytes at a time, as long as they are that, not all of one
// byte, and hold no more than n units. It returns the offset of the first sequence that it did not take and the number of units still to go.
//
// A unit is a byte that continues no other. In each word, whatever the text, the bytes that continue one (10xxxxxx) must
// be those after the bytes that start two (110xxxxx) or three (1110xxxx).
func skipWords(b []byte, at, n int) (stop, left int) {
	const high = 0x8080808080808080
	carry := uint64(0) // what the word before leaves to be continued, in the first two bytes
	for n >= 8 && len(b)-at >= 8 {
		w := binary.LittleEndian.Uint64(b[at:])
		continued := w &^ (w << 1) & high
		two := w & (w << 1) & high // or more
		three := two & (w << 2)
		if w&high == 0 || three&(w<<3) != 0 || continued != two<<8|three<<16|carry {
			break
		}
		carry = two>>56 | three>>48
		at += 8
		n -= 8 - bits.OnesCount64(continued)
	}
	if carry != 0 { // back to the start of the sequence that is not at its end
		if n++; b[at-1] >= 0xc0 {
			return at - 1, n
		}
		return at - 2, n
	}
	return at, n
}

// text returns the text of the string between two offsets, which textEnd has passed.
func (r *Reader) text(at, stop int, name bool) string {
	head, more, _ := asText(r.Buf[at])
	content := r.Buf[at+head : stop]
	if more {
		r.join = r.join[:0]
		for more {
			head, more, _ = asText(r.Buf[at])
			units := chunkLen(r.Buf[at : at+head])
			next, _ := skipUnits(r.Buf, at+head, units)
			r.join = append(r.join, r.Buf[at+head:next]...)
			at = next
		}
		content = r.join
	}
	return r.decoded(content, name)
}

// fillText gives a String the text between two offsets, which textEnd has passed.
func (r *Reader) fillText(n *decode.Node, at, stop int) {
	if r.Tree.Borrow {
		head, more, _ := asText(r.Buf[at])
		if content := r.Buf[at+head : stop : stop]; !more && (len(content) == chunkLen(r.Buf[at:at+head]) || utf8.Valid(content)) {
			n.Raw = content
			return
		}
	}
	n.Text = r.text(at, stop, false)
}

// decoded returns a text that skipUnits has passed as a string.
func (r *Reader) decoded(content []byte, name bool) string {
	switch {
	case !utf8.Valid(content):
		return decodeUnits(content)
	case name:
		return r.Name(content)
	}
	return string(content)
}

// decodeUnits returns text that skipUnits accepts: pairs of surrogates become the character they stand for, a lone one
// U+FFFD.
func decodeUnits(b []byte) string {
	u := jdk.NewUnits(len(b))
	for len(b) > 0 {
		c, n := rune(0), sequenceLen(b[0])
		switch n {
		case 1:
			c = rune(b[0])
		case 2:
			c = rune(b[0]&0x1f)<<6 | rune(b[1]&0x3f)
		case 3:
			c = rune(b[0]&0x0f)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f)
		default:
			c, _ = utf8.DecodeRune(b)
		}
		u.Add(c)
		b = b[n:]
	}
	return u.String()
}

// bytesEnd returns the offset after the binary that starts at offset at and the number of its chunks, -1 after
// failing.
func (r *Reader) bytesEnd(at int) (stop, chunks int) {
	buf := r.Buf
	for {
		if at >= len(buf) {
			return r.failShort("a chunk of a binary"), 0
		}
		head, more, ok := asBytes(buf[at])
		if !ok {
			return r.failAt(at, decode.Malformed, "a chunk of a binary", describe(buf[at])), 0
		}
		if len(buf)-at < head {
			return r.failShort("a chunk of a binary"), 0
		}
		n := chunkLen(buf[at : at+head])
		if n > len(buf)-at-head {
			return r.failShort(fmt.Sprintf("a binary of %d bytes", n)), 0
		}
		at += head + n
		chunks++
		if !more {
			return at, chunks
		}
	}
}

// content returns the bytes of the binary between two offsets, which bytesEnd has passed: borrowed when it is one
// chunk, else joined in a new slice.
func (r *Reader) content(at, stop, chunks int) []byte {
	if chunks == 1 {
		head, _, _ := asBytes(r.Buf[at])
		return r.Buf[at+head : stop : stop]
	}
	joined := make([]byte, 0, stop-at-2*chunks)
	for more := true; more; {
		var head int
		head, more, _ = asBytes(r.Buf[at])
		n := chunkLen(r.Buf[at : at+head])
		joined = append(joined, r.Buf[at+head:at+head+n]...)
		at += head + n
	}
	return joined
}
