package filter

// comparisons are the jumps of the comparison operators; some are the negation of one.
var comparisons = map[string]struct {
	jump    uint16
	negated bool
}{"=": {opJEq, false}, "!=": {opJEq, true}, ">": {opJGt, false}, ">=": {opJGE, false}, "<=": {opJGt, true}, "<": {opJGE, true}}

// relation compares two calculations.
func (g *gen) relation(op string, left, right arith) *cond {
	g.checkDivision(left)
	g.checkDivision(right)
	l, r := simplify(left), simplify(right)
	checks := append(g.checks(left), g.checks(right)...)
	jump := comparisons[op].jump
	var c *cond
	a, okL := l.(constant)
	b, okR := r.(constant)
	switch {
	case okL && okR:
		c = constCond(jump == opJEq && a == b || jump == opJGt && a > b || jump == opJGE && a >= b)
	case okR:
		c = compare(g.value(l, 0), jump, uint32(b))
	default:
		c = compare(g.operands(l, r, 0), jump|opX, 0)
	}
	if comparisons[op].negated {
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
func (g *gen) checkDivision(a arith) {
	switch a := a.(type) {
	case negative:
		g.checkDivision(a.x)
	case load:
		g.checkDivision(a.index)
	case operation:
		g.checkDivision(a.l)
		g.checkDivision(a.r)
		if err := badOperand(a.op, simplify(a.r), 0); err != nil {
			g.fail("%s", err.Text)
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
		defer g.inColumn(a.column)()
		switch a.proto {
		case protoLink:
			return inner
		case protoICMP6:
			return append(append(inner, g.isType(etherIPv6)), equal(g.at(6, 1), ipICMP6))
		}
		if _, ok := linkTypes[a.proto]; ok {
			return append(inner, g.protocol(a.proto))
		}
		all := append([]*cond{g.isType(etherIPv4)}, inner...)
		return append(all, g.protocol(a.proto), g.wholeOrFirst())
	}
	return nil
}

// value calculates into A. Memory cells below depth are used by the caller.
func (g *gen) value(a arith, depth uint32) []ins {
	switch a := a.(type) {
	case constant:
		return []ins{{opLdK, uint32(a)}}
	case packetLen:
		return []ins{{opLdLen, 0}}
	case negative:
		return append(g.value(a.x, depth), ins{opNeg, 0})
	case load:
		return g.loadValue(a, depth)
	case operation:
		op := operators[a.op].op
		if r, ok := a.r.(constant); ok {
			return append(g.value(a.l, depth), ins{op, uint32(r)})
		}
		return append(g.operands(a.l, a.r, depth), ins{op | opX, 0})
	}
	return nil
}

// operands calculates l into A and r into X.
func (g *gen) operands(l, r arith, depth uint32) []ins {
	if c, ok := l.(constant); ok {
		return append(g.value(r, depth), ins{opTax, 0}, ins{opLdK, uint32(c)})
	}
	memory := g.cell(depth)
	code := append(g.value(l, depth), ins{opSt, memory})
	code = append(code, g.value(r, depth+1)...)
	return append(code, ins{opTax, 0}, ins{opLdM, memory})
}

// cell returns the memory cell for a value while depth others are kept.
func (g *gen) cell(depth uint32) uint32 {
	if depth >= memories-shiftAt-1 {
		g.fail("more than %d nested operations", memories-shiftAt-1)
	}
	return shiftAt + 1 + depth
}

// inColumn sets the column for errors; the caller must defer what it returns.
func (g *gen) inColumn(column int) (restore func()) {
	before := g.column
	g.column = column
	return func() { g.column = before }
}

// loadValue loads proto[index:size] into A.
func (g *gen) loadValue(a load, depth uint32) []ins {
	defer g.inColumn(a.column)()
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
			g.fail("this offset is before the start of the packet")
			return nil
		}
		if transport {
			return append(g.headerLength(), g.indirect(base.at+plus+uint32(c), a.size))
		}
		return g.load(base, plus+uint32(c), a.size)
	}
	code := g.value(a.index, depth)
	switch {
	case transport:
		memory := g.cell(depth)
		code = append(code, ins{opSt, memory})
		code = append(code, g.headerLength()...)
		code = append(code, ins{opLdM, memory}, ins{opAdd | opX, 0}, ins{opTax, 0})
	case base.shifted:
		code = append(code, ins{opLdxM, shiftAt}, ins{opAdd | opX, 0}, ins{opTax, 0})
	default:
		code = append(code, ins{opTax, 0})
	}
	if g.header > 0 && base.at+plus < uint32(g.header) {
		g.fail("the kernel does not show the cooked header to a filter")
		return nil
	}
	return append(code, g.indirect(base.at+plus, a.size))
}
