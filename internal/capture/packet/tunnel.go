package packet

import "dubbo-wire/internal/capture"

// Packets within packets. A layer puts the packet that it carries into Decoder.inner, and the loop of decodeInner
// parses it, so nesting is bounded and needs no stack.

// inside is the verdict of a layer that has put the packet it carries into Decoder.inner.
const inside Verdict = 255

// maxNesting bounds the packets within packets that are parsed; a reassembled packet counts as one more.
const maxNesting = 8

// Ethernet types, also protocol types of GRE and GENEVE, of what tunnels carry.
const (
	etherBridged = 0x6558 // a whole Ethernet frame (RFC 1701: transparent Ethernet bridging)
	etherPPP     = 0x880b
)

// enter makes p's bytes [off, end), a packet of that Ethernet type, the next to be parsed. end counts bytes on the
// wire.
func (d *Decoder) enter(p *capture.Packet, off, end int, kind uint16) Verdict {
	return d.enterLink(p, off, end, p.Link, kind)
}

// enterLink is enter for a packet of a link type if kind is 0.
func (d *Decoder) enterLink(p *capture.Packet, off, end int, link capture.LinkType, kind uint16) Verdict {
	end = min(end, p.WireLen)
	if off > end {
		return Malformed
	}
	if p != &d.inner {
		d.begin(p)
	}
	n := len(p.Data)
	if d.Layers != nil {
		d.Layers.base += off
	}
	d.trailing += p.WireLen - end
	d.inner.Data = p.Data[min(off, n):min(end, n)]
	d.inner.WireLen = end - off
	d.inner.Time = p.Time
	d.inner.Link = link
	d.innerKind = kind
	return inside
}

// begin prepares for the packet inside p, the captured packet.
func (d *Decoder) begin(p *capture.Packet) {
	d.nested, d.outer, d.trailing = true, p.WireLen, 0
}

// startGuess says that the next inner packet is recognized by a port or a pattern only. If it is not TCP, the packet is
// what it was taken for before.
func (d *Decoder) startGuess() {
	if !d.guessed {
		d.nested, d.guessed, d.guessType, d.guessProto = true, true, d.etherType, d.ipProto
	}
}

// decodeInner parses inner packets until there is a verdict.
func (d *Decoder) decodeInner(s *Segment) Verdict {
	v := inside
	for depth := 0; v == inside; depth++ {
		if depth == maxNesting {
			v = Malformed
			break
		}
		p := &d.inner
		switch d.innerKind {
		case 0:
			v = d.link(p, s)
		case etherBridged:
			v = d.ethernet(p, s)
		case etherPPP:
			v = d.ppp(p, s, 0)
		default:
			v = d.ether(p, s, 0, d.innerKind)
		}
	}
	if v == TCP {
		s.Padding += d.trailing
		s.Extra = int(d.earlier.Bytes)
		if d.earlier.Packets > 0 {
			s.Offloaded = false // the decoder reassembled it
		}
	}
	return v
}

// IP protocol numbers of tunnels.
const (
	protoIPv4    = 4
	protoIPv6    = 41
	protoGRE     = 47
	protoEtherIP = 97
	protoMPLS    = 137
)

// ipPayload parses what an IP packet carries at [off, end), if it is not plain TCP.
func (d *Decoder) ipPayload(p *capture.Packet, s *Segment, proto uint8, off, end int) Verdict {
	b := p.Data
	for range maxExtensions {
		d.ipProto = int16(proto)
		switch proto {
		case protoTCP: // after an authentication header
			return d.tcp(p, s, off, end)
		case protoUDP:
			return d.udp(p, off, end)
		case protoGRE:
			return d.gre(p, off, end)
		case protoAH: // RFC 4302: next header, length in words less 2
			if len(b) < off+2 {
				return short(p, off+2)
			}
			d.noteHeader(LayerExtension, off, off+int(b[off+1])*4+8, end)
			proto = b[off]
			off += int(b[off+1])*4 + 8
			if len(b) < off {
				return short(p, off)
			}
			continue
		case protoIPv4, protoIPv6: // RFC 2003, RFC 2473, RFC 4213
			version := byte(4)
			if proto == protoIPv6 {
				version = 6
			}
			if len(b) > off && b[off]>>4 != version {
				return NotTCP
			}
			return d.enter(p, off, end, ipType(version))
		case protoEtherIP: // RFC 3378: version 3 and 12 zero bits
			if len(b) < off+2 {
				return short(p, off+2)
			}
			if b[off] != 0x30 || b[off+1] != 0 {
				return NotTCP
			}
			d.noteHeader(LayerPlain, off, off+2, end)
			return d.enter(p, off+2, end, etherBridged)
		case protoMPLS: // RFC 4023
			return d.enter(p, off, end, etherMPLS)
		}
		return NotTCP
	}
	return Malformed
}

// ipType returns the Ethernet type of an IP version: IPv6 for 6, and else IPv4.
func ipType(version byte) uint16 {
	if version == 6 {
		return etherIPv6
	}
	return etherIPv4
}

// mayCarryTCP reports whether reassembled fragments of that protocol can contain TCP, directly or in a tunnel.
func mayCarryTCP(proto uint8) bool {
	switch proto {
	case protoTCP, protoUDP, protoGRE, protoAH, protoIPv4, protoIPv6, protoEtherIP, protoMPLS:
		return true
	}
	return false
}
