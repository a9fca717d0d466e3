package filter

import "strconv"

// term parses a test that starts with a keyword.
func (p *parser) term() (value, error) {
	t := p.peek()
	if t.kind != tokenProto && t.kind != tokenWord {
		if t.kind == tokenIPv4 || t.kind == tokenIPv6 {
			return value{}, errorAt(t, `what about %s? write "host %[1]s" or "net %[1]s"`, t.text)
		}
		return value{}, p.unexpected("an expression")
	}
	p.next()
	q := qualifiers{}
	w := t
	if t.kind == tokenProto {
		q.proto = t.proto
		w = p.peek()
		if _, ok := p.accept("src", "dst", "host", "net", "port", "portrange", "proto", "broadcast", "multicast"); !ok {
			if t.proto == protoLink {
				return value{}, p.unexpected(`"host", "src", "dst", "proto", "broadcast" or "multicast" after "` + t.text + `"`)
			}
			return value{node: &protocol{column: t.column, proto: t.proto}}, nil
		}
	}
	switch w.text {
	case "src", "dst":
		return p.directed(w, q)
	case "host", "net", "port", "portrange", "proto":
		q.addr = addressKinds[w.text]
		return p.addressed(q)
	case "broadcast":
		return value{node: &broadcast{t.column, q.proto}}, nil
	case "multicast":
		return value{node: &multicast{t.column, q.proto}}, nil
	case "inbound", "outbound":
		return value{node: &inbound{column: t.column, out: w.text == "outbound"}}, nil
	case "less", "greater", "ifindex":
		n, err := p.plainNumber()
		if err != nil {
			return value{}, err
		}
		if w.text == "ifindex" {
			return value{node: &ifindex{column: t.column, index: n.number}}, nil
		}
		op := map[string]string{"less": "<=", "greater": ">="}[w.text]
		return value{node: &relation{column: t.column, op: op, l: packetLen{}, r: constant(n.number)}}, nil
	case "byte":
		return p.byteTest(t)
	case "vlan", "mpls", "pppoes":
		return p.layer(t)
	case "pppoed":
		return value{node: &protoNumber{column: t.column, proto: protoLink, number: etherPPPoED}}, nil
	}
	p.at--
	return value{}, p.unexpected("an expression")
}

// addressed parses the addresses after their qualifiers.
func (p *parser) addressed(q qualifiers) (value, error) {
	v, err := p.address(q)
	v.kind, v.q = isTest, q
	return v, err
}

var addressKinds = map[string]kindOf{"host": addrHost, "net": addrNet, "port": addrPort, "portrange": addrRange, "proto": addrProto}

// directed parses "src", "dst", "src or dst", "src and dst", and what follows.
func (p *parser) directed(w token, q qualifiers) (value, error) {
	q.dir, q.addr = dirSrc, addrDefault
	other := "dst"
	if w.text == "dst" {
		q.dir, other = dirDst, "src"
	}
	if op, ok := p.accept("&&", "||"); ok {
		if _, ok := p.accept(other); !ok {
			return value{}, p.unexpected(strconv.Quote(other))
		}
		q.dir = dirOr
		if op == "&&" {
			q.dir = dirAnd
		}
	}
	if k, ok := p.accept("host", "net", "port", "portrange"); ok {
		q.addr = addressKinds[k]
	}
	return p.addressed(q)
}

// layer parses "vlan", "mpls" and "pppoes", with or without a number.
func (p *parser) layer(t token) (value, error) {
	depth := 0
	for p.tokens[p.at+depth].kind == tokenWord && p.tokens[p.at+depth].text == "(" {
		depth++
	}
	n := &encapsulation{column: t.column, kind: t.text}
	if num := p.tokens[p.at+depth]; num.kind == tokenNumber {
		p.at += depth + 1
		for range depth {
			if _, ok := p.accept(")"); !ok {
				return value{}, p.unexpected(`")"`)
			}
		}
		n.number, n.has = num.number, true
		limit := map[string]uint32{"vlan": 0xfff, "mpls": 0xfffff, "pppoes": 0xffff}[t.text]
		if n.number > limit {
			return value{}, errorAt(num, "%s has no number above %d", t.text, limit)
		}
	}
	return value{node: n}, nil
}

func (p *parser) plainNumber() (token, error) {
	if p.peek().kind != tokenNumber {
		return token{}, p.unexpected("a number")
	}
	return p.next(), nil
}

func (p *parser) byteTest(t token) (value, error) {
	n, err := p.plainNumber()
	if err != nil {
		return value{}, err
	}
	op, ok := p.accept("=", "<", ">", "&", "|")
	if !ok {
		return value{}, p.unexpected(`"=", "<" or ">"`)
	}
	if op == "&" || op == "|" { // libpcap compiles this to a test of no byte at all
		return value{}, errorAt(t, `"byte" with "%s" is not supported; write "ether[%d] %[1]s NUMBER != 0"`, op, n.number)
	}
	v, err := p.plainNumber()
	if err != nil {
		return value{}, err
	}
	l := load{column: t.column, proto: protoLink, index: constant(n.number), size: 1}
	return value{node: &relation{column: t.column, op: op, l: l, r: constant(v.number)}}, nil
}
