package packet

import (
	"encoding/binary"

	"dubbo-wire/internal/capture"
)

// Bits of the first two bytes of an IEEE 802.11 header (IEEE 802.11-2020, section 9.2.4.1).
const (
	wifiTypes     = 0x0c // of the first byte: management, control, data
	wifiData      = 0x08
	wifiNoData    = 0x40 // the frame of data has none
	wifiQoS       = 0x80 // a QoS field follows the addresses
	wifiFourEnds  = 0x03 // of the second byte: to and from a distribution system, with a fourth address
	wifiProtected = 0x40 // encrypted
	wifiControl   = 0x80 // with a QoS field: an HT control field follows it
)

// wifi finds the LLC header of unencrypted IEEE 802.11 data, with a header of radiotap or Prism or without any.
func (d *Decoder) wifi(p *capture.Packet) Verdict {
	b, at, flags := p.Data, 0, byte(0)
	switch p.Link {
	case capture.LinkRadiotap:
		if at, flags = radiotap(b); at == 0 {
			return short(p, len(b)+1)
		}
	case capture.LinkPrism: // four bytes of a code, then the length of the header
		if len(b) < 8 {
			return short(p, 8)
		}
		if at = int(binary.LittleEndian.Uint16(b[4:])); at < 8 {
			return Malformed
		}
	}
	if len(b) < at+2 {
		return short(p, at+2)
	}
	kind, more := b[at], b[at+1]
	if kind&wifiTypes != wifiData || kind&wifiNoData != 0 || more&wifiProtected != 0 {
		return NotTCP
	}
	header := 24
	if more&wifiFourEnds == wifiFourEnds {
		header += 6
	}
	if kind&wifiQoS != 0 {
		if header += 2; more&wifiControl != 0 {
			header += 4
		}
	}
	if flags&radiotapPadded != 0 {
		header = (header + 3) &^ 3
	}
	off, tail := at+header, 0
	if flags&radiotapFCS != 0 {
		tail = 4
	}
	if p.WireLen < off+tail || len(b) < off {
		return short(p, off)
	}
	if p != &d.inner {
		d.begin(p)
	}
	if d.Layers != nil {
		d.noteHeader(LayerWiFi, 0, off, p.WireLen)
		d.Layers.base += off
	}
	d.trailing += tail
	d.inner.Data, d.inner.WireLen, d.inner.Time = b[off:min(len(b), p.WireLen-tail)], p.WireLen-tail-off, p.Time
	d.innerKind = 1 // as an IEEE 802.3 length: LLC follows
	return inside
}

// Flags of a radiotap header.
const (
	radiotapFCS    = 0x10 // the frame check sequence is at the end of the packet
	radiotapPadded = 0x20 // the header of IEEE 802.11 is padded to a multiple of four bytes
)

// radiotap returns the length of a radiotap header in bytes and its flags, or 0 if b does not have all of it (radiotap.org):
//
//	0 version · 2 length · 4 a word of bits for the fields that follow, with bit 31 if another word comes
//
// The first two fields are a time of eight bytes at a multiple of eight, and the flags.
func radiotap(b []byte) (n int, flags byte) {
	if len(b) < 8 {
		return 0, 0
	}
	n = int(binary.LittleEndian.Uint16(b[2:]))
	if n < 8 || n > len(b) {
		return 0, 0
	}
	fields := binary.LittleEndian.Uint32(b[4:])
	at := 8
	for last := fields; last>>31 != 0; at += 4 {
		if at+4 > n {
			return 0, 0
		}
		last = binary.LittleEndian.Uint32(b[at:])
	}
	if fields&1 != 0 {
		at = (at+7)&^7 + 8
	}
	if fields&2 != 0 {
		if at >= n {
			return 0, 0
		}
		flags = b[at]
	}
	return n, flags
}
