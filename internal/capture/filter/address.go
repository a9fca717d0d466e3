package filter

import (
	"fmt"
	"strconv"
	"strings"
)

// What may stand behind which qualifiers is checked here, so that an expression is
// known to be right before there is an interface.

// number is a bare number: a port, a protocol, a short network.
func (p *parser) number(v value, q qualifiers) (value, error) {
	n, col := v.tok.number, v.tok.column
	out := value{kind: isAddress, q: q}
	switch q.addr {
	case addrNone:
		return out, &Error{Column: col, Text: fmt.Sprintf("what about %d? write \"port %[1]d\", for example", n)}
	case addrPort, addrRange:
		if n > 65535 {
			return out, &Error{Column: col, Text: fmt.Sprintf("there is no port %d", n)}
		}
		node, err := p.ports(col, n, n, q)
		out.node = node
		return out, err
	case addrProto:
		node, err := p.protoNumber(col, n, q)
		out.node = node
		return out, err
	case addrNet:
		mask := ^uint32(0)
		for n != 0 && n&0xff000000 == 0 {
			n <<= 8
			mask <<= 8
		}
		node, err := p.host4(col, n, mask, q)
		out.node = node
		return out, err
	}
	node, err := p.host4(col, n, ^uint32(0), q)
	out.node = node
	return out, err
}

func (p *parser) host4(column int, addr, mask uint32, q qualifiers) (node, error) {
	switch q.proto {
	case protoNone, protoIP, protoARP, protoRARP:
		return &host{column: column, addr: addr, mask: mask, proto: q.proto, dir: q.dir}, nil
	case protoIP6:
		return nil, &Error{Column: column, Text: `this is an IPv4 address; write "ip" for "ip6"`}
	case protoLink:
		return nil, &Error{Column: column, Text: "expected an Ethernet address, as in 00:11:22:33:44:55"}
	case protoDECnet:
		return nil, unsupported(column, "a DECnet address")
	}
	return nil, &Error{Column: column, Text: fmt.Sprintf("%s has no hosts and networks; write \"%[1]s and host …\"", q.proto)}
}

func (p *parser) ipv4(t token, q qualifiers) (value, error) {
	out := value{kind: isAddress, q: q}
	fail := func(text string, args ...any) (value, error) {
		return out, &Error{Column: t.column, Text: fmt.Sprintf(text, args...)}
	}
	addr, bits, ok := parseIPv4(t.text)
	if !ok {
		return fail("%s is no IPv4 address", t.text)
	}
	mask := ^uint32(0) << (32 - bits)
	masked := false
	if _, ok := p.accept("/"); ok {
		n := p.next()
		if n.kind != tokenNumber || n.number > 32 {
			return fail("the mask of %s is no number from 0 to 32", t.text)
		}
		mask, masked = uint32(uint64(0xffffffff)<<(32-n.number)), true
	} else if _, ok := p.accept("mask"); ok {
		m := p.next()
		if m.kind != tokenIPv4 {
			return fail("the mask of %s is no mask like 255.255.0.0", t.text)
		}
		if mask, _, ok = parseIPv4(m.text); !ok {
			return fail("the mask of %s is no mask like 255.255.0.0", t.text)
		}
		masked = true
	}
	if masked && q.addr != addrNet {
		return fail(`a mask belongs to a network; write "net %s…"`, t.text)
	}
	if masked && addr&^mask != 0 {
		return fail("%s has bits that its mask does not have", t.text)
	}
	switch q.addr {
	case addrNone:
		return fail(`what about %s? write "host %[1]s" or "net %[1]s"`, t.text)
	case addrPort, addrRange, addrProto:
		return fail("expected a number, not the address %s", t.text)
	}
	node, err := p.host4(t.column, addr, mask, q)
	out.node = node
	return out, err
}

func (p *parser) ipv6(t token, q qualifiers) (value, error) {
	out := value{kind: isAddress, q: q}
	fail := func(text string, args ...any) (value, error) {
		return out, &Error{Column: t.column, Text: fmt.Sprintf(text, args...)}
	}
	bits := uint32(128)
	if _, ok := p.accept("/"); ok {
		n := p.next()
		if n.kind != tokenNumber || n.number > 128 {
			return fail("the mask of %s is no number from 0 to 128", t.text)
		}
		bits = n.number
	}
	h := &host6{column: t.column, dir: q.dir}
	a := t.addr.As16()
	for i := range h.addr {
		h.addr[i] = uint32(a[4*i])<<24 | uint32(a[4*i+1])<<16 | uint32(a[4*i+2])<<8 | uint32(a[4*i+3])
		n := min(32, max(0, int(bits)-32*i))
		h.mask[i] = uint32(uint64(0xffffffff) << (32 - n))
		if h.addr[i]&^h.mask[i] != 0 {
			return fail("%s has bits that its mask does not have", t.text)
		}
	}
	switch q.addr {
	case addrNone:
		return fail(`what about %s? write "host %[1]s"`, t.text)
	case addrPort, addrRange, addrProto:
		return fail("expected a number, not the address %s", t.text)
	case addrDefault, addrHost:
		if bits != 128 {
			return fail(`a mask belongs to a network; write "net %s/%d"`, t.text, bits)
		}
	}
	if q.proto != protoNone && q.proto != protoIP6 {
		return fail(`%s has no IPv6 addresses; write "ip6" or nothing before it`, q.proto)
	}
	out.node = h
	return out, nil
}

func (p *parser) mac(t token, q qualifiers) (value, error) {
	out := value{kind: isAddress, q: q}
	if q.proto != protoLink || q.addr != addrHost && q.addr != addrDefault {
		return out, &Error{Column: t.column, Text: fmt.Sprintf("%s is an Ethernet address; write \"ether host %[1]s\"", t.text)}
	}
	out.node = &etherHost{column: t.column, mac: t.mac, dir: q.dir}
	return out, nil
}

// name is a word that libpcap would look up. Only names that are the same on every
// machine are known.
func (p *parser) name(t token, q qualifiers) (value, error) {
	out := value{kind: isAddress, q: q}
	fail := func(text string, args ...any) (value, error) {
		return out, &Error{Column: t.column, Text: fmt.Sprintf(text, args...)}
	}
	switch q.addr {
	case addrRange:
		lo, hi, ok := strings.Cut(t.text, "-")
		if from, okFrom := portNumber(lo); ok && okFrom {
			if to, okTo := portNumber(hi); okTo {
				node, err := p.ports(t.column, min(from, to), max(from, to), q)
				out.node = node
				return out, err
			}
		}
		return fail("%q is no range of ports; write two numbers up to 65535, as in 20880-20890", t.text)
	case addrPort:
		if strings.Contains(t.text, "-") {
			return fail(`%q is no port; a range is written "portrange FROM-TO"`, t.text)
		}
		return fail("names of ports are not resolved; write the number of %q", t.text)
	case addrProto:
		names := ipProtoNames
		if q.proto == protoLink {
			names = etherNames
		}
		if n, ok := names[t.text]; ok && (q.proto == protoLink || q.proto == protoNone || q.proto == protoIP || q.proto == protoIP6) {
			node, err := p.protoNumber(t.column, n, q)
			out.node = node
			return out, err
		}
		return fail("the protocol %q is not known by name; write its number", t.text)
	case addrNone:
		return fail("%q is no word of the filter language", t.text)
	}
	return fail("names of hosts and networks are not resolved; write the address of %q", t.text)
}

func portNumber(s string) (uint32, bool) {
	if !digits(s) || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	v, err := strconv.ParseUint(s, 10, 16)
	return uint32(v), err == nil
}

func (p *parser) ports(column int, lo, hi uint32, q qualifiers) (node, error) {
	n := &port{column: column, lo: lo, hi: hi, dir: q.dir, ranged: q.addr == addrRange}
	switch q.proto {
	case protoNone:
	case protoTCP:
		n.proto = ipTCP
	case protoUDP:
		n.proto = ipUDP
	case protoSCTP:
		n.proto = ipSCTP
	default:
		return nil, &Error{Column: column, Text: fmt.Sprintf("%s has no ports; tcp, udp and sctp have", q.proto)}
	}
	return n, nil
}

func (p *parser) protoNumber(column int, n uint32, q qualifiers) (node, error) {
	switch q.proto {
	case protoNone, protoIP, protoIP6, protoLink:
		return &protoNumber{column: column, proto: q.proto, number: n}, nil
	}
	return nil, &Error{Column: column, Text: fmt.Sprintf(`"%s proto" means nothing; "ip", "ip6" and "ether" go before "proto"`, q.proto)}
}

// String is the word.
func (pr proto) String() string {
	if pr == protoLink {
		return "ether" // of several that mean the same
	}
	for w, have := range protos {
		if have == pr {
			return w
		}
	}
	return ""
}
