package filter

import (
	"fmt"

	"dubbo-wire/internal/capture"
)

// gen generates the conditions of nodes, in the order of the text: "vlan", "mpls" and "pppoes" change the offsets of
// everything that follows them.
type gen struct {
	target Target
	column int // of the test, for errors
	err    *Error
	shifts bool // some offsets depend on the packet, by memory shiftAt

	link     linkKind
	header   int    // bytes of a cooked header that the program does not see
	linkhdr  offset // start of the link-layer header
	linktype offset // its type field
	payload  offset // its end
	network  uint32 // from payload to the network layer: MPLS labels
	labels   int
	tags     int
}

// offset is a position in the packet: the same in all packets, or shifted by a VLAN tag.
type offset struct {
	at      uint32
	shifted bool
}

type linkKind int

const (
	linkEthernet linkKind = iota
	linkSLL
	linkSLL2
	linkRaw // IPv4 or IPv6
	linkIPv4
	linkIPv6
	linkPPP // inside PPPoE
)

// shiftAt is the memory cell of the shift. Calculations use the cells above it.
const shiftAt = 0

const memories = 16

// linkLayers are the supported link types: where the type field is, and where the header ends.
var linkLayers = map[capture.LinkType]struct {
	kind              linkKind
	linktype, payload uint32
}{
	capture.LinkEthernet: {linkEthernet, 12, 14}, capture.LinkLinuxSLL: {linkSLL, 14, 16}, capture.LinkLinuxSLL2: {linkSLL2, 0, 20},
	capture.LinkRaw: {kind: linkRaw}, capture.LinkDLTRaw: {kind: linkRaw}, capture.LinkDLTRawOpenBSD: {kind: linkRaw},
	capture.LinkIPv4: {kind: linkIPv4}, capture.LinkIPv6: {kind: linkIPv6},
}

func newGen(t Target) *gen {
	layer, ok := linkLayers[t.Link]
	g := &gen{target: t, link: layer.kind, linktype: offset{at: layer.linktype}, payload: offset{at: layer.payload}}
	if !ok {
		g.fail("link type %s is not supported%s", t.Link, useDDD)
	}
	if t.cooked() {
		g.header = int(g.payload.at)
	}
	return g
}

// fail keeps the first error and returns a condition in its place.
func (g *gen) fail(format string, args ...any) *cond {
	if g.err == nil {
		g.err = &Error{Column: g.column, Text: fmt.Sprintf(format, args...)}
	}
	return constCond(false)
}

func (g *gen) unsupportedLink(what string) *cond {
	return g.fail("%s: not possible with link type %s", what, g.linkName())
}

func (g *gen) linkName() string {
	if g.link == linkPPP {
		return "PPP, inside PPPoE"
	}
	if g.target.cooked() {
		return g.target.Link.String() + " (several interfaces, or one without Ethernet headers); name one Ethernet interface"
	}
	return g.target.Link.String()
}

// load reads size bytes at an offset.
func (g *gen) load(o offset, plus, size uint32) []ins {
	if o.shifted {
		return []ins{{opLdxM, shiftAt}, g.indirect(o.at+plus, size)}
	}
	return []ins{g.absolute(o.at+plus, size)}
}

// absolute loads from an offset that is the same in all packets.
func (g *gen) absolute(at, size uint32) ins {
	switch {
	case g.header > 0 && at >= uint32(g.header):
		at -= uint32(g.header)
	case g.header > 0:
		at = g.cookedField(at, size)
	}
	return ins{[...]uint16{1: opLdB, 2: opLdH, 4: opLdW}[size], at}
}

// cookedField returns the metadata offset of a field of the cooked header.
func (g *gen) cookedField(at, size uint32) uint32 {
	switch field := [2]uint32{at, size}; {
	case g.link == linkSLL && field == [2]uint32{0, 2}, g.link == linkSLL2 && field == [2]uint32{10, 1}:
		return metaPacketType
	case g.link == linkSLL && field == [2]uint32{14, 2}, g.link == linkSLL2 && field == [2]uint32{0, 2}:
		return metaProtocol
	case g.link == linkSLL2 && field == [2]uint32{4, 4}:
		return metaIfindex
	}
	g.fail("the kernel does not show this byte of the cooked header to a filter")
	return 0
}

// indirect loads from X plus an offset.
func (g *gen) indirect(at, size uint32) ins {
	if g.header > 0 {
		at -= uint32(g.header)
	}
	return ins{[...]uint16{1: opLdBX, 2: opLdHX, 4: opLdWX}[size], at}
}

func compare(code []ins, jump uint16, k uint32) *cond {
	return &cond{test: &test{code: code, jump: jump, k: k}}
}

func equal(code []ins, k uint32) *cond { return compare(code, opJEq, k) }

// masked compares the bits of a mask. An empty mask needs no packet.
func masked(code []ins, mask, k uint32) *cond {
	switch mask {
	case 0:
		return constCond(k == 0)
	case ^uint32(0):
		return equal(code, k)
	}
	return equal(append(code[:len(code):len(code)], ins{opAnd, mask}), k)
}

// at loads from the network-layer header.
func (g *gen) at(plus, size uint32) []ins { return g.load(g.payload, g.network+plus, size) }

// headerLength loads the length of the IPv4 header into X, plus the shift if there is one.
func (g *gen) headerLength() []ins {
	at := g.payload.at + g.network
	if g.payload.shifted {
		return []ins{{opLdxM, shiftAt}, g.indirect(at, 1), {opAnd, 15}, {opLsh, 2}, {opAdd | opX, 0}, {opTax, 0}}
	}
	return []ins{{opLdx4, at - uint32(g.header)}}
}

// transport4 loads from the header after the IPv4 header.
func (g *gen) transport4(plus, size uint32) []ins {
	return append(g.headerLength(), g.indirect(g.payload.at+g.network+plus, size))
}

// isType tests whether the link layer carries an Ethernet type or, up to 1500, a service access point of IEEE 802.2.
func (g *gen) isType(t uint32) *cond {
	version, isIP := ipVersions[t]
	if g.labels > 0 {
		if !isIP {
			return g.fail("inside MPLS only IPv4 and IPv6 can be told apart%s", useDDD)
		}
		minus2 := g.network - 2
		return and(masked(g.load(g.payload, minus2, 1), 1, 1), masked(g.at(0, 1), 0xf0, version))
	}
	kind := g.load(g.linktype, 0, 2)
	switch g.link {
	case linkEthernet, linkSLL:
		return g.etherType(kind, t)
	case linkPPP:
		if n, ok := pppTypes[t]; ok {
			t = n
		}
		return equal(kind, t)
	case linkRaw:
		if !isIP {
			return constCond(false)
		}
		return masked(g.load(g.linkhdr, 0, 1), 0xf0, version)
	case linkIPv4:
		return constCond(t == etherIPv4)
	case linkIPv6:
		return constCond(t == etherIPv6)
	}
	return equal(kind, t)
}

// ipVersions are the upper halves of the first bytes of IP packets.
var ipVersions = map[uint32]uint32{etherIPv4: 0x40, etherIPv6: 0x60}

// pppTypes are the PPP numbers of Ethernet types.
var pppTypes = map[uint32]uint32{
	etherIPv4: 0x0021, etherIPv6: 0x0057, etherDECnet: 0x0027, etherApple: 0x0029, etherXNS: 0x0025,
	sapISO: 0x0023, sapBridge: 0x0031, sapIPX: 0x002b,
}

// etherType tests for an Ethernet type or an access point. On Ethernet a length instead of a type announces an IEEE
// 802.2 header. For cooked packets the type 4 does, and 1 is a raw IEEE 802.3 frame.
func (g *gen) etherType(kind []ins, t uint32) *cond {
	is8022 := equal(kind, 4)
	if g.link == linkEthernet {
		is8022 = not(compare(kind, opJGt, etherLengths))
	}
	sap := func(t uint32) *cond { return equal(g.load(g.payload, 0, 1), t) }
	switch {
	case t == sapISO, t == sapIP, t == sapNetBEUI:
		return and(is8022, equal(g.load(g.payload, 0, 2), t<<8|t))
	case t == sapIPX && g.link == linkEthernet: // its own type, SNAP, its access point, or nothing but the checksum 0xffff
		return or(equal(kind, etherIPX), and(is8022, or(g.snap(0, etherIPX), sap(t), equal(g.load(g.payload, 0, 2), 0xffff))))
	case t == sapIPX:
		return or(equal(kind, etherIPX), equal(kind, 1), and(is8022, or(sap(t), g.snap(0, etherIPX))))
	case t == etherApple:
		return or(equal(kind, t), and(is8022, g.snap(0x080007, t)))
	case t == etherAppleARP:
		return or(equal(kind, t), and(is8022, g.snap(0, t)))
	case t <= etherLengths:
		return and(is8022, sap(t))
	}
	return equal(kind, t)
}

// snap tests for an IEEE 802.2 header with SNAP, an organization and its type.
func (g *gen) snap(organization, kind uint32) *cond {
	return and(equal(g.load(g.payload, 4, 4), (organization&0xffff)<<16|kind),
		equal(g.load(g.payload, 0, 4), sapSNAP<<24|sapSNAP<<16|0x0300|organization>>16))
}
