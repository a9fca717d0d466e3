package redact

import "encoding/binary"

// sum adds b to a sum of 16-bit words (RFC 1071); b begins at an even place of what is summed up.
func sum(s uint64, b []byte) uint64 {
	for len(b) >= 8 {
		w := binary.BigEndian.Uint64(b)
		s += w>>32 + w&0xffffffff
		b = b[8:]
	}
	for len(b) >= 2 {
		s += uint64(b[0])<<8 | uint64(b[1])
		b = b[2:]
	}
	if len(b) == 1 {
		s += uint64(b[0]) << 8
	}
	return s
}

// fold makes a sum one of 16 bits.
func fold(s uint64) uint16 {
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

// pseudo is the sum of the pseudo header of the IP packet whose header is ip: its addresses, protocol, length.
func pseudo(ip []byte, proto, length int) uint64 {
	s := uint64(proto) + uint64(length)>>16 + uint64(length)&0xffff
	if ip[0]>>4 == 4 {
		return sum(s, ip[12:20])
	}
	return sum(s, ip[8:40])
}
