// Package checksum computes the Internet checksum: bytes of headers and payload come in, sums of 16-bit words go out. A
// sum may be computed in pieces and is folded at the end. Nothing is kept or changed. The source is RFC 1071; the pseudo
// headers follow RFC 9293 and RFC 8200, section 8.1.
package checksum

import "encoding/binary"

// Sum adds b to a sum of 16-bit words. All pieces but the last must have an even length.
func Sum(s uint64, b []byte) uint64 {
	t := uint64(0)
	for ; len(b) >= 32; b = b[32:] { // two sums at once, of 32 bits each word
		v, w, x, y := binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:]), binary.BigEndian.Uint64(b[24:])
		s += v>>32 + v&0xffffffff + w>>32 + w&0xffffffff
		t += x>>32 + x&0xffffffff + y>>32 + y&0xffffffff
	}
	s += t
	for ; len(b) >= 8; b = b[8:] {
		w := binary.BigEndian.Uint64(b)
		s += w>>32 + w&0xffffffff
	}
	for ; len(b) >= 2; b = b[2:] {
		s += uint64(b[0])<<8 | uint64(b[1])
	}
	if len(b) == 1 {
		s += uint64(b[0]) << 8
	}
	return s
}

// Fold reduces a sum to 16 bits. The checksum in a header is its complement.
func Fold(s uint64) uint16 {
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

// Pseudo returns the sum of the pseudo header of a packet with the IP header ip: addresses, protocol, payload length.
func Pseudo(ip []byte, proto, length int) uint64 {
	s := uint64(proto) + uint64(length)>>16 + uint64(length)&0xffff
	if ip[0]>>4 == 4 {
		return Sum(s, ip[12:20])
	}
	return Sum(s, ip[8:40])
}
