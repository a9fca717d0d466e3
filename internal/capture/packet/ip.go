package packet

import (
	"encoding/binary"

	"dubbo-wire/internal/capture"
)

// IP protocol numbers that are parsed or named.
const (
	protoHopByHop    = 0
	protoICMP        = 1
	protoTCP         = 6
	protoUDP         = 17
	protoRouting     = 43
	protoFragment    = 44
	protoESP         = 50
	protoAH          = 51
	protoICMPv6      = 58
	protoDestination = 60
	protoSCTP        = 132
	protoMobility    = 135
	protoHIP         = 139
	protoShim6       = 140
)

// maxExtensions bounds the IPv6 extension headers that are parsed.
const maxExtensions = 16

// ip parses the IP packet at data offset off.
func (d *Decoder) ip(p *capture.Packet, s *Segment, off int) Verdict {
	b := p.Data
	if len(b) <= off {
		return short(p, off+1)
	}
	switch b[off] >> 4 {
	case 4:
		return d.ipv4(p, s, off)
	case 6:
		return d.ipv6(p, s, off)
	}
	return Malformed
}

// Bytes of an Ethernet header without tags and an IPv4 header without options, and of these and a TCP header without options.
const (
	usualIP  = 14 + 20
	usualTCP = usualIP + 20
)

// Usual parses these three headers at once and reports whether the packet has them, for a decoder without Layers. Others are parsed header by
// header ([Decoder.Decode]): also a fragment, a packet larger than a wire carries, and one that was not captured in full. Usual takes a quarter
// of the instructions, and changes nothing that matters for other packets, so it may be called before earlier packets were decoded.
func (d *Decoder) Usual(p *capture.Packet, s *Segment) bool {
	if len(p.Data) < usualTCP || p.Link != capture.LinkEthernet {
		return false
	}
	b, be := p.Data[:usualTCP], binary.BigEndian
	total := int(be.Uint16(b[16:]))
	start, end := usualIP+int(b[usualIP+12]>>4)*4, 14+total
	if be.Uint32(b[12:])>>8 != etherIPv4<<8|0x45 || be.Uint32(b[20:])&0x3fff00ff != protoTCP || total > MaxOnWire ||
		start < usualTCP || start > end || end > len(p.Data) {
		return false
	}
	d.etherType, d.ipProto = etherIPv4, protoTCP
	s.NoIPLength, s.Offloaded, s.Source = false, false, 0
	s.IPID = be.Uint16(b[18:])
	s.Src.setIPv4(b[26:30])
	s.Dst.setIPv4(b[30:34])
	s.setTCP(b[usualIP:])
	s.PayloadLen, s.Padding, s.Extra = end-start, p.WireLen-end, 0
	s.Payload = p.Data[start:end:end]
	return true
}

// setTCP sets what the first 20 bytes of a TCP header tell but the length of the header (RFC 9293, section 3.1).
//
//	0 source port · 2 destination port · 4 sequence · 8 acknowledgement
//	12 header words · 13 flags · 14 window · 16 checksum, urgent · 20 options
func (s *Segment) setTCP(b []byte) {
	_ = b[19]
	s.Src.Port, s.Dst.Port = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	s.Seq, s.Ack = binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	s.Flags = b[13]
	s.Window, s.Checksum = binary.BigEndian.Uint16(b[14:]), binary.BigEndian.Uint16(b[16:])
}

// ipv4 parses (RFC 791, section 3.1)
//
//	0 version, header words · 2 total length · 4 identification · 6 flags, offset
//	9 protocol · 12 source · 16 destination · 20 options
func (d *Decoder) ipv4(p *capture.Packet, s *Segment, off int) Verdict {
	if len(p.Data) < off+20 {
		return short(p, off+20)
	}
	b := p.Data[off:]
	header := int(b[0]&15) * 4
	total := int(binary.BigEndian.Uint16(b[2:]))
	s.NoIPLength = total == 0
	if total == 0 {
		total = p.WireLen - off
	}
	s.Offloaded = s.NoIPLength || total > MaxOnWire
	if header < 20 || total < header {
		return Malformed
	}
	d.noteHeader(LayerIPv4, off, off+header, off+total)
	d.ipProto = int16(b[9])
	if fragment := binary.BigEndian.Uint16(b[6:]); fragment&0x3fff != 0 {
		return d.fragment4(p, off, header, total)
	}
	if b[9] != protoTCP {
		return d.ipPayload(p, s, b[9], off+header, off+total)
	}
	s.IPID = binary.BigEndian.Uint16(b[4:])
	s.Src.setIPv4(b[12:16])
	s.Dst.setIPv4(b[16:20])
	return d.tcp(p, s, off+header, off+total)
}

// ipv6 parses (RFC 8200, section 3)
//
//	0 version, class, label · 4 payload length · 6 next header · 8 source
//	24 destination · 40 extension headers
func (d *Decoder) ipv6(p *capture.Packet, s *Segment, off int) Verdict {
	if len(p.Data) < off+40 {
		return short(p, off+40)
	}
	b := p.Data[off:]
	length := int(binary.BigEndian.Uint16(b[4:]))
	end := off + 40 + length
	s.NoIPLength = length == 0
	if length == 0 { // a jumbogram, or segmentation offload
		end = p.WireLen
	}
	s.Offloaded = s.NoIPLength || end-off > MaxOnWire
	next := b[6]
	d.noteHeader(LayerIPv6, off, off+40, end)
	s.IPID = 0
	s.Src.IP = [16]byte(b[8:24])
	s.Dst.IP = [16]byte(b[24:40])
	at := 40
	for range maxExtensions {
		var size int
		switch next {
		case protoTCP:
			d.ipProto = protoTCP
			return d.tcp(p, s, off+at, end)
		case protoHopByHop, protoRouting, protoDestination, protoMobility, protoHIP, protoShim6, protoAH:
			if len(b) < at+2 {
				return short(p, off+at+2)
			}
			size = int(b[at+1])*8 + 8
			if next == protoAH {
				size = int(b[at+1])*4 + 8
			}
			if next == protoHopByHop && length == 0 && len(b) >= at+size {
				end = jumbo(b[at+2:at+size], off, end)
				d.noteHeader(LayerJumbo, off+at, off+at+size, end)
			} else {
				d.noteHeader(LayerExtension, off+at, off+at+size, end)
			}
		case protoFragment:
			if len(b) < at+8 {
				return short(p, off+at+8)
			}
			d.noteHeader(LayerPlain, off+at, off+at+8, end)
			if binary.BigEndian.Uint16(b[at+2:])&^6 != 0 {
				d.ipProto = int16(b[at])
				return d.fragment6(p, off, at, end)
			}
			size = 8
		default:
			return d.ipPayload(p, s, next, off+at, end)
		}
		next = b[at]
		at += size
		if off+at > end {
			return Malformed
		}
		if len(b) < at {
			return short(p, off+at)
		}
	}
	return Malformed
}

// jumbo returns the end of a packet that is too long for its length field, from the jumbo payload option (RFC 2675), or
// end if there is no such option.
func jumbo(options []byte, off, end int) int {
	for len(options) >= 2 {
		n := int(options[1]) + 2
		switch {
		case options[0] == 0: // one byte of padding
			n = 1
		case options[0] == 0xc2 && n == 6 && len(options) >= 6:
			return int(min(int64(end), int64(off)+40+int64(binary.BigEndian.Uint32(options[2:]))))
		}
		options = options[min(n, len(options)):]
	}
	return end
}

// tcp parses the TCP header at data offset off; end is where the IP packet ends by
// its own length, in bytes from the packet's start.
func (d *Decoder) tcp(p *capture.Packet, s *Segment, off, end int) Verdict {
	// Bytes that were not on the wire are not payload of this packet, whatever IP says: a tool may have cut the packet
	// and lost its original length.
	end = min(end, p.WireLen)
	if end < off+20 {
		return Malformed
	}
	if len(p.Data) < off+20 {
		return short(p, off+20)
	}
	b := p.Data[off : off+20]
	start := off + int(b[12]>>4)*4
	if start < off+20 || start > end {
		return Malformed
	}
	d.noteHeader(LayerTCP, off, start, end)
	s.setTCP(b)
	s.PayloadLen = end - start
	s.Padding = p.WireLen - end
	s.Extra = 0
	// Padding follows end. If the options are cut, no payload is left.
	from, to := min(start, len(p.Data)), min(end, len(p.Data))
	s.Payload = p.Data[from:to:to]
	return TCP
}
