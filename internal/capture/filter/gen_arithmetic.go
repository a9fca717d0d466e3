package filter

import "fmt"

func (n *relation) gen(g *gen) *cond {
	g.checkDivision(n.column, n.l)
	g.checkDivision(n.column, n.r)
	l, r := simplify(n.l), simplify(n.r)
	checks := append(g.checks(n.l), g.checks(n.r)...)
	jump, negate := uint16(opJEq), false
	switch n.op {
	case "!=":
		negate = true
	case ">":
		jump = opJGt
	case ">=":
		jump = opJGE
	case "<=":
		jump, negate = opJGt, true
	case "<":
		jump, negate = opJGE, true
	}
	var c *cond
	a, okL := l.(constant)
	b, okR := r.(constant)
	switch {
	case okL && okR:
		c = constCond(jump == opJEq && a == b || jump == opJGt && a > b || jump == opJGE && a >= b)
	case okR:
		c = compare(g.value(n.column, l, 0), jump, uint32(b))
	default:
		c = compare(g.operands(n.column, l, r, 0), jump|opX, 0)
	}
	if negate {
		c = not(c)
	}
	return and(append(checks, c)...)
}

// simplify removes what cannot matter, as libpcap's optimizer does. Only loads are removed with it, which then cannot
// reject the packet.
func simplify(a arith) arith {
	switch a := a.(type) {
	case negative:
		return fold(negative{simplify(a.x)})
	case load:
		a.index = simplify(a.index)
		return a
	case operation:
		a.l, a.r = simplify(a.l), simplify(a.r)
		l, okL := a.l.(constant)
		r, okR := a.r.(constant)
		switch {
		case okL && okR:
			if r == 0 && (a.op == "/" || a.op == "%") {
				return a // reported as an error before
			}
			return fold(a)
		case okR && r == 0:
			switch a.op {
			case "*", "&":
				return constant(0)
			case "+", "|", "^", "<<", ">>":
				return a.l
			}
		case okL && l == 0:
			switch a.op {
			case "+", "|", "^":
				return a.r
			case "*", "/", "%", "&", "<<", ">>":
				return constant(0)
			}
		}
		return a
	}
	return a
}

// checkDivision finds divisors that are zero only after constants were calculated.
func (g *gen) checkDivision(column int, a arith) {
	switch a := a.(type) {
	case negative:
		g.checkDivision(column, a.x)
	case load:
		g.checkDivision(column, a.index)
	case operation:
		g.checkDivision(column, a.l)
		g.checkDivision(column, a.r)
		if err := badOperand(a.op, simplify(a.r), column); err != nil {
			g.fail(err)
		}
	}
}

// checks returns the conditions under which a calculation is valid: the packet has the protocols whose bytes it loads.
// For an operation only the left side is checked, as in libpcap: "1 + tcp[0]" loads from whatever is there.
func (g *gen) checks(a arith) []*cond {
	switch a := a.(type) {
	case negative:
		return g.checks(a.x)
	case operation:
		return g.checks(a.l)
	case load:
		inner := g.checks(a.index)
		switch a.proto {
		case protoLink:
			return inner
		case protoICMP6:
			return append(append(inner, g.isType(a.column, etherIPv6)), equal(g.at(6, 1), ipICMP6))
		}
		if _, ok := linkTypes[a.proto]; ok {
			return append(inner, g.protocol(a.column, a.proto))
		}
		all := append([]*cond{g.isType(a.column, etherIPv4)}, inner...)
		return append(all, g.protocol(a.column, a.proto), g.wholeOrFirst())
	}
	return nil
}

// value calculates into A. Memory cells below depth are used by the caller.
func (g *gen) value(column int, a arith, depth uint32) []ins {
	switch a := a.(type) {
	case constant:
		return []ins{{opLdK, uint32(a)}}
	case packetLen:
		return []ins{{opLdLen, 0}}
	case negative:
		return append(g.value(column, a.x, depth), ins{opNeg, 0})
	case load:
		return g.loadValue(a, depth)
	case operation:
		op := operators[a.op].op
		if r, ok := a.r.(constant); ok {
			return append(g.value(column, a.l, depth), ins{op, uint32(r)})
		}
		return append(g.operands(column, a.l, a.r, depth), ins{op | opX, 0})
	}
	return nil
}

// operands calculates l into A and r into X.
func (g *gen) operands(column int, l, r arith, depth uint32) []ins {
	if c, ok := l.(constant); ok {
		return append(g.value(column, r, depth), ins{opTax, 0}, ins{opLdK, uint32(c)})
	}
	memory := shiftAt + 1 + depth
	if memory >= memories {
		g.fail(&Error{Column: column, Text: fmt.Sprintf("more than %d operations inside each other", memories-shiftAt-1)})
		return nil
	}
	code := append(g.value(column, l, depth), ins{opSt, memory})
	code = append(code, g.value(column, r, depth+1)...)
	return append(code, ins{opTax, 0}, ins{opLdM, memory})
}

// loadValue loads proto[index:size] into A.
func (g *gen) loadValue(a load, depth uint32) []ins {
	base, transport := g.payload, false
	plus := g.network
	switch a.proto {
	case protoLink:
		base, plus = g.linkhdr, 0
	case protoICMP6:
		plus += 40
	default:
		_, network := linkTypes[a.proto]
		transport = !network
	}
	if c, ok := a.index.(constant); ok {
		if int32(base.at+plus+uint32(c)) < 0 {
			g.fail(&Error{Column: a.column, Text: "this place is before the packet's beginning"})
			return nil
		}
		if transport {
			return append(g.headerLength(), g.indirect(base.at+plus+uint32(c), a.size))
		}
		return g.place(a.column, base, plus+uint32(c), a.size)
	}
	code := g.value(a.column, a.index, depth)
	switch {
	case transport:
		memory := shiftAt + 1 + depth
		if memory >= memories {
			g.fail(&Error{Column: a.column, Text: "too many operations inside each other"})
			return nil
		}
		code = append(code, ins{opSt, memory})
		code = append(code, g.headerLength()...)
		code = append(code, ins{opLdM, memory}, ins{opAdd | opX, 0}, ins{opTax, 0})
	case base.shifted:
		code = append(code, ins{opLdxM, shiftAt}, ins{opAdd | opX, 0}, ins{opTax, 0})
	default:
		code = append(code, ins{opTax, 0})
	}
	if g.header > 0 && base.at+plus < uint32(g.header) {
		g.fail(&Error{Column: a.column, Text: "the kernel does not show the cooked header to a filter"})
		return nil
	}
	return append(code, g.indirect(base.at+plus, a.size))
}
