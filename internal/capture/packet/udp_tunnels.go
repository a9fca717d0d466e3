package packet

import (
	"encoding/binary"
	"slices"

	"dubbo-wire/internal/capture"
)

// Tunnels over UDP, by destination port. A port proves nothing: the tunnel's header must be valid, and TCP must come
// out; otherwise the packet is UDP.
const (
	portGTP      = 2152
	portGREInUDP = 4754 // RFC 8086
	portVXLAN    = 4789
	portVXLANGPE = 4790
	portGENEVE   = 6081
	portMPLS     = 6635 // RFC 7510
	portVXLANOld = 8472 // Linux before a number was assigned
	portTZSP     = 37008
)

// TunnelPorts are the UDP ports at which the decoder looks for inner packets.
var TunnelPorts = [...]uint16{
	portGTP, portGREInUDP, portVXLAN, portVXLANGPE, portGENEVE, portMPLS, portVXLANOld, portTZSP,
}

// udp parses source port u16, destination port u16, length u16, checksum u16.
func (d *Decoder) udp(p *capture.Packet, off, end int) Verdict {
	b := p.Data
	if len(b) < off+8 {
		return NotTCP
	}
	port := binary.BigEndian.Uint16(b[off+2:])
	if !slices.Contains(TunnelPorts[:], port) {
		return NotTCP
	}
	if n := int(binary.BigEndian.Uint16(b[off+4:])); n >= 8 { // 0 if it is too large for the field
		end = min(end, off+n)
	}
	d.startGuess()
	d.noteHeader(LayerUDP, off, off+8, end)
	off += 8
	switch port {
	case portGTP:
		return d.gtp(p, off, end)
	case portGREInUDP:
		return d.gre(p, off, end)
	case portGENEVE:
		return d.geneve(p, off, end)
	case portMPLS:
		return d.enter(p, off, end, etherMPLS)
	case portTZSP:
		return d.tzsp(p, off, end)
	}
	return d.vxlan(p, off, end)
}

// vxlan parses (RFC 7348; draft-smith-vxlan-group-policy, draft-ietf-nvo3-vxlan-gpe)
//
//	0 flags: I 08, with a group policy G 80, generic P 04 · 1 reserved, flags of the
//	policy · 2 reserved, policy · 3 next protocol if generic · 4 network · 7 reserved
func (d *Decoder) vxlan(p *capture.Packet, off, end int) Verdict {
	if len(p.Data) < off+8 {
		return short(p, off+8)
	}
	h := p.Data[off : off+8]
	d.noteHeader(LayerPlain, off, off+8, end)
	off += 8
	switch {
	case h[7] != 0:
	case h[0] == 0x08 && h[1]|h[2]|h[3] == 0, h[0] == 0x88 && h[1]&^0x48 == 0:
		return d.enter(p, off, end, etherBridged)
	case h[0] == 0x0c && h[1]|h[2] == 0 && int(h[3]) < len(vxlanProtocols) && vxlanProtocols[h[3]] != 0:
		return d.enter(p, off, end, vxlanProtocols[h[3]])
	}
	return NotTCP
}

// vxlanProtocols are the Ethernet types for the protocol numbers of generic VXLAN.
var vxlanProtocols = [...]uint16{1: etherIPv4, 2: etherIPv6, 3: etherBridged, 5: etherMPLS}

// geneve parses (RFC 8926)
//
//	0 version (2 bits), words of options · 1 flags O, C, reserved · 2 protocol type
//	4 network · 7 reserved · 8 options
func (d *Decoder) geneve(p *capture.Packet, off, end int) Verdict {
	if len(p.Data) < off+8 {
		return short(p, off+8)
	}
	h := p.Data[off : off+8]
	kind := binary.BigEndian.Uint16(h[2:])
	if h[0]>>6 != 0 || h[1]&0x3f != 0 || h[7] != 0 || kind <= etherLengthMax {
		return NotTCP
	}
	d.noteHeader(LayerPlain, off, off+8, end)
	return d.enter(p, off+8+int(h[0]&0x3f)*4, end, kind)
}

// gtp parses a user packet of GTP version 1 (3GPP TS 29.281, section 5)
//
//	0 version 1, protocol type 1, flags E, S, PN · 1 message type 255 · 2 length
//	after byte 8 · 4 tunnel · with a flag: 8 sequence, N-PDU, 11 next extension
func (d *Decoder) gtp(p *capture.Packet, off, end int) Verdict {
	b := p.Data
	if len(b) < off+8 {
		return short(p, off+8)
	}
	if b[off]&0xf8 != 0x30 || b[off+1] != 0xff {
		return NotTCP
	}
	flags, head := b[off]&7, off
	off += 8
	end = min(end, off+int(binary.BigEndian.Uint16(b[off-6:])))
	if flags != 0 {
		off += 4
		for range maxExtensions {
			if len(b) < off {
				return short(p, off)
			}
			if flags&4 == 0 || b[off-1] == 0 {
				break
			}
			if len(b) < off+1 {
				return short(p, off+1)
			}
			if b[off] == 0 {
				return NotTCP
			}
			off += int(b[off]) * 4
		}
	}
	if len(b) <= off {
		return short(p, off+1)
	}
	d.noteHeader(LayerPlain, head, off, end)
	return d.enter(p, off, end, ipType(b[off]>>4))
}

// tzsp parses version 1, type u8 (0: a packet), encapsulated protocol u16 (1:
// Ethernet), tags; tag 0 is padding, 1 the last, others have a length u8.
func (d *Decoder) tzsp(p *capture.Packet, off, end int) Verdict {
	b := p.Data
	if len(b) < off+4 {
		return short(p, off+4)
	}
	if string(b[off:off+4]) != "\x01\x00\x00\x01" {
		return NotTCP
	}
	d.noteHeader(LayerPlain, off, off+4, end)
	for off += 4; off < min(end, len(b)); {
		d.noteHeader(LayerPlain, off, off+1, end)
		switch b[off] {
		case 0:
			off++
			continue
		case 1:
			return d.enter(p, off+1, end, etherBridged)
		}
		if len(b) < off+2 {
			break
		}
		d.noteHeader(LayerPlain, off+1, off+2, end)
		off += 2 + int(b[off+1])
	}
	return short(p, off+1)
}
