package filter

// term parses a test that starts with a keyword.
func (p *parser) term() value {
	t := p.peek()
	if t.kind == tokenIPv4 || t.kind == tokenIPv6 {
		p.failAt(t, `what about %s? write "host %[1]s" or "net %[1]s"`, t.text)
	}
	if t.kind != tokenProto && t.kind != tokenWord {
		return p.unexpected("an expression")
	}
	p.next()
	q := qualifiers{}
	w := t
	if t.kind == tokenProto {
		q.proto = t.proto
		w = p.peek()
		if p.accept("src", "dst", "host", "net", "port", "portrange", "proto", "broadcast", "multicast") == "" {
			if t.proto == protoLink {
				return p.unexpected(`"host", "src", "dst", "proto", "broadcast" or "multicast" after "` + t.text + `"`)
			}
			return value{node: leaf(t, func(g *gen) *cond { return g.protocol(t.proto) })}
		}
	}
	var test func(g *gen) *cond
	switch w.text {
	case "src", "dst":
		return p.directed(w, q)
	case "host", "net", "port", "portrange", "proto":
		q.addr = kindOf(w.text)
		return p.addressed(q)
	case "broadcast":
		test = func(g *gen) *cond { return g.broadcast(q.proto) }
	case "multicast":
		test = func(g *gen) *cond { return g.multicast(q.proto) }
	case "inbound":
		test = func(g *gen) *cond { return not(g.outbound()) }
	case "outbound":
		test = (*gen).outbound
	case "ifindex":
		n := p.plainNumber()
		test = func(g *gen) *cond { return g.ifindex(n) }
	case "less", "greater":
		op, n := map[string]string{"less": "<=", "greater": ">="}[w.text], p.plainNumber()
		test = func(g *gen) *cond { return g.relation(op, packetLen{}, constant(n)) }
	case "byte":
		test = p.byteTest(t)
	case "vlan", "mpls", "pppoes":
		test = p.encapsulation(t)
	case "pppoed":
		test = func(g *gen) *cond { return g.isType(etherPPPoED) }
	default:
		p.at--
		return p.unexpected("an expression")
	}
	return value{node: leaf(t, test)}
}

// addressed parses the addresses after their qualifiers.
func (p *parser) addressed(q qualifiers) value {
	v := p.address(q)
	v.kind, v.q = isTest, q
	return v
}

// directed parses "src", "dst", "src or dst", "src and dst", and what follows.
func (p *parser) directed(w token, q qualifiers) value {
	q.dir, q.addr = dirSrc, addrDefault
	other := "dst"
	if w.text == "dst" {
		q.dir, other = dirDst, "src"
	}
	if op := p.accept("&&", "||"); op != "" {
		p.expect(other)
		q.dir = dirOr
		if op == "&&" {
			q.dir = dirAnd
		}
	}
	if k := p.accept("host", "net", "port", "portrange"); k != "" {
		q.addr = kindOf(k)
	}
	return p.addressed(q)
}

// encapsulations are the keywords for layers that contain packets, with the largest number of such a layer.
var encapsulations = map[string]struct {
	limit uint32
	test  func(g *gen, number *uint32) *cond
}{"vlan": {0xfff, (*gen).vlan}, "mpls": {0xfffff, (*gen).mpls}, "pppoes": {0xffff, (*gen).pppoes}}

// encapsulation parses what follows "vlan", "mpls" and "pppoes": a number, or nothing. What comes later in the text looks
// inside.
func (p *parser) encapsulation(t token) func(g *gen) *cond {
	depth := 0
	for p.tokens[p.at+depth].kind == tokenWord && p.tokens[p.at+depth].text == "(" {
		depth++
	}
	kind := encapsulations[t.text]
	var number *uint32
	if num := p.tokens[p.at+depth]; num.kind == tokenNumber {
		p.at += depth + 1
		for range depth {
			p.expect(")")
		}
		if number = &num.number; num.number > kind.limit {
			p.failAt(num, "%s has no number above %d", t.text, kind.limit)
		}
	}
	return func(g *gen) *cond { return kind.test(g, number) }
}

func (p *parser) plainNumber() uint32 {
	if p.peek().kind != tokenNumber {
		p.unexpected("a number")
	}
	return p.next().number
}

func (p *parser) byteTest(t token) func(g *gen) *cond {
	index := p.plainNumber()
	op := p.accept("=", "<", ">", "&", "|")
	switch op {
	case "":
		p.unexpected(`"=", "<" or ">"`)
	case "&", "|": // libpcap compiles this to a test of no byte at all
		p.failAt(t, `"byte" with "%s" is not supported; write "ether[%d] %[1]s NUMBER != 0"`, op, index)
	}
	l, r := load{column: t.column, proto: protoLink, index: constant(index), size: 1}, constant(p.plainNumber())
	return func(g *gen) *cond { return g.relation(op, l, r) }
}
