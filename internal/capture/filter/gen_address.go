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

func (n *host) gen(g *gen) *cond {
	in := func(etherType, src, dst uint32) *cond {
		return forDirection(n.dir, src, dst, func(at uint32) *cond {
			return and(g.isType(n.column, etherType), masked(g.at(at, 4), n.mask, n.addr))
		})
	}
	switch {
	case n.proto == protoIP, n.proto == protoNone && g.labels > 0:
		return in(etherIPv4, 12, 16)
	case n.proto == protoARP:
		return in(etherARP, 14, 24)
	case n.proto == protoRARP:
		return in(etherRARP, 14, 24)
	}
	return or(in(etherIPv4, 12, 16), in(etherARP, 14, 24), in(etherRARP, 14, 24))
}

func (n *host6) gen(g *gen) *cond {
	return forDirection(n.dir, 8, 24, func(at uint32) *cond {
		all := []*cond{g.isType(n.column, etherIPv6)}
		for i := range uint32(4) {
			all = append(all, masked(g.at(at+4*i, 4), n.mask[i], n.addr[i]))
		}
		return and(all...)
	})
}

func (n *etherHost) gen(g *gen) *cond {
	if g.link != linkEthernet {
		return g.unsupportedLink(n.column, "an Ethernet address")
	}
	return forDirection(n.dir, 6, 0, func(at uint32) *cond { return g.mac(at, n.mac) })
}

func (g *gen) mac(at uint32, m [6]byte) *cond {
	return and(equal(g.load(g.linkhdr, at+2, 4), binary.BigEndian.Uint32(m[2:])),
		equal(g.load(g.linkhdr, at, 2), uint32(binary.BigEndian.Uint16(m[:]))))
}

func (n *broadcast) gen(g *gen) *cond {
	switch {
	case n.proto == protoIP:
		return g.fail(&Error{Column: n.column, Text: `"ip broadcast" needs the network's mask; write "dst host ADDRESS"`})
	case n.proto != protoNone && n.proto != protoLink:
		return g.fail(&Error{Column: n.column, Text: `"broadcast" goes with "ether" only`})
	case g.link != linkEthernet:
		return g.unsupportedLink(n.column, `"broadcast"`)
	}
	return g.mac(0, [6]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
}

func (n *multicast) gen(g *gen) *cond {
	switch n.proto {
	case protoIP:
		return and(g.isType(n.column, etherIPv4), compare(g.at(16, 1), opJGE, 224))
	case protoIP6:
		return and(g.isType(n.column, etherIPv6), equal(g.at(24, 1), 255))
	case protoNone, protoLink:
		if g.link != linkEthernet {
			return g.unsupportedLink(n.column, `"multicast"`)
		}
		return compare(g.load(g.linkhdr, 0, 1), opJSet, 1)
	}
	return g.fail(&Error{Column: n.column, Text: `"multicast" goes with "ether", "ip" and "ip6" only`})
}

func (n *port) gen(g *gen) *cond {
	protos := []uint32{ipSCTP, ipTCP, ipUDP}
	if n.proto != 0 {
		protos = []uint32{n.proto}
	}
	var v4, v6 []*cond
	for _, pr := range protos {
		v4 = append(v4, and(equal(g.at(9, 1), pr), g.wholeOrFirst(), n.atoms(g.transport4)))
		v6 = append(v6, and(equal(g.at(6, 1), pr), n.atoms(func(plus, size uint32) []ins { return g.at(40+plus, size) })))
	}
	return or(and(g.isType(n.column, etherIPv6), or(v6...)), and(g.isType(n.column, etherIPv4), or(v4...)))
}

// wholeOrFirst tests that an IPv4 packet has a transport header: that it is not a later fragment.
func (g *gen) wholeOrFirst() *cond { return not(compare(g.at(6, 2), opJSet, 0x1fff)) }

func (n *port) atoms(place func(plus, size uint32) []ins) *cond {
	return forDirection(n.dir, 0, 2, func(at uint32) *cond {
		if !n.ranged {
			return equal(place(at, 2), n.lo)
		}
		return and(compare(place(at, 2), opJGE, n.lo), not(compare(place(at, 2), opJGt, n.hi)))
	})
}
