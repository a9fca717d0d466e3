package packet

import (
	"encoding/binary"

	"dubbo-wire/internal/capture"
)

// maxLabels bounds the MPLS labels that are parsed.
const maxLabels = 16

// mpls skips labels up to the bottom of the stack (RFC 3032). The payload has no type: it is IP if it looks like IP, or
// else Ethernet on a pseudowire (RFC 4448), with or without a control word, if TCP comes out.
func (d *Decoder) mpls(p *capture.Packet, s *Segment, off int) Verdict {
	b := p.Data
	for range maxLabels {
		if len(b) < off+4 {
			return short(p, off+4)
		}
		bottom := b[off+2]&1 != 0
		d.noteHeader(LayerPlain, off, off+4, p.WireLen)
		off += 4
		if !bottom {
			continue
		}
		if len(b) <= off {
			return short(p, off+1)
		}
		if looksLikeIP(p, off) {
			return d.ip(p, s, off)
		}
		for _, control := range []int{4, 0} {
			if at := off + control; (control == 0 || b[off]>>4 == 0) && looksLikeEthernet(b, at) {
				d.startGuess()
				d.noteHeader(LayerPlain, off, at, p.WireLen)
				return d.enter(p, at, p.WireLen, etherBridged)
			}
		}
		return NotTCP
	}
	return Malformed
}

// looksLikeIP distinguishes an IP header from an Ethernet address that starts with 4 or 6.
func looksLikeIP(p *capture.Packet, off int) bool {
	b := p.Data[off:]
	if len(b) < 8 {
		return b[0]>>4 == 4 || b[0]>>4 == 6
	}
	switch b[0] >> 4 {
	case 4:
		total := int(binary.BigEndian.Uint16(b[2:]))
		return b[0]&15 >= 5 && (total == 0 || total >= 20 && off+total <= p.WireLen)
	case 6:
		return off+40+int(binary.BigEndian.Uint16(b[4:])) <= p.WireLen
	}
	return false
}

// looksLikeEthernet reports whether an Ethernet header at off ends with a type that is parsed.
func looksLikeEthernet(b []byte, off int) bool {
	if len(b) < off+15 {
		return false
	}
	switch binary.BigEndian.Uint16(b[off+12:]) {
	case etherIPv4:
		return b[off+14]>>4 == 4
	case etherIPv6:
		return b[off+14]>>4 == 6
	case etherVLAN, etherQinQ, etherMPLS, etherPPPoE:
		return true
	}
	return false
}
