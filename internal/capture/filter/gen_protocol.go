package filter

func (n *protoNumber) gen(g *gen) *cond {
	if n.proto == protoLink {
		return g.isType(n.column, n.number)
	}
	return g.isProto(n.column, n.proto, n.number)
}

// isProto tests for a protocol over IPv4, IPv6 or both. With IPv6 it may follow a fragment header.
func (g *gen) isProto(column int, over proto, number uint32) *cond {
	v4 := func() *cond { return and(g.isType(column, etherIPv4), equal(g.at(9, 1), number)) }
	v6 := func() *cond {
		return and(g.isType(column, etherIPv6), or(equal(g.at(6, 1), number),
			and(equal(g.at(6, 1), ipFragment), equal(g.at(40, 1), number))))
	}
	switch over {
	case protoIP:
		return v4()
	case protoIP6:
		return v6()
	}
	return or(v4(), v6())
}

func (n *protocol) gen(g *gen) *cond { return g.protocol(n.column, n.proto) }

func (g *gen) protocol(column int, p proto) *cond {
	if t, ok := linkTypes[p]; ok {
		return g.isType(column, t)
	}
	ip := ipProtos[p]
	return g.isProto(column, ip.over, ip.number)
}

func (n *inbound) gen(g *gen) *cond {
	var c *cond
	switch {
	case g.link == linkSLL:
		c = equal(g.load(g.linkhdr, 0, 2), packetOutgoing)
	case g.link == linkSLL2:
		c = equal(g.load(g.linkhdr, 10, 1), packetOutgoing)
	case g.target.Kernel:
		c = equal([]ins{{opLdH, metaPacketType}}, packetOutgoing)
	default:
		return g.unsupportedLink(n.column, `"inbound" and "outbound" in a file`)
	}
	if n.out {
		return c
	}
	return not(c)
}

func (n *ifindex) gen(g *gen) *cond {
	switch {
	case g.link == linkSLL2:
		return equal(g.load(g.linkhdr, 4, 4), n.index)
	case g.target.Kernel:
		return equal([]ins{{opLdW, metaIfindex}}, n.index)
	}
	return g.unsupportedLink(n.column, `"ifindex" in a file`)
}

func (n *encapsulation) gen(g *gen) *cond {
	switch n.kind {
	case "vlan":
		return n.vlan(g)
	case "mpls":
		return n.mpls(g)
	}
	return n.pppoes(g)
}

// vlan tests for a VLAN tag; what follows it in the text looks after the tag.
func (n *encapsulation) vlan(g *gen) *cond {
	if g.labels > 0 {
		return g.fail(&Error{Column: n.column, Text: `"vlan" cannot follow "mpls"`})
	}
	if g.link != linkEthernet {
		return g.unsupportedLink(n.column, `"vlan"`)
	}
	tag := or(g.isType(n.column, etherOldQinQ), g.isType(n.column, etherVLAN), g.isType(n.column, etherQinQ))
	id := masked(g.at(0, 2), 0xfff, n.number)
	first := g.tags == 0
	g.tags++
	if !first || !g.target.Kernel {
		g.linktype.at += 4
		g.payload.at += 4
		if n.has {
			return and(tag, id)
		}
		return tag
	}
	// The outermost tag is metadata, or it is in the packet and shifts everything after it.
	g.shifts, g.linktype.shifted, g.payload.shifted = true, true, true
	present := equal([]ins{{opLdB, metaVLANPresent}}, 1)
	c := or(present, and(&cond{kind: condStore, value: 4}, tag))
	if n.has {
		inMeta := masked([]ins{{opLdH, metaVLANTag}}, 0xfff, n.number)
		c = and(c, or(and(present, inMeta), and(not(present), id)))
	}
	return c
}

// mpls tests for an MPLS label; what follows it in the text looks after the label.
func (n *encapsulation) mpls(g *gen) *cond {
	var c *cond
	switch {
	case g.labels > 0: // the previous label is not the last one
		c = masked(g.load(g.payload, g.network-4+2, 1), 1, 0)
	case g.link == linkEthernet:
		c = g.isType(n.column, etherMPLS)
	case g.link == linkPPP:
		c = equal(g.load(g.linktype, 0, 2), 0x0281)
	default:
		return g.unsupportedLink(n.column, `"mpls"`)
	}
	if n.has {
		c = and(c, masked(g.at(0, 4), 0xfffff000, n.number<<12))
	}
	g.network += 4
	g.labels++
	return c
}

// pppoes tests for a PPPoE session; what follows it in the text looks inside.
func (n *encapsulation) pppoes(g *gen) *cond {
	c := g.isType(n.column, etherPPPoES)
	if n.has {
		c = and(c, masked(g.at(0, 4), 0xffff, n.number))
	}
	g.link = linkPPP
	g.linkhdr = offset{at: g.payload.at + g.network + 6, shifted: g.payload.shifted}
	g.linktype = g.linkhdr
	g.payload.at = g.linkhdr.at + 2
	g.network = 0
	return c
}
