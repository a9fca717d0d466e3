package packet

import (
	"encoding/binary"

	"dubbo-wire/internal/capture"
)

// Link layers that few captures have, and that take a few lines each. Wi-Fi, which
// takes more, is in wifi.go.

const (
	linkPPPHDLC  capture.LinkType = 50
	linkPPPEther capture.LinkType = 51
	linkCHDLC    capture.LinkType = 104
)

func rareSupported(l capture.LinkType) bool {
	switch l {
	case capture.LinkPPP, linkPPPHDLC, linkPPPEther, linkCHDLC, capture.LinkFDDI, capture.LinkPFLog, capture.LinkPKTAP,
		capture.LinkIEEE80211, capture.LinkRadiotap, capture.LinkPrism:
		return true
	}
	return false
}

// rareLink parses the packets of those link types.
func (d *Decoder) rareLink(p *capture.Packet, s *Segment) Verdict {
	b := p.Data
	switch p.Link {
	case capture.LinkPPP, linkPPPHDLC:
		return d.ppp(p, s, 0)
	case linkPPPEther:
		return d.pppoe(p, s, 0)
	case linkCHDLC: // RFC 1547: address, control, Ethernet type
		if len(b) < 4 {
			return short(p, 4)
		}
		return d.ether(p, s, 4, binary.BigEndian.Uint16(b[2:]))
	case capture.LinkFDDI: // frame control, two addresses, LLC (RFC 1390)
		if len(b) < 13 {
			return short(p, 13)
		}
		if b[0]&0xf0 != 0x50 {
			return NotTCP
		}
		return d.snap(p, s, 13)
	case capture.LinkPFLog: // length of the header without its padding, family
		if len(b) < 2 {
			return short(p, 2)
		}
		header := (int(b[0]) + 3) &^ 3
		switch b[1] {
		case 2, 10, 24, 28, 30:
			return d.ip(p, s, header, p.WireLen)
		}
		return NotTCP
	case capture.LinkPKTAP:
		return d.pktap(p, s)
	case capture.LinkIEEE80211, capture.LinkRadiotap, capture.LinkPrism:
		return d.wifi(p, s)
	}
	return UnknownLink
}

// rareEther parses what an Ethernet type of its own stands for.
func (d *Decoder) rareEther(p *capture.Packet, s *Segment, off int, kind uint16) Verdict {
	if kind == etherPPPoE {
		return d.pppoe(p, s, off)
	}
	return d.mpls(p, s, off)
}

// pppoe parses a session packet (RFC 2516): version and type, code, session u16,
// length u16, PPP.
func (d *Decoder) pppoe(p *capture.Packet, s *Segment, off int) Verdict {
	if len(p.Data) < off+6 {
		return short(p, off+6)
	}
	if b := p.Data[off:]; b[0] != 0x11 || b[1] != 0 {
		return NotTCP // a discovery code, or no PPPoE
	}
	return d.ppp(p, s, off+6)
}

// ppp parses address and control, if they are there, and the protocol, whose first
// byte may be left out (RFC 1661, RFC 1662).
func (d *Decoder) ppp(p *capture.Packet, s *Segment, off int) Verdict {
	b := p.Data
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
	switch kind {
	case 0x21, 0x57: // IPv4, IPv6
		return d.ip(p, s, off, p.WireLen)
	case 0x281, 0x283:
		return d.mpls(p, s, off)
	}
	return NotTCP
}

// maxLabels bounds the MPLS labels that are followed.
const maxLabels = 16

// mpls skips labels up to the bottom of the stack (RFC 3032). What is below has no
// type: an IP version is taken for IP, anything else for no TCP.
func (d *Decoder) mpls(p *capture.Packet, s *Segment, off int) Verdict {
	for range maxLabels {
		if len(p.Data) < off+4 {
			return short(p, off+4)
		}
		bottom := p.Data[off+2]&1 != 0
		off += 4
		if !bottom {
			continue
		}
		if len(p.Data) <= off {
			return short(p, off+1)
		}
		if v := p.Data[off] >> 4; v == 4 || v == 6 {
			return d.ip(p, s, off, p.WireLen)
		}
		return NotTCP
	}
	return Malformed
}

// pktap parses Darwin's metadata header (xnu, bsd/net/pktap.h): length u32, record
// type u32, link type of the packet within u32, little-endian.
func (d *Decoder) pktap(p *capture.Packet, s *Segment) Verdict {
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
	inner := *p
	inner.Link = capture.LinkType(link)
	inner.Data = p.Data[header:]
	inner.WireLen = p.WireLen - int(header)
	if inner.Link == capture.LinkPKTAP {
		return Malformed
	}
	return d.Decode(&inner, s)
}
