package packet

import (
	"encoding/binary"

	"dubbo-wire/internal/capture"
)

// Records of NFLOG that are read (linux/netfilter/nfnetlink_log.h).
const (
	nflogPacketHeader = 1 // Ethernet type u16, hook
	nflogPayload      = 9
)

// nflog parses a packet that netfilter logged: address family u8, version u8, group u16, then records of length u16
// (including these four bytes), type u16 and value, padded to four bytes. Lengths and types are in the byte order of
// the machine that captured; the order in which the records are consistent is used.
func (d *Decoder) nflog(p *capture.Packet) Verdict {
	if len(p.Data) < 4 {
		return short(p, 4)
	}
	v := d.nflogRecords(p, binary.LittleEndian)
	if v == Malformed {
		v = d.nflogRecords(p, binary.BigEndian)
	}
	return v
}

func (d *Decoder) nflogRecords(p *capture.Packet, o binary.ByteOrder) Verdict {
	b := p.Data
	var kind uint16
	switch b[0] { // families of Linux
	case 2:
		kind = etherIPv4
	case 10:
		kind = etherIPv6
	}
	d.noteHeader(LayerPlain, 0, 4, p.WireLen)
	for off := 4; off < p.WireLen; {
		if len(b) < off+4 {
			return short(p, off+4)
		}
		n := int(o.Uint16(b[off:]))
		if n < 4 || off+n > p.WireLen {
			return Malformed
		}
		d.noteHeader(LayerPlain, off, off+4, p.WireLen)
		switch o.Uint16(b[off+2:]) &^ 0xc000 { // flags of netlink
		case nflogPacketHeader:
			if kind == 0 && n >= 6 && len(b) >= off+6 {
				kind = binary.BigEndian.Uint16(b[off+4:])
				d.noteHeader(LayerPlain, off+4, off+6, p.WireLen)
			}
		case nflogPayload:
			if kind == 0 && len(b) > off+4 { // neither the family nor the header tells
				kind = ipType(b[off+4] >> 4)
			}
			return d.enter(p, off+4, off+n, kind)
		}
		off += (n + 3) &^ 3
	}
	return NotTCP
}
