package filter

// isProto tests for a protocol over the link layer, IPv4, IPv6 or both. With IPv6 it may follow a fragment header.
func (g *gen) isProto(over proto, number uint32) *cond {
	v4 := func() *cond { return and(g.isType(etherIPv4), equal(g.at(9, 1), number)) }
	v6 := func() *cond {
		return and(g.isType(etherIPv6), or(equal(g.at(6, 1), number),
			and(equal(g.at(6, 1), ipFragment), equal(g.at(40, 1), number))))
	}
	switch over {
	case protoLink:
		return g.isType(number)
	case protoIP:
		return v4()
	case protoIP6:
		return v6()
	}
	return or(v4(), v6())
}

func (g *gen) protocol(p proto) *cond {
	if t, ok := linkTypes[p]; ok {
		return g.isType(t)
	}
	ip := ipProtos[p]
	return g.isProto(ip.over, ip.number)
}

func (g *gen) outbound() *cond {
	switch {
	case g.link == linkSLL:
		return equal(g.load(g.linkhdr, 0, 2), packetOutgoing)
	case g.link == linkSLL2:
		return equal(g.load(g.linkhdr, 10, 1), packetOutgoing)
	case g.target.Kernel:
		return equal([]ins{{opLdH, metaPacketType}}, packetOutgoing)
	}
	return g.unsupportedLink(`"inbound" and "outbound" in a file`)
}

func (g *gen) ifindex(n uint32) *cond {
	switch {
	case g.link == linkSLL2:
		return equal(g.load(g.linkhdr, 4, 4), n)
	case g.target.Kernel:
		return equal([]ins{{opLdW, metaIfindex}}, n)
	}
	return g.unsupportedLink(`"ifindex" in a file`)
}

// vlan tests for a VLAN tag, of any number if that is nil; what follows it in the text looks after the tag.
func (g *gen) vlan(number *uint32) *cond {
	if g.labels > 0 {
		return g.fail(`"vlan" cannot follow "mpls"`)
	}
	if g.link != linkEthernet {
		return g.unsupportedLink(`"vlan"`)
	}
	tag := or(g.isType(etherOldQinQ), g.isType(etherVLAN), g.isType(etherQinQ))
	id, inMeta := constCond(true), constCond(true)
	if number != nil {
		id = masked(g.at(0, 2), 0xfff, *number)
		inMeta = masked([]ins{{opLdH, metaVLANTag}}, 0xfff, *number)
	}
	first := g.tags == 0
	g.tags++
	if !first || !g.target.Kernel {
		g.linktype.at += 4
		g.payload.at += 4
		return and(tag, id)
	}
	// The outermost tag is metadata, or it is in the packet and shifts everything after it.
	g.shifts, g.linktype.shifted, g.payload.shifted = true, true, true
	present := equal([]ins{{opLdB, metaVLANPresent}}, 1)
	return and(or(present, and(&cond{kind: condStore, value: 4}, tag)),
		or(and(present, inMeta), and(not(present), id)))
}

// mpls tests for an MPLS label, of any number if that is nil; what follows it in the text looks after the label.
func (g *gen) mpls(number *uint32) *cond {
	var c *cond
	switch {
	case g.labels > 0: // the previous label is not the last one
		c = masked(g.load(g.payload, g.network-4+2, 1), 1, 0)
	case g.link == linkEthernet:
		c = g.isType(etherMPLS)
	case g.link == linkPPP:
		c = equal(g.load(g.linktype, 0, 2), 0x0281)
	default:
		return g.unsupportedLink(`"mpls"`)
	}
	if number != nil {
		c = and(c, masked(g.at(0, 4), 0xfffff000, *number<<12))
	}
	g.network += 4
	g.labels++
	return c
}

// pppoes tests for a PPPoE session, of any number if that is nil; what follows it in the text looks inside.
func (g *gen) pppoes(number *uint32) *cond {
	c := g.isType(etherPPPoES)
	if number != nil {
		c = and(c, masked(g.at(0, 4), 0xffff, *number))
	}
	g.link = linkPPP
	g.linkhdr = offset{at: g.payload.at + g.network + 6, shifted: g.payload.shifted}
	g.linktype = g.linkhdr
	g.payload.at = g.linkhdr.at + 2
	g.network = 0
	return c
}
