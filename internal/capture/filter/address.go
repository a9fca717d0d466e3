package filter

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// The combinations of qualifiers and addresses are checked here, so an expression is known to be valid before there is
// an interface.

// bareNumber makes an address of a number without qualifiers of its own.
func (p *parser) bareNumber(v value, q qualifiers) value {
	return value{kind: isAddress, q: q, node: p.number(v.tok, q)}
}

// number handles a bare number: a port, a protocol, a short network.
func (p *parser) number(t token, q qualifiers) node {
	n := t.number
	switch q.addr {
	case addrNone:
		return p.failAt(t, "what about %d? write \"port %[1]d\", for example", n)
	case addrPort, addrRange:
		if n > 65535 {
			return p.failAt(t, "there is no port %d", n)
		}
		return p.ports(t, n, n, q)
	case addrProto:
		return p.protoNumber(t, n, q)
	case addrNet:
		mask := ^uint32(0)
		for n != 0 && n&0xff000000 == 0 {
			n <<= 8
			mask <<= 8
		}
		return p.host4(t, n, mask, q)
	}
	return p.host4(t, n, ^uint32(0), q)
}

func (p *parser) host4(t token, addr, mask uint32, q qualifiers) node {
	switch q.proto {
	case protoNone, protoIP, protoARP, protoRARP:
		return leaf(t, func(g *gen) *cond { return g.host(q, addr, mask) })
	case protoIP6:
		return p.failAt(t, `this is an IPv4 address; write "ip" for "ip6"`)
	case protoLink:
		return p.failAt(t, "expected an Ethernet address, as in 00:11:22:33:44:55")
	case protoDECnet:
		return p.failAt(t, "a DECnet address is not supported%s", useDDD)
	}
	return p.failAt(t, "%s has no hosts and networks; write \"%[1]s and host …\"", q.proto)
}

func (p *parser) ipv4(t token, q qualifiers) node {
	addr, bits, ok := parseIPv4(t.text)
	if !ok {
		return p.failAt(t, "%s is not an IPv4 address", t.text)
	}
	mask := ^uint32(0) << (32 - bits)
	masked := false
	if p.accept("/") != "" {
		n := p.next()
		if n.kind != tokenNumber || n.number > 32 {
			return p.failAt(t, "the mask of %s is not a number from 0 to 32", t.text)
		}
		mask, masked = uint32(uint64(0xffffffff)<<(32-n.number)), true
	} else if p.accept("mask") != "" {
		m := p.next()
		if m.kind == tokenIPv4 {
			mask, _, masked = parseIPv4(m.text)
		}
		if !masked {
			return p.failAt(t, "the mask of %s is not a mask like 255.255.0.0", t.text)
		}
	}
	if masked && q.addr != addrNet {
		return p.failAt(t, `a mask belongs to a network; write "net %s…"`, t.text)
	}
	if masked && addr&^mask != 0 {
		return p.failAt(t, "%s has bits that its mask does not have", t.text)
	}
	switch q.addr {
	case addrNone:
		return p.failAt(t, `what about %s? write "host %[1]s" or "net %[1]s"`, t.text)
	case addrPort, addrRange, addrProto:
		return p.failAt(t, "expected a number, not the address %s", t.text)
	}
	return p.host4(t, addr, mask, q)
}

func (p *parser) ipv6(t token, q qualifiers) node {
	bits := uint32(128)
	if p.accept("/") != "" {
		n := p.next()
		if n.kind != tokenNumber || n.number > 128 {
			return p.failAt(t, "the mask of %s is not a number from 0 to 128", t.text)
		}
		bits = n.number
	}
	var addr, mask [4]uint32
	a := t.addr.As16()
	for i := range addr {
		addr[i] = binary.BigEndian.Uint32(a[4*i:])
		n := min(32, max(0, int(bits)-32*i))
		mask[i] = uint32(uint64(0xffffffff) << (32 - n))
		if addr[i]&^mask[i] != 0 {
			return p.failAt(t, "%s has bits that its mask does not have", t.text)
		}
	}
	switch q.addr {
	case addrNone:
		return p.failAt(t, `what about %s? write "host %[1]s"`, t.text)
	case addrPort, addrRange, addrProto:
		return p.failAt(t, "expected a number, not the address %s", t.text)
	case addrDefault, addrHost:
		if bits != 128 {
			return p.failAt(t, `a mask belongs to a network; write "net %s/%d"`, t.text, bits)
		}
	}
	if q.proto != protoNone && q.proto != protoIP6 {
		return p.failAt(t, `%s has no IPv6 addresses; write "ip6" or nothing before it`, q.proto)
	}
	return leaf(t, func(g *gen) *cond { return g.host6(q.dir, addr, mask) })
}

func (p *parser) mac(t token, q qualifiers) node {
	if q.proto != protoLink || q.addr != addrHost && q.addr != addrDefault {
		return p.failAt(t, "%s is an Ethernet address; write \"ether host %[1]s\"", t.text)
	}
	return leaf(t, func(g *gen) *cond { return g.etherHost(q.dir, t.mac) })
}

// name handles a word that libpcap would look up. Only names that are the same on every machine are supported.
func (p *parser) name(t token, q qualifiers) node {
	switch q.addr {
	case addrRange:
		lo, hi, ok := strings.Cut(t.text, "-")
		if from, okFrom := portNumber(lo); ok && okFrom {
			if to, okTo := portNumber(hi); okTo {
				return p.ports(t, min(from, to), max(from, to), q)
			}
		}
		return p.failAt(t, "%q is not a range of ports; write two numbers up to 65535, as in 20880-20890", t.text)
	case addrPort:
		if strings.Contains(t.text, "-") {
			return p.failAt(t, `%q is not a port; a range is written "portrange FROM-TO"`, t.text)
		}
		return p.failAt(t, "names of ports are not resolved; write the number of %q", t.text)
	case addrProto:
		number := ipProtoNames[t.text]
		if q.proto == protoLink {
			number = linkTypes[proto(t.text)]
		}
		if number != 0 && (q.proto == protoLink || q.proto == protoNone || q.proto == protoIP || q.proto == protoIP6) {
			return p.protoNumber(t, number, q)
		}
		return p.failAt(t, "the protocol %q is not known by name; write its number", t.text)
	case addrNone:
		return p.failAt(t, "%q is not a word of the filter language", t.text)
	}
	return p.failAt(t, "names of hosts and networks are not resolved; write the address of %q", t.text)
}

func portNumber(s string) (uint32, bool) {
	if !digits(s) || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	v, err := strconv.ParseUint(s, 10, 16)
	return uint32(v), err == nil
}

func (p *parser) ports(t token, lo, hi uint32, q qualifiers) node {
	switch q.proto {
	case protoNone, protoTCP, protoUDP, protoSCTP:
		return leaf(t, func(g *gen) *cond { return g.ports(q, lo, hi) })
	}
	return p.failAt(t, "%s has no ports; tcp, udp and sctp have", q.proto)
}

func (p *parser) protoNumber(t token, n uint32, q qualifiers) node {
	switch q.proto {
	case protoNone, protoIP, protoIP6, protoLink:
		return leaf(t, func(g *gen) *cond { return g.isProto(q.proto, n) })
	}
	return p.failAt(t, `"%s proto" means nothing; "ip", "ip6" and "ether" go before "proto"`, q.proto)
}
