package packet

import (
	"encoding/binary"

	"dubbo-wire/internal/capture"
)

// Flags of GRE (RFC 2784, RFC 2890; routing as in RFC 1701, acknowledgement as in RFC 2637).
const (
	greChecksum = 0x8000
	greRouting  = 0x4000
	greKey      = 0x2000
	greSequence = 0x1000
	greUnused   = 0x0078 // must be zero
	greAck      = 0x0080
	greVersion  = 0x0007
)

// Protocol types of GRE only.
const (
	greERSPAN  = 0x88be // types I and II
	greERSPAN3 = 0x22eb
	greWCCP    = 0x883e
)

// maxRoutes bounds the source route entries that are skipped.
const maxRoutes = 16

// gre parses flags u16, protocol type u16 and the fields that the flags announce. NVGRE (RFC 7637) is Ethernet in GRE
// with a key.
func (d *Decoder) gre(p *capture.Packet, off, end int) Verdict {
	b, head := p.Data, off
	if len(b) < off+4 {
		return short(p, off+4)
	}
	flags, kind := binary.BigEndian.Uint16(b[off:]), binary.BigEndian.Uint16(b[off+2:])
	off += 4
	if flags&greVersion == 1 && kind == etherPPP && flags&greKey != 0 {
		return d.pptp(p, off, end, flags)
	}
	if flags&(greVersion|greUnused|greAck) != 0 {
		return NotTCP
	}
	if flags&(greChecksum|greRouting) != 0 {
		off += 4
	}
	if flags&greKey != 0 {
		off += 4
	}
	if flags&greSequence != 0 {
		off += 4
	}
	if flags&greRouting != 0 {
		var v Verdict
		if off, v = routes(p, off); v != inside {
			return v
		}
	}
	switch kind {
	case greERSPAN:
		if flags&greSequence != 0 { // type II; type I has no header
			off += 8
		}
		kind = etherBridged
	case greERSPAN3: // 12 bytes; the last bit announces 8 more (draft-foschiano-erspan-03)
		if len(b) < off+12 {
			return short(p, off+12)
		}
		if b[off]>>4 != 2 {
			return NotTCP
		}
		if b[off+11]&1 != 0 {
			off += 8
		}
		off += 12
		kind = etherBridged
	case greWCCP: // version 2 has a header of four bytes before the IP packet
		if len(b) > off && b[off]>>4 != 4 {
			off += 4
		}
		kind = etherIPv4
	}
	if len(b) < off {
		return short(p, off)
	}
	if flags&greChecksum != 0 {
		d.noteHeader(LayerGRE, head, off, end)
	} else {
		d.noteHeader(LayerPlain, head, off, end)
	}
	return d.enter(p, off, end, kind)
}

// routes skips source route entries: family u16, offset u8, length u8, data. The last one has length 0.
func routes(p *capture.Packet, off int) (int, Verdict) {
	for range maxRoutes {
		if len(p.Data) < off+4 {
			return off, short(p, off+4)
		}
		n := int(p.Data[off+3])
		off += 4 + n
		if n == 0 {
			return off, inside
		}
	}
	return off, Malformed
}

// pptp parses what follows the protocol type in version 1: payload length u16, call id u16, and the sequence and
// acknowledgement numbers that flags announce.
func (d *Decoder) pptp(p *capture.Packet, off, end int, flags uint16) Verdict {
	if flags&greSequence == 0 {
		return NotTCP // an acknowledgement only
	}
	if len(p.Data) < off+4 {
		return short(p, off+4)
	}
	length, head := int(binary.BigEndian.Uint16(p.Data[off:])), off-4
	off += 8
	if flags&greAck != 0 {
		off += 4
	}
	d.noteHeader(LayerPlain, head, off, end)
	return d.enter(p, off, min(end, off+length), etherPPP)
}
