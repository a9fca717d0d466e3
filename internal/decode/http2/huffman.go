package http2

import (
	"bytes"
	"encoding/binary"
	"slices"

	"golang.org/x/net/http2/hpack"
)

// Literals of header blocks are Huffman codes of bytes (RFC 7541, section 5.2 and appendix B). Codes of up to huffmanBits bits, which are those of letters, digits and
// most signs, are looked up in a table. A literal with any other code, or which is malformed, is for the library.

const (
	huffmanBits = 10
	leastCode   = 5 // bits of the shortest code
)

// huffmanTable has the byte of a code, and in its upper half the length of the code, for the bits that a literal goes on with; 0 if the code is longer.
var huffmanTable = func() (table [1 << huffmanBits]uint16) {
	for c := range 256 {
		size := int(hpack.HuffmanEncodeLength(string(bytes.Repeat([]byte{byte(c)}, 8)))) // of 8 in bytes, of one in bits
		if size > huffmanBits {
			continue
		}
		code := binary.BigEndian.Uint16(append(hpack.AppendHuffmanString(nil, string([]byte{byte(c)})), 0))
		first := int(code >> (16 - size) << (huffmanBits - size))
		for i := range 1 << (huffmanBits - size) {
			table[first+i] = uint16(size<<8 | c)
		}
	}
	return table
}()

// appendHuffman appends the bytes that b is the codes of. It returns false, and what was there, if b is for the library.
func appendHuffman(dst, b []byte) (out []byte, ok bool) {
	at := len(dst)
	out = slices.Grow(dst, len(b)*8/leastCode+1)
	out = out[:cap(out)]
	bits, n := uint64(0), 0 // the highest n bits are those that come next
	for {
		if len(b) >= 8 {
			bits |= binary.BigEndian.Uint64(b) >> n
			whole := (63 - n) / 8
			b = b[whole:]
			n += 8 * whole
		} else {
			for ; n <= 56 && len(b) > 0; b = b[1:] {
				bits |= uint64(b[0]) << (56 - n)
				n += 8
			}
		}
		for n >= huffmanBits {
			e := huffmanTable[bits>>(64-huffmanBits)]
			if e == 0 {
				return dst, false
			}
			out[at] = byte(e)
			at++
			bits <<= e >> 8
			n -= int(e >> 8)
		}
		if len(b) == 0 {
			break
		}
	}
	for n > 0 {
		e := huffmanTable[(bits|^uint64(0)>>n)>>(64-huffmanBits)] // ones follow the last code
		if e == 0 || int(e>>8) > n {
			break
		}
		out[at] = byte(e)
		at++
		bits <<= e >> 8
		n -= int(e >> 8)
	}
	if n > 7 || ^(bits|^uint64(0)>>n) != 0 {
		return dst, false
	}
	return out[:at], true
}
