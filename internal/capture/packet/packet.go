// Package packet turns a captured packet into the TCP segment that it carries: link layer, tunnels, IP, TCP. Packets of
// package capture come in; for each packet a [Verdict] goes out, and a [Segment] if the packet carries TCP, so that no
// byte goes uncounted.
//
// The common packets (Ethernet with VLAN tags, Linux cooked, BSD loopback, raw IP; IPv4 and IPv6) are parsed by hand:
// check the length, then index, without allocation and without calls through interfaces. Rare link layers and tunnels
// (VXLAN, GENEVE, GRE, ERSPAN, IP in IP, MPLS, PPPoE and more) are parsed in the same way; a loop handles packets
// within packets. Wi-Fi is parsed by hand too: gopacket keeps 5 MB of tables that each garbage collection scans. IP fragments are held until their packet is
// complete, within limits.
//
// Addresses and ports are those of the innermost packet. The tunnel or network that carried the packet is not kept: two
// connections with the same addresses and ports in two virtual networks are taken for one. The same applies to
// fragments.
//
// A Segment's Payload is a slice of the packet's Data and valid as long as that. The Payload of a packet that was
// reassembled from fragments belongs to the Decoder and is valid until its next Decode.
//
// The sources are named where a layer is parsed; among them are IEEE 802.1Q, LINKTYPE_LINUX_SLL and SLL2 (tcpdump.org),
// RFC 791, 8200 and 9293.
package packet

import (
	"encoding/binary"
	"fmt"

	"dubbo-wire/internal/capture"
)

// TCP flags (RFC 9293, section 3.1), as in Segment.Flags.
const (
	FIN = 1 << iota
	SYN
	RST
	PSH
	ACK
	URG
	ECE
	CWR
)

// Segment is the TCP segment of a packet.
//
// The link bytes of a packet are headers, payload and padding. The headers are Packet.WireLen + Extra - PayloadLen -
// Padding bytes.
type Segment struct {
	Src, Dst   Endpoint
	Seq, Ack   uint32
	Window     uint16 // as sent, not scaled
	IPID       uint16 // IPv4 identification; 0 with IPv6
	Checksum   uint16 // TCP checksum as sent
	Flags      uint8
	NoIPLength bool   // the IP length is 0 (segmentation offload), so PayloadLen follows from the packet's length
	Offloaded  bool   // NoIPLength, or an IP packet larger than a wire carries ([MaxOnWire])
	Payload    []byte // the captured part of the TCP payload; borrowed
	PayloadLen int    // TCP payload bytes on the wire, without link-layer padding; at least len(Payload)
	Padding    int    // link bytes after the IP packet: padding of short frames, frame check sequences, other trailers
	Extra      int    // link bytes of the earlier packets with fragments of this one; see Held
	// Source tells where a capture of several interfaces saw the packet, as far as its link layer tells: the packet
	// type of Linux cooked v1 (0 to us, 4 from us …), or the interface index times 8 plus that type with v2; else 0.
	Source uint32
}

// MaxOnWire is the size in bytes of the largest IP packet that is taken for a packet on a wire. A larger one was merged
// by a network card or kernel (receive offload) or not split yet (segmentation offload). Wires with larger packets than
// Ethernet's jumbo frames are rare. Loopback interfaces, whose MTU is 64 KiB, are not wires.
const MaxOnWire = 9216

// Verdict classifies a packet.
type Verdict uint8

// The verdicts. Only TCP fills a Segment.
const (
	TCP         Verdict = iota // a segment
	NotTCP                     // something else without errors; Decoder.Protocol tells what
	Fragment                   // an IP fragment that fits no packet
	CutHeader                  // the snap length cut the packet inside its headers
	UnknownLink                // a link type that is not supported
	Malformed                  // headers that contradict themselves
	Held                       // an IP fragment that waits for the other fragments of its packet
)

func (v Verdict) String() string {
	names := [...]string{"tcp", "not tcp", "fragment", "cut header", "unknown link type", "malformed", "held fragment"}
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("verdict %d", uint8(v))
}

// Decoder parses packets. The zero value is ready for use. A Decoder must be used by one goroutine.
type Decoder struct {
	// Layers, if set, receives the positions of the headers of each packet.
	Layers *Layers

	etherType uint16    // of the last packet, 0 if its link layer has none
	ipProto   int16     // of the last packet, -1 if it was not IP
	earlier   Fragments // packets that were held until the last one

	// State of a packet that carries another one, or may.
	nested     bool
	inner      capture.Packet // what is parsed next
	innerKind  uint16         // its Ethernet type; 0: its link type tells
	outer      int            // link bytes of the packet that was captured
	trailing   int            // link bytes after the inner packet
	guessed    bool           // the inner packet was recognized by a port or pattern only; otherwise the packet is:
	guessType  uint16
	guessProto int16

	frags *fragments // allocated at the first fragment
}

// Decode fills s if the packet carries TCP. An IP fragment is held until its packet is complete; the fragment that
// completes the packet stands for all of it.
func (d *Decoder) Decode(p *capture.Packet, s *Segment) Verdict {
	if d.nested {
		d.nested, d.guessed, d.earlier = false, false, Fragments{}
	}
	s.Source = 0
	if d.Layers != nil {
		d.Layers.begin(len(p.Data))
	} else if d.Usual(p, s) {
		return TCP
	}
	d.etherType, d.ipProto = 0, -1
	v := d.link(p, s)
	if v == TCP || !d.nested {
		return v
	}
	if v == inside {
		v = d.decodeInner(s)
	}
	if d.guessed && v != TCP && v != Held && v != CutHeader {
		d.etherType, d.ipProto = d.guessType, d.guessProto
		return NotTCP
	}
	return v
}

// link parses a packet from its link layer.
func (d *Decoder) link(p *capture.Packet, s *Segment) Verdict {
	b := p.Data
	switch p.Link {
	case capture.LinkEthernet:
		return d.ethernet(p, s)
	case capture.LinkLinuxSLL:
		if len(b) < 16 {
			return short(p, 16)
		}
		s.Source = uint32(binary.BigEndian.Uint16(b))
		d.noteHeader(LayerCooked, 0, 16, p.WireLen)
		return d.ether(p, s, 16, binary.BigEndian.Uint16(b[14:]))
	case capture.LinkLinuxSLL2:
		if len(b) < 20 {
			return short(p, 20)
		}
		s.Source = binary.BigEndian.Uint32(b[4:])<<3 | uint32(b[10]&7)
		d.noteHeader(LayerCooked, 0, 20, p.WireLen)
		return d.ether(p, s, 20, binary.BigEndian.Uint16(b))
	case capture.LinkNull, capture.LinkLoop:
		return d.loopback(p, s)
	case capture.LinkRaw, capture.LinkDLTRaw, capture.LinkDLTRawOpenBSD, capture.LinkIPv4, capture.LinkIPv6:
		return d.ip(p, s, 0)
	}
	return d.rareLink(p, s)
}

// ethernet parses an Ethernet header: destination and source address, type.
func (d *Decoder) ethernet(p *capture.Packet, s *Segment) Verdict {
	if len(p.Data) < 14 {
		return short(p, 14)
	}
	d.noteHeader(LayerAddresses, 0, 12, p.WireLen)
	d.noteHeader(LayerPlain, 12, 14, p.WireLen)
	return d.ether(p, s, 14, binary.BigEndian.Uint16(p.Data[12:]))
}

// short returns the verdict for a packet that does not have all n bytes of its headers.
func short(p *capture.Packet, n int) Verdict {
	if p.WireLen >= n && p.WireLen > len(p.Data) {
		return CutHeader
	}
	return Malformed
}

// Ethernet types that are parsed.
const (
	etherIPv4      = 0x0800
	etherIPv6      = 0x86dd
	etherARP       = 0x0806
	etherVLAN      = 0x8100 // 802.1Q
	etherQinQ      = 0x88a8 // 802.1ad
	etherQinQOld   = 0x9100 // before 802.1ad
	etherQinQOld2  = 0x9200
	etherMPLS      = 0x8847
	etherMPLSMulti = 0x8848
	etherPPPoE     = 0x8864
	etherMACsec    = 0x88e5 // IEEE 802.1AE
	etherPBB       = 0x88e7 // IEEE 802.1ah
	etherLLDP      = 0x88cc
	etherVNTag     = 0x8926 // Cisco
	etherETag      = 0x893f // IEEE 802.1BR
	etherLengthMax = 0x05dc // up to this value the field is a length (IEEE 802.3)
)

// maxVLANTags bounds the VLAN tags that are parsed.
const maxVLANTags = 8

// ether parses what the Ethernet type says is at data offset off.
func (d *Decoder) ether(p *capture.Packet, s *Segment, off int, kind uint16) Verdict {
	b := p.Data
	for tags := 0; ; tags++ {
		switch kind {
		case etherIPv4, etherIPv6:
			d.etherType = kind
			return d.ip(p, s, off)
		case etherVLAN, etherQinQ, etherQinQOld, etherQinQOld2:
			if tags == maxVLANTags {
				d.etherType = kind
				return Malformed
			}
			if len(b) < off+4 {
				return short(p, off+4)
			}
			d.noteHeader(LayerPlain, off, off+4, p.WireLen)
			kind = binary.BigEndian.Uint16(b[off+2:])
			off += 4
			continue
		case etherMPLS, etherMPLSMulti, etherPPPoE, etherMACsec, etherPBB, etherVNTag, etherETag, etherBridged:
			d.etherType = kind
			return d.rareEther(p, s, off, kind)
		}
		d.etherType = kind
		if kind <= etherLengthMax {
			return d.snap(p, s, off)
		}
		return NotTCP
	}
}

// snap parses what follows an 802.3 length: LLC aa aa 03, organization 0, Ethernet type.
func (d *Decoder) snap(p *capture.Packet, s *Segment, off int) Verdict {
	b := p.Data
	if len(b) < off+8 {
		return NotTCP // other LLC, or too short for SNAP
	}
	if string(b[off:off+6]) != "\xaa\xaa\x03\x00\x00\x00" {
		return NotTCP
	}
	kind := binary.BigEndian.Uint16(b[off+6:])
	if kind <= etherLengthMax {
		return Malformed
	}
	d.noteHeader(LayerPlain, off, off+8, p.WireLen)
	return d.ether(p, s, off+8, kind)
}

// loopback parses BSD loopback: an address family in the byte order of the machine that captured (NULL) or in network
// byte order (LOOP).
func (d *Decoder) loopback(p *capture.Packet, s *Segment) Verdict {
	if len(p.Data) < 4 {
		return short(p, 4)
	}
	if !isIPFamily(hostOrder(p.Data)) {
		return NotTCP
	}
	d.noteHeader(LayerPlain, 0, 4, p.WireLen)
	return d.ip(p, s, 4)
}

// hostOrder decodes a small number in an unknown byte order.
func hostOrder(b []byte) uint32 {
	if n := binary.LittleEndian.Uint32(b); n <= 0xffff {
		return n
	}
	return binary.BigEndian.Uint32(b)
}

// isIPFamily reports whether an address family is IPv4, or IPv6 as numbered by Linux, NetBSD, FreeBSD and Darwin.
func isIPFamily(family uint32) bool {
	switch family {
	case 2, 10, 24, 28, 30:
		return true
	}
	return false
}
