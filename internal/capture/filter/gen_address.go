package filter

// both makes the condition for a direction of one that looks at the source or the
// destination.
func both(dir direction, one func(dst bool) *cond) *cond {
	switch dir {
	case dirSrc:
		return one(false)
	case dirDst:
		return one(true)
	case dirAnd:
		return and(one(false), one(true))
	}
	return or(one(false), one(true))
}

func (n *host) gen(g *gen) *cond {
	in := func(etherType, src, dst uint32) *cond {
		return both(n.dir, func(d bool) *cond {
			at := src
			if d {
				at = dst
			}
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
	return both(n.dir, func(dst bool) *cond {
		at := uint32(8)
		if dst {
			at = 24
		}
		all := []*cond{g.isType(n.column, etherIPv6)}
		for i := range uint32(4) {
			all = append(all, masked(g.at(at+4*i, 4), n.mask[i], n.addr[i]))
		}
		return and(all...)
	})
}

func (n *etherHost) gen(g *gen) *cond {
	if g.link != linkEthernet {
		return g.notHere(n.column, "an Ethernet address")
	}
	return both(n.dir, func(dst bool) *cond {
		at := uint32(6)
		if dst {
			at = 0
		}
		return g.mac(at, n.mac)
	})
}

func (g *gen) mac(at uint32, m [6]byte) *cond {
	return and(equal(g.load(g.linkhdr, at+2, 4), uint32(m[2])<<24|uint32(m[3])<<16|uint32(m[4])<<8|uint32(m[5])),
		equal(g.load(g.linkhdr, at, 2), uint32(m[0])<<8|uint32(m[1])))
}

func (n *broadcast) gen(g *gen) *cond {
	switch {
	case n.proto == protoIP:
		return g.fail(&Error{Column: n.column, Text: `"ip broadcast" needs the network's mask; write "dst host ADDRESS"`})
	case n.proto != protoNone && n.proto != protoLink:
		return g.fail(&Error{Column: n.column, Text: `"broadcast" goes with "ether" only`})
	case g.link != linkEthernet:
		return g.notHere(n.column, `"broadcast"`)
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
			return g.notHere(n.column, `"multicast"`)
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

// wholeOrFirst says that an IPv4 packet has a transport header: it is no later fragment.
func (g *gen) wholeOrFirst() *cond { return not(compare(g.at(6, 2), opJSet, 0x1fff)) }

func (n *port) atoms(place func(plus, size uint32) []ins) *cond {
	return both(n.dir, func(dst bool) *cond {
		at := uint32(0)
		if dst {
			at = 2
		}
		if !n.ranged {
			return equal(place(at, 2), n.lo)
		}
		return and(compare(place(at, 2), opJGE, n.lo), not(compare(place(at, 2), opJGt, n.hi)))
	})
}
