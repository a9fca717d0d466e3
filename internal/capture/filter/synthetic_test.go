package filter

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"

	"dubbo-wire/internal/capture"
)

// Packets of every kind that expressions tell apart, made of the same few addresses,
// ports and numbers as the expressions.

var (
	someIPv4  = []string{"10.0.0.7", "10.1.2.3", "192.168.1.1", "127.0.0.1", "224.0.0.5"}
	someIPv6  = []string{"2001:db8::1", "2001:db8:0:1::2", "fe80::1", "ff02::1", "::1"}
	somePorts = []uint16{80, 443, 20880, 20881, 53}
	someMACs  = []string{"\x02\x00\x00\x00\x00\x01", "\x02\x00\x00\x00\x00\x02", "\xff\xff\xff\xff\xff\xff", "\x01\x00\x5e\x00\x00\x05"}
	someTags  = []uint16{5, 6, 100, 0, 4095}
)

// payload is a network layer's packet with the Ethernet type it goes under.
type payload struct {
	kind uint16
	data []byte
}

func be16(v ...uint16) []byte {
	var b []byte
	for _, x := range v {
		b = binary.BigEndian.AppendUint16(b, x)
	}
	return b
}

func cat(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func pick[T any](r *rand.Rand, s []T) T { return s[r.IntN(len(s))] }

func bytesOf(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func synthTCP(r *rand.Rand) []byte {
	return cat(be16(pick(r, somePorts), pick(r, somePorts)), bytesOf(r, 8), []byte{0x50 + byte(r.IntN(2))<<4, 1 << r.IntN(8) & byte(r.Uint32()|0x12)},
		bytesOf(r, 6+r.IntN(40)))
}

func synthUDP(r *rand.Rand) []byte {
	n := r.IntN(40)
	return cat(be16(pick(r, somePorts), pick(r, somePorts), uint16(n+8), 0), bytesOf(r, n))
}

func transport(r *rand.Rand, six bool) (uint8, []byte) {
	switch r.IntN(10) {
	case 0, 1, 2, 3:
		return ipTCP, synthTCP(r)
	case 4, 5:
		return ipUDP, synthUDP(r)
	case 6:
		return ipSCTP, cat(be16(pick(r, somePorts), pick(r, somePorts)), bytesOf(r, 20))
	case 7:
		if six {
			return ipICMP6, cat([]byte{byte(pick(r, []int{128, 129, 135, 1})), 0}, bytesOf(r, 10))
		}
		return ipICMP, cat([]byte{byte(r.IntN(12)), byte(r.IntN(3))}, bytesOf(r, 12))
	case 8:
		return pick(r, []uint8{ipIGMP, 9, 47, 50, 51, 103, 112}), bytesOf(r, 24)
	}
	return uint8(r.Uint32()), bytesOf(r, r.IntN(30))
}

func addr4(r *rand.Rand) []byte { a := netip.MustParseAddr(pick(r, someIPv4)).As4(); return a[:] }
func addr6(r *rand.Rand) []byte { a := netip.MustParseAddr(pick(r, someIPv6)).As16(); return a[:] }

func synthIPv4(r *rand.Rand) payload {
	proto, body := transport(r, false)
	options := bytesOf(r, 4*pick(r, []int{0, 0, 0, 1, 3, 10}))
	fragment := pick(r, []uint16{0, 0, 0, 0x4000, 0x2000, 0x2010, 0x00b9})
	return payload{etherIPv4, cat([]byte{0x45 + byte(len(options)/4), byte(r.Uint32())}, be16(uint16(20+len(options)+len(body)), uint16(r.Uint32()), fragment),
		[]byte{64, proto}, be16(0), addr4(r), addr4(r), options, body)}
}

func synthIPv6(r *rand.Rand) payload {
	proto, body := transport(r, true)
	switch r.IntN(6) {
	case 0: // a fragment
		body = cat([]byte{proto, 0}, be16(pick(r, []uint16{0, 1, 0x0b9})), bytesOf(r, 4), body)
		proto = ipFragment
	case 1: // options for every hop
		body = cat([]byte{proto, 0, 1, 4, 0, 0, 0, 0}, body)
		proto = 0
	}
	return payload{etherIPv6, cat([]byte{0x60, 0, 0, 0}, be16(uint16(len(body))), []byte{proto, 64}, addr6(r), addr6(r), body)}
}

func synthARP(r *rand.Rand) payload {
	kind := pick(r, []uint16{etherARP, etherARP, etherRARP})
	return payload{kind, cat(be16(1, etherIPv4), []byte{6, 4}, be16(1), []byte(pick(r, someMACs)), addr4(r), []byte(pick(r, someMACs)), addr4(r))}
}

func synthNetwork(r *rand.Rand) payload {
	switch r.IntN(12) {
	case 0, 1, 2, 3, 4:
		return synthIPv4(r)
	case 5, 6, 7:
		return synthIPv6(r)
	case 8:
		return synthARP(r)
	case 9:
		return payload{pick(r, []uint16{etherApple, etherAppleARP, etherDECnet, etherLAT, etherIPX, etherPPPoED, 0x88cc, 0x9000}), bytesOf(r, 30)}
	case 10: // IEEE 802.2, also SNAP
		sap := pick(r, []byte{sapIP, sapBridge, sapIPX, sapNetBEUI, sapISO, 0xff, 5})
		if r.IntN(2) == 0 {
			in := synthNetwork(r)
			kind := pick(r, []uint16{in.kind, etherApple, etherAppleARP, etherIPX})
			return payload{uint16(8 + len(in.data)), cat([]byte{sapSNAP, sapSNAP, 3}, pick(r, [][]byte{{0, 0, 0}, {8, 0, 7}}), be16(kind), in.data)}
		}
		return payload{60, cat([]byte{sap, sap, 3}, bytesOf(r, 40))}
	}
	return payload{uint16(r.Uint32()), bytesOf(r, r.IntN(60))}
}

// synthEncapsulated may put tags, labels and PPPoE around a packet.
func synthEncapsulated(r *rand.Rand) payload {
	p := synthNetwork(r)
	for range r.IntN(3) {
		switch r.IntN(6) {
		case 0, 1, 2:
			p = payload{pick(r, []uint16{etherVLAN, etherVLAN, etherQinQ, etherOldQinQ}), cat(be16(pick(r, someTags)|uint16(r.IntN(8))<<13, p.kind), p.data)}
		case 3:
			if p.kind != etherMPLS {
				p.data = cat([]byte{0, byte(r.IntN(2)), 0x41, 64}, p.data) // last label, 16 or 20
				p.kind = etherMPLS
			} else {
				p.data = cat([]byte{0, byte(r.IntN(2)), 0x40, 64}, p.data)
			}
		case 4:
			if n, ok := pppTypes[uint32(p.kind)]; ok {
				p = payload{etherPPPoES, cat([]byte{0x11, 0}, be16(uint16(1+r.IntN(2)), uint16(2+len(p.data)), uint16(n)), p.data)}
			}
		}
	}
	return p
}

// synthFrame is a packet of a link type and, for the kernel, the same as its filters
// see it; cut anywhere if asked for.
func synthFrame(r *rand.Rand, link capture.LinkType, cut bool) (file []byte, kernel seen) {
	p := synthEncapsulated(r)
	if cut {
		p.data = p.data[:r.IntN(len(p.data)+1)]
	}
	kernel = seen{protocol: uint32(p.kind), kind: uint32(r.IntN(5)), ifindex: uint32(1 + r.IntN(3)), ancillary: true}
	switch link {
	case capture.LinkEthernet:
		head := cat([]byte(pick(r, someMACs)), []byte(pick(r, someMACs)))
		file = cat(head, be16(p.kind), p.data)
		kernel.data = file
		tagged := p.kind == etherVLAN || p.kind == etherQinQ
		if tagged && len(p.data) >= 4 && r.IntN(2) == 0 {
			kernel.tagged, kernel.tag = true, uint32(binary.BigEndian.Uint16(p.data))
			kernel.data = cat(head, p.data[2:])
		}
	case capture.LinkLinuxSLL:
		kind := p.kind
		if kind <= etherLengths {
			kind = uint16(pick(r, []int{1, 4}))
		}
		kernel.protocol = uint32(kind)
		kernel.data = p.data
		file = cat(be16(uint16(kernel.kind), 1, 6), []byte(pick(r, someMACs)), be16(0, kind), p.data)
	case capture.LinkLinuxSLL2:
		kernel.data = p.data
		file = cat(be16(p.kind, 0, 0, uint16(kernel.ifindex), 1), []byte{byte(kernel.kind), 6}, []byte(pick(r, someMACs)), be16(0), p.data)
	default:
		for p.kind != etherIPv4 && p.kind != etherIPv6 && r.IntN(20) != 0 {
			p = synthNetwork(r)
		}
		file = p.data
		kernel.data = file
	}
	kernel.length = len(kernel.data)
	return file, kernel
}
