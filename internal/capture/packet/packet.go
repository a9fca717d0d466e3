// Package packet turns a captured packet into the TCP segment it carries: link
// layer, IP, TCP, and the tunnels between them. It says of every packet what it is, so
// that no byte goes uncounted.
//
// The common packet (Ethernet with VLAN tags, Linux cooked, BSD loopback, raw IP;
// IPv4 and IPv6) is parsed by hand: check the length, then index, no allocation,
// no call through an interface. Rare link layers and tunnels (VXLAN, GENEVE, GRE, ERSPAN,
// IP in IP, MPLS, PPPoE and more) are parsed the same way, one packet within another by a
// loop; Wi-Fi goes through gopacket's layers, with layers allocated once. IP fragments are
// held until their packet is whole, within bounds. Sources are named where a layer is
// parsed; IEEE 802.1Q, LINKTYPE_LINUX_SLL and SLL2 (tcpdump.org), RFC 791, 8200, 9293.
//
// Addresses and ports are those of the innermost packet. Which tunnel or network it
// was in is not kept: two connections with the same addresses and ports in two virtual
// networks are taken for one. The same goes for fragments.
//
// Memory: a Segment's Payload is a slice of the packet's Data, and as short-lived; that of
// a packet put together from fragments belongs to the Decoder until its next Decode.
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

// Segment is the TCP segment of one packet.
//
// On the wire a packet's link bytes are headers, payload and padding: the headers are
// Packet.WireLen + Extra - PayloadLen - Padding.
type Segment struct {
	Src, Dst   Endpoint
	Seq, Ack   uint32
	Window     uint16 // as sent, not scaled
	IPID       uint16 // IPv4 identification; 0 with IPv6
	Checksum   uint16 // of TCP, as sent
	Flags      uint8
	NoIPLength bool   // the IP length is 0 (segmentation offload), and PayloadLen follows from the packet's length
	Offloaded  bool   // NoIPLength, or an IP packet larger than a wire carries ([MaxOnWire])
	Payload    []byte // what was captured of the TCP payload; borrowed
	PayloadLen int    // TCP payload bytes on the wire, without link-layer padding; at least len(Payload)
	Padding    int    // link bytes behind the IP packet: padding of short frames, frame check sequences, other trailers
	Extra      int    // link bytes of the earlier packets that held fragments of this one; see Held
	// Source says where a capture of several interfaces saw the packet, as far as its link layer tells: with Linux
	// cooked v1 the packet type (0 to us, 4 from us …), with v2 the interface index times 8 and that type; else 0.
	Source uint32
}

// MaxOnWire is the largest IP packet that is taken for one packet on a wire: what is larger was put together by a
// network card or kernel (receive offload), or not taken apart yet (segmentation offload). Wires with larger packets
// than Ethernet's jumbo frames are rare; loopback interfaces, whose MTU is 64 KiB, are none.
const MaxOnWire = 9216

// Verdict is what a packet turned out to be.
type Verdict uint8

// The verdicts. Only TCP fills a Segment.
const (
	TCP         Verdict = iota // a segment
	NotTCP                     // something else in good order; Decoder.Protocol says what
	Fragment                   // an IP fragment that fits no packet
	CutHeader                  // the snap length cut it inside its headers
	UnknownLink                // a link type that is not read
	Malformed                  // headers that contradict themselves
	Held                       // an IP fragment that waits for the others of its packet
)

func (v Verdict) String() string {
	names := [...]string{"tcp", "not tcp", "fragment", "cut header", "unknown link type", "malformed", "held fragment"}
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("verdict %d", uint8(v))
}

// Decoder parses packets. The zero value is ready; it is for one goroutine.
type Decoder struct {
	// Layers, if set, is told where the headers of each packet lie.
	Layers *Layers

	etherType uint16    // of the last packet, 0 if its link layer has none
	ipProto   int16     // of the last packet, -1 if it was not IP
	earlier   Fragments // packets that were held until the last one

	// Of a packet that carries another one, or may.
	nested     bool
	inner      capture.Packet // what is parsed next
	innerKind  uint16         // its Ethernet type; 0: as its link type says
	outer      int            // link bytes of the packet that was captured
	trailing   int            // link bytes behind what is inside
	guessed    bool           // by a port or pattern, and then the packet is:
	guessType  uint16
	guessProto int16

	frags      *fragments  // made at the first fragment
	wifiLayers *wifiLayers // made at the first packet that needs them
}

// Decode fills s if the packet carries TCP. An IP fragment is held until its packet is
// whole; the fragment that completes it stands for all of it.
func (d *Decoder) Decode(p *capture.Packet, s *Segment) Verdict {
	d.etherType, d.ipProto = 0, -1
	if d.nested {
		d.nested, d.guessed, d.earlier = false, false, Fragments{}
	}
	s.Source = 0
	if d.Layers != nil {
		d.Layers.begin(len(p.Data))
	}
	var v Verdict
	if p.Link == capture.LinkEthernet {
		v = d.ethernet(p, s)
	} else {
		v = d.link(p, s)
	}
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

// link parses a packet from its link layer on.
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

// short is the verdict on a packet whose header of n bytes is not all there.
func short(p *capture.Packet, n int) Verdict {
	if p.WireLen >= n && p.WireLen > len(p.Data) {
		return CutHeader
	}
	return Malformed
}

// Ethernet types that are followed.
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
	etherLengthMax = 0x05dc // up to here the field is a length (IEEE 802.3)
)

// maxVLANTags bounds the tags that are followed.
const maxVLANTags = 8

// ether goes on at data offset off with what the Ethernet type says is there.
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

// snap goes on behind an 802.3 length: LLC aa aa 03, organisation 0, Ethernet type.
func (d *Decoder) snap(p *capture.Packet, s *Segment, off int) Verdict {
	b := p.Data
	if len(b) < off+8 {
		return NotTCP // other LLC, or too short to be SNAP
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

// loopback reads the address family of BSD loopback: in the byte order of the
// machine that captured, whichever that was, or (LOOP) in network order.
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

// hostOrder reads a small number that some machine wrote in its own byte order.
func hostOrder(b []byte) uint32 {
	if n := binary.LittleEndian.Uint32(b); n <= 0xffff {
		return n
	}
	return binary.BigEndian.Uint32(b)
}

// isIPFamily knows IPv4, and IPv6 as Linux, NetBSD, FreeBSD and Darwin number it.
func isIPFamily(family uint32) bool {
	switch family {
	case 2, 10, 24, 28, 30:
		return true
	}
	return false
}
