package filter

// arith is a calculation with unsigned 32-bit numbers.
type arith interface{}

type (
	constant  uint32
	packetLen struct{}
	negative  struct{ x arith }
	operation struct {
		op   string
		l, r arith
	}
	// load is proto[index:size].
	load struct {
		column int
		proto  proto
		index  arith
		size   uint32
	}
)

// calculate parses a calculation, after its first operand if that is given.
//
// The precedence is libpcap's: * and / before + and -, then shifts, then &, then |. Its % and ^ have no precedence;
// everything after them is calculated first.
func (p *parser) calculate(first *value) value {
	type pending struct {
		op     string // "neg": a minus sign before its operand
		column int
	}
	var (
		vals []arith
		ops  []pending
		v    value
	)
	start := p.peek()
	reduce := func() {
		o, last := ops[len(ops)-1], len(vals)-1
		ops = ops[:len(ops)-1]
		if o.op == "neg" {
			vals[last] = fold(negative{vals[last]})
			return
		}
		if err := badOperand(o.op, vals[last], o.column); err != nil {
			p.fail(err)
		}
		vals[last-1] = fold(operation{o.op, vals[last-1], vals[last]})
		vals = vals[:last]
	}
	for {
		if first != nil {
			v, first = *first, nil
		} else {
			for p.accept("-") != "" {
				ops = append(ops, pending{op: "neg"})
			}
			v = p.factor()
		}
		vals = append(vals, v.a)
		op := p.operator()
		if op == "" {
			break
		}
		for len(ops) > 0 && reduceFirst(ops[len(ops)-1].op, op) {
			reduce()
		}
		ops = append(ops, pending{op, p.next().column})
	}
	if len(ops) == 0 {
		return v
	}
	for len(ops) > 0 {
		reduce()
	}
	return value{kind: isCalculation, a: vals[0], tok: start}
}

var precedence = map[string]int{"|": 1, "&": 2, "<<": 3, ">>": 3, "+": 4, "-": 4, "*": 5, "/": 5, "neg": 6}

func reduceFirst(have, next string) bool {
	h, okHave := precedence[have]
	n, okNext := precedence[next]
	return okHave && okNext && h >= n
}

// factor parses a number, "len", proto[index:size], or a calculation in parentheses.
func (p *parser) factor() value {
	defer p.enter()()
	t := p.peek()
	switch {
	case t.kind == tokenNumber:
		p.next()
		return value{kind: isBareNumber, a: constant(t.number), tok: t}
	case t.kind == tokenProto && p.indexed():
		return p.load()
	case p.accept("len") != "":
		return value{kind: isCalculation, a: packetLen{}, tok: t}
	case p.accept("(") != "":
		v := p.calculate(nil)
		p.expect(")")
		return v
	}
	return p.unexpected("a number")
}

func (p *parser) load() value {
	t := p.next()
	p.next() // [
	l := load{column: t.column, proto: t.proto, index: p.calculate(nil).a, size: 1}
	if p.accept(":") != "" {
		n := p.next()
		if l.size = n.number; n.kind != tokenNumber || l.size != 1 && l.size != 2 && l.size != 4 {
			p.failAt(n, "a size is 1, 2 or 4 bytes")
		}
	}
	p.expect("]")
	switch t.proto {
	case protoAH, protoESP, protoAARP, protoISO, protoSTP, protoIPX, protoNetBEUI:
		p.failAt(t, `"%s[…]" is not supported%s`, t.text, useDDD)
	}
	return value{kind: isCalculation, a: l, tok: t}
}

// badOperand returns the error of a constant right operand, nil if there is none.
func badOperand(op string, r arith, column int) *Error {
	c, ok := r.(constant)
	switch {
	case ok && (op == "/" || op == "%") && c == 0:
		return &Error{Column: column, Text: "division by zero"}
	case ok && (op == "<<" || op == ">>") && c > 31:
		return &Error{Column: column, Text: "shift by more than 31 bits"}
	}
	return nil
}

// operators are the operations by their signs.
var operators = map[string]struct {
	op        uint16
	calculate func(l, r constant) constant
}{
	"+":  {opAdd, func(l, r constant) constant { return l + r }},
	"-":  {opSub, func(l, r constant) constant { return l - r }},
	"*":  {opMul, func(l, r constant) constant { return l * r }},
	"/":  {opDiv, func(l, r constant) constant { return l / r }},
	"%":  {opMod, func(l, r constant) constant { return l % r }},
	"&":  {opAnd, func(l, r constant) constant { return l & r }},
	"|":  {opOr, func(l, r constant) constant { return l | r }},
	"^":  {opXor, func(l, r constant) constant { return l ^ r }},
	"<<": {opLsh, func(l, r constant) constant { return l << r }},
	">>": {opRsh, func(l, r constant) constant { return l >> r }},
}

// fold evaluates a calculation with constants, and leaves one with an invalid operand as it is. A load whose value cannot
// matter is removed by [simplify], so it cannot reject the packet either; libpcap's optimizer does the same.
func fold(a arith) arith {
	switch a := a.(type) {
	case negative:
		if c, ok := a.x.(constant); ok {
			return -c
		}
	case operation:
		l, okL := a.l.(constant)
		r, okR := a.r.(constant)
		if okL && okR && badOperand(a.op, r, 0) == nil {
			return operators[a.op].calculate(l, r)
		}
	}
	return a
}
