package packet

import (
	"encoding/binary"

	"dubbo-wire/internal/capture"
)

// rareLink parses the link layers that few captures have. Wi-Fi, which takes more, is in wifi.go.
func (d *Decoder) rareLink(p *capture.Packet, s *Segment) Verdict {
	b := p.Data
	switch p.Link {
	case capture.LinkPPP, capture.LinkPPPHDLC:
		return d.ppp(p, s, 0)
	case capture.LinkPPPWithDir, capture.LinkPPPLinux: // a byte that tells the direction
		d.noteHeader(LayerPlain, 0, 1, p.WireLen)
		return d.ppp(p, s, 1)
	case capture.LinkPPPEther:
		return d.pppoe(p, s, 0)
	case capture.LinkMPLS:
		return d.mpls(p, s, 0)
	case capture.LinkATM1483:
		return d.snap(p, s, 0)
	case capture.LinkNetAnalyzer: // Hilscher: four bytes before an Ethernet frame
		d.noteHeader(LayerPlain, 0, 4, p.WireLen)
		return d.enterLink(p, 4, p.WireLen, capture.LinkEthernet, 0)
	case capture.LinkPPI: // version, flags, length u16 with this, link type u32, little-endian; fields
		if len(b) < 8 {
			return short(p, 8)
		}
		if inner := binary.LittleEndian.Uint32(b[4:]); inner <= 0xffff && capture.LinkType(inner) != capture.LinkPPI {
			d.noteHeader(LayerPlain, 0, 8, p.WireLen)
			return d.enterLink(p, max(8, int(binary.LittleEndian.Uint16(b[2:]))), p.WireLen, capture.LinkType(inner), 0)
		}
		return Malformed
	case capture.LinkCHDLCWithDir:
		d.noteHeader(LayerPlain, 0, 1, p.WireLen)
		return d.enterLink(p, 1, p.WireLen, capture.LinkCHDLC, 0)
	case capture.LinkNFLog:
		return d.nflog(p)
	case capture.LinkFrameRelay:
		return d.frameRelay(p, s)
	case capture.LinkEnc: // address family, SPI, flags, each u32 (OpenBSD, if_enc.h)
		if len(b) < 12 {
			return short(p, 12)
		}
		if !isIPFamily(hostOrder(b)) {
			return NotTCP
		}
		d.noteHeader(LayerPlain, 0, 4, p.WireLen)
		return d.ip(p, s, 12)
	case capture.LinkCHDLC: // RFC 1547: address, control, Ethernet type
		if len(b) < 4 {
			return short(p, 4)
		}
		d.noteHeader(LayerPlain, 0, 4, p.WireLen)
		return d.ether(p, s, 4, binary.BigEndian.Uint16(b[2:]))
	case capture.LinkFDDI: // frame control, two addresses, LLC (RFC 1390)
		if len(b) < 13 {
			return short(p, 13)
		}
		if b[0]&0xf0 != 0x50 {
			return NotTCP
		}
		d.noteHeader(LayerPlain, 0, 1, p.WireLen)
		d.noteHeader(LayerAddresses, 1, 13, p.WireLen)
		return d.snap(p, s, 13)
	case capture.LinkPFLog: // length of the header without its padding, family
		if len(b) < 2 {
			return short(p, 2)
		}
		header := (int(b[0]) + 3) &^ 3
		if !isIPFamily(uint32(b[1])) {
			return NotTCP
		}
		d.noteHeader(LayerPlain, 0, 2, p.WireLen)
		return d.ip(p, s, header)
	case capture.LinkPKTAP:
		return d.pktap(p)
	case capture.LinkIEEE80211, capture.LinkRadiotap, capture.LinkPrism:
		return d.wifi(p)
	}
	return UnknownLink
}

// rareEther parses the rare Ethernet types.
func (d *Decoder) rareEther(p *capture.Packet, s *Segment, off int, kind uint16) Verdict {
	b := p.Data
	switch kind {
	case etherPPPoE:
		return d.pppoe(p, s, off)
	case etherBridged:
		return d.enter(p, off, p.WireLen, etherBridged)
	case etherMACsec: // control, short length, packet number u32, channel u64 if 20 is set, Ethernet type
		if len(b) < off+1 {
			return short(p, off+1)
		}
		if b[off]&0x0c != 0 {
			return NotTCP // encrypted or changed
		}
		header := 6
		if b[off]&0x20 != 0 {
			header = 14
		}
		d.noteHeader(LayerPlain, off, off+1, p.WireLen)
		return d.tagged(p, off+header)
	case etherPBB: // four bytes of service, two addresses, Ethernet type
		d.noteHeader(LayerPlain, off, off+4, p.WireLen)
		d.noteHeader(LayerAddresses, off+4, off+16, p.WireLen)
		return d.tagged(p, off+16)
	case etherVNTag:
		d.noteHeader(LayerPlain, off, off+4, p.WireLen)
		return d.tagged(p, off+4)
	case etherETag:
		d.noteHeader(LayerPlain, off, off+6, p.WireLen)
		return d.tagged(p, off+6)
	}
	return d.mpls(p, s, off)
}

// tagged continues after a tag, with the Ethernet type at off.
func (d *Decoder) tagged(p *capture.Packet, off int) Verdict {
	if len(p.Data) < off+2 {
		return short(p, off+2)
	}
	kind := binary.BigEndian.Uint16(p.Data[off:])
	d.noteHeader(LayerPlain, off, off+2, p.WireLen)
	return d.enter(p, off+2, p.WireLen, kind)
}

// frameRelay parses a two-byte address (Q.922), 03 and a network layer id (RFC 2427).
func (d *Decoder) frameRelay(p *capture.Packet, s *Segment) Verdict {
	b := p.Data
	if len(b) < 4 {
		return short(p, 4)
	}
	d.noteHeader(LayerPlain, 0, 4, p.WireLen)
	if b[0]&1 != 0 || b[1]&1 == 0 || b[2] != 0x03 {
		if len(b) >= 4 && b[1]&1 != 0 { // Cisco: an Ethernet type after the address
			return d.ether(p, s, 4, binary.BigEndian.Uint16(b[2:]))
		}
		return NotTCP
	}
	switch b[3] {
	case 0xcc, 0x8e: // IPv4, IPv6
		return d.ip(p, s, 4)
	case 0x00: // padding, then SNAP
		if len(b) < 10 {
			return short(p, 10)
		}
		if string(b[4:8]) == "\x80\x00\x00\x00" {
			d.noteHeader(LayerPlain, 4, 10, p.WireLen)
			return d.ether(p, s, 10, binary.BigEndian.Uint16(b[8:]))
		}
	}
	return NotTCP
}

// pppoe parses a session packet (RFC 2516): version and type, code, session u16, length u16, PPP.
func (d *Decoder) pppoe(p *capture.Packet, s *Segment, off int) Verdict {
	if len(p.Data) < off+6 {
		return short(p, off+6)
	}
	if b := p.Data[off:]; b[0] != 0x11 || b[1] != 0 {
		return NotTCP // a discovery code, or not PPPoE
	}
	d.noteHeader(LayerPlain, off, off+6, p.WireLen)
	return d.ppp(p, s, off+6)
}

// ppp parses address and control, if present, and the protocol, whose first byte may be omitted (RFC 1661, RFC 1662).
func (d *Decoder) ppp(p *capture.Packet, s *Segment, off int) Verdict {
	b, head := p.Data, off
	if len(b) < off+4 {
		return short(p, off+4)
	}
	if b[off] == 0xff && b[off+1] == 0x03 {
		off += 2
	}
	kind := uint16(b[off])
	off++
	if kind&1 == 0 {
		kind = kind<<8 | uint16(b[off])
		off++
	}
	d.noteHeader(LayerPlain, head, off, p.WireLen)
	switch kind {
	case 0x21, 0x57: // IPv4, IPv6
		return d.ip(p, s, off)
	case 0x281, 0x283:
		return d.mpls(p, s, off)
	}
	return NotTCP
}

// pktap parses Darwin's metadata header (xnu, bsd/net/pktap.h): length u32, record
// type u32, link type of the packet within u32, little-endian.
func (d *Decoder) pktap(p *capture.Packet) Verdict {
	if len(p.Data) < 12 {
		return short(p, 12)
	}
	header := binary.LittleEndian.Uint32(p.Data)
	link := binary.LittleEndian.Uint32(p.Data[8:])
	if header < 12 || int64(header) > int64(p.WireLen) || link > 0xffff {
		return Malformed
	}
	if int(header) > len(p.Data) {
		return CutHeader
	}
	if capture.LinkType(link) == capture.LinkPKTAP {
		return Malformed
	}
	d.noteHeader(LayerPlain, 0, 12, p.WireLen)
	return d.enterLink(p, int(header), p.WireLen, capture.LinkType(link), 0)
}
