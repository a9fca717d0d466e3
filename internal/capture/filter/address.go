package filter

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// The combinations of qualifiers and addresses are checked here, so an expression is known to be valid before there is
// an interface.

// bareNumber makes an address of a number without qualifiers of its own.
func (p *parser) bareNumber(v value, q qualifiers) (value, error) {
	n, err := p.number(v.tok, q)
	return value{kind: isAddress, q: q, node: n}, err
}

// number handles a bare number: a port, a protocol, a short network.
func (p *parser) number(t token, q qualifiers) (node, error) {
	n := t.number
	switch q.addr {
	case addrNone:
		return nil, errorAt(t, "what about %d? write \"port %[1]d\", for example", n)
	case addrPort, addrRange:
		if n > 65535 {
			return nil, errorAt(t, "there is no port %d", n)
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

func (p *parser) host4(t token, addr, mask uint32, q qualifiers) (node, error) {
	switch q.proto {
	case protoNone, protoIP, protoARP, protoRARP:
		return &host{column: t.column, addr: addr, mask: mask, proto: q.proto, dir: q.dir}, nil
	case protoIP6:
		return nil, errorAt(t, `this is an IPv4 address; write "ip" for "ip6"`)
	case protoLink:
		return nil, errorAt(t, "expected an Ethernet address, as in 00:11:22:33:44:55")
	case protoDECnet:
		return nil, unsupported(t.column, "a DECnet address")
	}
	return nil, errorAt(t, "%s has no hosts and networks; write \"%[1]s and host …\"", q.proto)
}

func (p *parser) ipv4(t token, q qualifiers) (node, error) {
	addr, bits, ok := parseIPv4(t.text)
	if !ok {
		return nil, errorAt(t, "%s is not an IPv4 address", t.text)
	}
	mask := ^uint32(0) << (32 - bits)
	masked := false
	if _, ok := p.accept("/"); ok {
		n := p.next()
		if n.kind != tokenNumber || n.number > 32 {
			return nil, errorAt(t, "the mask of %s is not a number from 0 to 32", t.text)
		}
		mask, masked = uint32(uint64(0xffffffff)<<(32-n.number)), true
	} else if _, ok := p.accept("mask"); ok {
		m := p.next()
		if mask, _, masked = parseIPv4(m.text); !masked || m.kind != tokenIPv4 {
			return nil, errorAt(t, "the mask of %s is not a mask like 255.255.0.0", t.text)
		}
	}
	if masked && q.addr != addrNet {
		return nil, errorAt(t, `a mask belongs to a network; write "net %s…"`, t.text)
	}
	if masked && addr&^mask != 0 {
		return nil, errorAt(t, "%s has bits that its mask does not have", t.text)
	}
	switch q.addr {
	case addrNone:
		return nil, errorAt(t, `what about %s? write "host %[1]s" or "net %[1]s"`, t.text)
	case addrPort, addrRange, addrProto:
		return nil, errorAt(t, "expected a number, not the address %s", t.text)
	}
	return p.host4(t, addr, mask, q)
}

func (p *parser) ipv6(t token, q qualifiers) (node, error) {
	bits := uint32(128)
	if _, ok := p.accept("/"); ok {
		n := p.next()
		if n.kind != tokenNumber || n.number > 128 {
			return nil, errorAt(t, "the mask of %s is not a number from 0 to 128", t.text)
		}
		bits = n.number
	}
	h := &host6{column: t.column, dir: q.dir}
	a := t.addr.As16()
	for i := range h.addr {
		h.addr[i] = binary.BigEndian.Uint32(a[4*i:])
		n := min(32, max(0, int(bits)-32*i))
		h.mask[i] = uint32(uint64(0xffffffff) << (32 - n))
		if h.addr[i]&^h.mask[i] != 0 {
			return nil, errorAt(t, "%s has bits that its mask does not have", t.text)
		}
	}
	switch q.addr {
	case addrNone:
		return nil, errorAt(t, `what about %s? write "host %[1]s"`, t.text)
	case addrPort, addrRange, addrProto:
		return nil, errorAt(t, "expected a number, not the address %s", t.text)
	case addrDefault, addrHost:
		if bits != 128 {
			return nil, errorAt(t, `a mask belongs to a network; write "net %s/%d"`, t.text, bits)
		}
	}
	if q.proto != protoNone && q.proto != protoIP6 {
		return nil, errorAt(t, `%s has no IPv6 addresses; write "ip6" or nothing before it`, q.proto)
	}
	return h, nil
}

func (p *parser) mac(t token, q qualifiers) (node, error) {
	if q.proto != protoLink || q.addr != addrHost && q.addr != addrDefault {
		return nil, errorAt(t, "%s is an Ethernet address; write \"ether host %[1]s\"", t.text)
	}
	return &etherHost{column: t.column, mac: t.mac, dir: q.dir}, nil
}

// name handles a word that libpcap would look up. Only names that are the same on every machine are supported.
func (p *parser) name(t token, q qualifiers) (node, error) {
	switch q.addr {
	case addrRange:
		lo, hi, ok := strings.Cut(t.text, "-")
		if from, okFrom := portNumber(lo); ok && okFrom {
			if to, okTo := portNumber(hi); okTo {
				return p.ports(t, min(from, to), max(from, to), q)
			}
		}
		return nil, errorAt(t, "%q is not a range of ports; write two numbers up to 65535, as in 20880-20890", t.text)
	case addrPort:
		if strings.Contains(t.text, "-") {
			return nil, errorAt(t, `%q is not a port; a range is written "portrange FROM-TO"`, t.text)
		}
		return nil, errorAt(t, "names of ports are not resolved; write the number of %q", t.text)
	case addrProto:
		names := ipProtoNames
		if q.proto == protoLink {
			names = etherNames
		}
		if n, ok := names[t.text]; ok && (q.proto == protoLink || q.proto == protoNone || q.proto == protoIP || q.proto == protoIP6) {
			return p.protoNumber(t, n, q)
		}
		return nil, errorAt(t, "the protocol %q is not known by name; write its number", t.text)
	case addrNone:
		return nil, errorAt(t, "%q is not a word of the filter language", t.text)
	}
	return nil, errorAt(t, "names of hosts and networks are not resolved; write the address of %q", t.text)
}

func portNumber(s string) (uint32, bool) {
	if !digits(s) || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	v, err := strconv.ParseUint(s, 10, 16)
	return uint32(v), err == nil
}

func (p *parser) ports(t token, lo, hi uint32, q qualifiers) (node, error) {
	n := &port{column: t.column, lo: lo, hi: hi, dir: q.dir, ranged: q.addr == addrRange}
	switch q.proto {
	case protoNone:
	case protoTCP, protoUDP, protoSCTP:
		n.proto = ipProtos[q.proto].number
	default:
		return nil, errorAt(t, "%s has no ports; tcp, udp and sctp have", q.proto)
	}
	return n, nil
}

func (p *parser) protoNumber(t token, n uint32, q qualifiers) (node, error) {
	switch q.proto {
	case protoNone, protoIP, protoIP6, protoLink:
		return &protoNumber{column: t.column, proto: q.proto, number: n}, nil
	}
	return nil, errorAt(t, `"%s proto" means nothing; "ip", "ip6" and "ether" go before "proto"`, q.proto)
}

// String returns the keyword.
func (pr proto) String() string {
	if pr == protoLink {
		return "ether" // the first of several synonyms
	}
	for w, have := range protos {
		if have == pr {
			return w
		}
	}
	return ""
}
