package filter

import "encoding/binary"

// forDirection returns the condition for a direction, made of one condition at the offset of the source, src, or of the
// destination, dst.
func forDirection(dir direction, src, dst uint32, one func(at uint32) *cond) *cond {
	switch dir {
	case dirSrc:
		return one(src)
	case dirDst:
		return one(dst)
	case dirAnd:
		return and(one(src), one(dst))
	}
	return or(one(src), one(dst))
}

// host tests for an IPv4 address or network.
func (g *gen) host(q qualifiers, addr, mask uint32) *cond {
	in := func(etherType, src, dst uint32) *cond {
		return forDirection(q.dir, src, dst, func(at uint32) *cond {
			return and(g.isType(etherType), masked(g.at(at, 4), mask, addr))
		})
	}
	switch {
	case q.proto == protoIP, q.proto == protoNone && g.labels > 0:
		return in(etherIPv4, 12, 16)
	case q.proto == protoARP:
		return in(etherARP, 14, 24)
	case q.proto == protoRARP:
		return in(etherRARP, 14, 24)
	}
	return or(in(etherIPv4, 12, 16), in(etherARP, 14, 24), in(etherRARP, 14, 24))
}

func (g *gen) host6(dir direction, addr, mask [4]uint32) *cond {
	return forDirection(dir, 8, 24, func(at uint32) *cond {
		all := []*cond{g.isType(etherIPv6)}
		for i := range uint32(4) {
			all = append(all, masked(g.at(at+4*i, 4), mask[i], addr[i]))
		}
		return and(all...)
	})
}

func (g *gen) etherHost(dir direction, mac [6]byte) *cond {
	if g.link != linkEthernet {
		return g.unsupportedLink("an Ethernet address")
	}
	return forDirection(dir, 6, 0, func(at uint32) *cond { return g.mac(at, mac) })
}

func (g *gen) mac(at uint32, m [6]byte) *cond {
	return and(equal(g.load(g.linkhdr, at+2, 4), binary.BigEndian.Uint32(m[2:])),
		equal(g.load(g.linkhdr, at, 2), uint32(binary.BigEndian.Uint16(m[:]))))
}

func (g *gen) broadcast(p proto) *cond {
	switch {
	case p == protoIP:
		return g.fail(`"ip broadcast" needs the network's mask; write "dst host ADDRESS"`)
	case p != protoNone && p != protoLink:
		return g.fail(`"broadcast" works only with "ether"`)
	case g.link != linkEthernet:
		return g.unsupportedLink(`"broadcast"`)
	}
	return g.mac(0, [6]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
}

func (g *gen) multicast(p proto) *cond {
	switch {
	case p == protoIP:
		return and(g.isType(etherIPv4), compare(g.at(16, 1), opJGE, 224))
	case p == protoIP6:
		return and(g.isType(etherIPv6), equal(g.at(24, 1), 255))
	case p != protoNone && p != protoLink:
		return g.fail(`"multicast" works only with "ether", "ip" and "ip6"`)
	case g.link != linkEthernet:
		return g.unsupportedLink(`"multicast"`)
	}
	return compare(g.load(g.linkhdr, 0, 1), opJSet, 1)
}

// ports tests for the ports from lo to hi of TCP, UDP or SCTP, or of one of them.
func (g *gen) ports(q qualifiers, lo, hi uint32) *cond {
	in := func(place func(plus, size uint32) []ins) *cond {
		return forDirection(q.dir, 0, 2, func(at uint32) *cond {
			if q.addr != addrRange {
				return equal(place(at, 2), lo)
			}
			return between(place(at, 2), lo, hi)
		})
	}
	protos := []uint32{ipSCTP, ipTCP, ipUDP}
	if q.proto != protoNone {
		protos = []uint32{ipProtos[q.proto].number}
	}
	var v4, v6 []*cond
	for _, pr := range protos {
		v4 = append(v4, and(equal(g.at(9, 1), pr), g.wholeOrFirst(), in(g.transport4)))
		v6 = append(v6, and(equal(g.at(6, 1), pr), in(func(plus, size uint32) []ins { return g.at(40+plus, size) })))
	}
	return or(and(g.isType(etherIPv6), or(v6...)), and(g.isType(etherIPv4), or(v4...)))
}

// wholeOrFirst tests that an IPv4 packet has a transport header: that it is not a later fragment.
func (g *gen) wholeOrFirst() *cond { return not(compare(g.at(6, 2), opJSet, 0x1fff)) }

func between(code []ins, lo, hi uint32) *cond {
	return and(compare(code, opJGE, lo), not(compare(code, opJGt, hi)))
}
