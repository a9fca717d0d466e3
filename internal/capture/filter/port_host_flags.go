package filter

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"dubbo-wire/internal/capture/packet"
)

// Ports returns the filter for the flag --port. It accepts everything that may carry TCP with one of the ports, and
// rejects only what certainly does not: TCP with other ports, UDP and ICMP over plain IP, ARP. It accepts fragments,
// tunnels, labels, headers between IP and TCP, and everything that it does not understand, because the packet decoder
// looks inside. Without ports it accepts everything.
func Ports(ports []uint16) *Expr {
	if len(ports) == 0 {
		return &Expr{}
	}
	return &Expr{root: (&mayCarry{ports: ranges(ports)}).test}
}

// Limits that keep a program far below the kernel's limit. More ports are joined where they are closest; with more
// hosts, addresses reject no packet.
const (
	maxPortRanges = 40
	maxHosts      = 40
)

// span is the ports from lo to hi.
type span struct{ lo, hi uint16 }

// ranges returns spans that cover the ports, and no others unless there are too many.
func ranges(ports []uint16) []span {
	sorted := slices.Compact(slices.Sorted(slices.Values(ports)))
	var out []span
	for _, p := range sorted {
		if n := len(out); n > 0 && out[n-1].hi+1 == p {
			out[n-1].hi = p
		} else {
			out = append(out, span{p, p})
		}
	}
	if len(out) <= maxPortRanges {
		return out
	}
	var gaps []int
	for i := 1; i < len(out); i++ {
		gaps = append(gaps, int(out[i].lo-out[i-1].hi))
	}
	slices.Sort(gaps)
	widest := gaps[len(gaps)-maxPortRanges+1:] // these stay
	joined := out[:1:1]
	for _, s := range out[1:] {
		last := &joined[len(joined)-1]
		if int(s.lo-last.hi) >= widest[0] && len(joined) < maxPortRanges {
			joined = append(joined, s)
		} else {
			last.hi = s.hi
		}
	}
	return joined
}

// Hosts returns the filter for the flag --host; see [Ports].
func Hosts(hosts []netip.Addr) *Expr {
	if len(hosts) == 0 {
		return &Expr{}
	}
	n := &mayCarry{}
	for _, h := range hosts {
		n.hosts = append(n.hosts, h.Unmap().WithZone(""))
	}
	return &Expr{root: n.test}
}

// mayCarry has either ports or hosts.
type mayCarry struct {
	ports []span
	hosts []netip.Addr
}

// maxInnerTags is how many VLAN tags inside the packet are skipped; a packet with more is accepted.
const maxInnerTags = 2

func (n *mayCarry) test(g *gen) *cond {
	switch g.link {
	case linkIPv4:
		return n.ipv4(g, 0)
	case linkIPv6:
		return n.ipv6(g, 0)
	case linkRaw:
		first := g.load(offset{}, 0, 1)
		return choose(masked(first, 0xf0, 0x40), n.ipv4(g, 0),
			choose(masked(first, 0xf0, 0x60), n.ipv6(g, 0), constCond(true)))
	}
	return n.network(g, g.linktype.at, g.payload.at, maxInnerTags)
}

func choose(c, yes, no *cond) *cond { return &cond{kind: condIf, l: c, r: yes, no: no} }

// network decides by the type field at kind about the packet that starts at at.
func (n *mayCarry) network(g *gen, kind, at uint32, tags int) *cond {
	t := g.load(offset{at: kind}, 0, 2)
	behindTag := constCond(true)
	if tags > 0 {
		behindTag = n.network(g, at+2, at+4, tags-1)
	}
	const lldp = 0x88cc
	return choose(equal(t, etherIPv4), n.ipv4(g, at),
		choose(equal(t, etherIPv6), n.ipv6(g, at),
			choose(or(equal(t, etherVLAN), equal(t, etherQinQ), equal(t, etherOldQinQ)), behindTag,
				not(or(equal(t, etherARP), equal(t, etherRARP), equal(t, lldp))))))
}

func (n *mayCarry) ipv4(g *gen, at uint32) *cond {
	load := func(plus, size uint32) []ins { return g.load(offset{at: at}, plus, size) }
	behind := func(plus uint32) []ins {
		return []ins{{opLdx4, at - uint32(g.header)}, g.indirect(at+plus, 2)}
	}
	fragment := compare(load(6, 2), opJSet, 0x3fff) // more follow, or not the first
	tcp := or(fragment, n.hasPort(behind(0)), n.hasPort(behind(2)))
	if n.hosts != nil {
		tcp = or(n.hasHost(false, load, 12), n.hasHost(false, load, 16))
	}
	proto := load(9, 1)
	return or(not(masked(load(0, 1), 0xf0, 0x40)),
		choose(equal(proto, ipTCP), tcp,
			choose(equal(proto, ipUDP), or(fragment, isTunnel(behind(2))),
				not(or(equal(proto, ipICMP), equal(proto, ipIGMP))))))
}

func (n *mayCarry) ipv6(g *gen, at uint32) *cond {
	load := func(plus, size uint32) []ins { return g.load(offset{at: at}, plus, size) }
	tcp := or(n.hasPort(load(40, 2)), n.hasPort(load(42, 2)))
	if n.hosts != nil {
		tcp = or(n.hasHost(true, load, 8), n.hasHost(true, load, 24))
	}
	proto := load(6, 1)
	return or(not(masked(load(0, 1), 0xf0, 0x60)),
		choose(equal(proto, ipTCP), tcp,
			choose(equal(proto, ipUDP), isTunnel(load(42, 2)), not(equal(proto, ipICMP6)))))
}

func (n *mayCarry) hasPort(code []ins) *cond {
	all := []*cond{constCond(false)}
	for _, p := range n.ports {
		if p.lo == p.hi {
			all = append(all, equal(code, uint32(p.lo)))
		} else {
			all = append(all, between(code, uint32(p.lo), uint32(p.hi)))
		}
	}
	return or(all...)
}

func isTunnel(code []ins) *cond {
	var all []*cond
	for _, p := range packet.TunnelPorts {
		all = append(all, equal(code, uint32(p)))
	}
	return or(all...)
}

func (n *mayCarry) hasHost(six bool, load func(plus, size uint32) []ins, at uint32) *cond {
	all := []*cond{constCond(len(n.hosts) > maxHosts)}
	for _, h := range n.hosts[:min(len(n.hosts), maxHosts)] {
		if h.Is4() == six {
			continue
		}
		var words []*cond
		b := h.AsSlice()
		for i := 0; i < len(b); i += 4 {
			words = append(words, equal(load(at+uint32(i), 4), binary.BigEndian.Uint32(b[i:])))
		}
		all = append(all, and(words...))
	}
	return or(all...)
}
