package filter

import "fmt"

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
func (p *parser) calculate(first *value) (value, error) {
	type pending struct {
		op     string // "neg": a minus sign before its operand
		column int
	}
	var (
		vals []arith
		ops  []pending
		v    value
		err  error
	)
	start := p.peek()
	reduce := func() error {
		o := ops[len(ops)-1]
		ops = ops[:len(ops)-1]
		last := len(vals) - 1
		if o.op == "neg" {
			vals[last] = fold(negative{vals[last]})
			return nil
		}
		r, err := calculation(o.op, vals[last-1], vals[last], o.column)
		vals = vals[:last]
		vals[last-1] = r
		return err
	}
	for {
		if first != nil {
			v, first = *first, nil
		} else {
			for {
				t := p.peek()
				if _, ok := p.accept("-"); !ok {
					break
				}
				ops = append(ops, pending{"neg", t.column})
			}
			if v, err = p.factor(); err != nil {
				return v, err
			}
		}
		vals = append(vals, v.a)
		op := p.operator()
		if op == "" {
			break
		}
		for len(ops) > 0 && reduceFirst(ops[len(ops)-1].op, op) {
			if err := reduce(); err != nil {
				return v, err
			}
		}
		ops = append(ops, pending{op, p.next().column})
	}
	if len(ops) == 0 {
		return v, nil
	}
	for len(ops) > 0 {
		if err := reduce(); err != nil {
			return v, err
		}
	}
	return value{kind: isCalculation, a: vals[0], tok: start}, nil
}

var precedence = map[string]int{"|": 1, "&": 2, "<<": 3, ">>": 3, "+": 4, "-": 4, "*": 5, "/": 5, "neg": 6}

func reduceFirst(have, next string) bool {
	h, okHave := precedence[have]
	n, okNext := precedence[next]
	return okHave && okNext && h >= n
}

// factor parses a number, "len", proto[index:size], or a calculation in parentheses.
func (p *parser) factor() (value, error) {
	if err := p.enterLevel(); err != nil {
		return value{}, err
	}
	defer func() { p.depth-- }()
	t := p.peek()
	switch {
	case t.kind == tokenNumber:
		p.next()
		return value{kind: isBareNumber, a: constant(t.number), tok: t}, nil
	case t.kind == tokenProto && p.indexed():
		return p.load()
	}
	if _, ok := p.accept("len"); ok {
		return value{kind: isCalculation, a: packetLen{}, tok: t}, nil
	}
	if _, ok := p.accept("("); ok {
		v, err := p.calculate(nil)
		if err != nil {
			return v, err
		}
		if _, ok := p.accept(")"); !ok {
			return v, p.unexpected(`")"`)
		}
		return v, nil
	}
	return value{}, p.unexpected("a number")
}

func (p *parser) load() (value, error) {
	t := p.next()
	p.next() // [
	index, err := p.calculate(nil)
	if err != nil {
		return index, err
	}
	l := load{column: t.column, proto: t.proto, index: index.a, size: 1}
	if _, ok := p.accept(":"); ok {
		n := p.next()
		if n.kind != tokenNumber || n.number != 1 && n.number != 2 && n.number != 4 {
			return index, &Error{Column: n.column, Text: "a size is 1, 2 or 4 bytes"}
		}
		l.size = n.number
	}
	if _, ok := p.accept("]"); !ok {
		return index, p.unexpected(`"]"`)
	}
	switch t.proto {
	case protoAH, protoESP, protoAARP, protoISO, protoSTP, protoIPX, protoNetBEUI:
		return index, unsupported(t.column, fmt.Sprintf(`"%s[…]"`, t.text))
	}
	return value{kind: isCalculation, a: l, tok: t}, nil
}

// calculation joins two operands and evaluates constants. A load whose value cannot matter is removed, so it cannot
// reject the packet either; libpcap's optimizer does the same.
func calculation(op string, l, r arith, column int) (arith, error) {
	if err := badOperand(op, r, column); err != nil {
		return nil, err
	}
	return fold(operation{op, l, r}), nil
}

// badOperand returns the error of a constant right operand, nil if there is none.
func badOperand(op string, r arith, column int) *Error {
	c, ok := r.(constant)
	switch {
	case ok && (op == "/" || op == "%") && c == 0:
		return &Error{Column: column, Text: "division by zero"}
	case ok && (op == "<<" || op == ">>") && c > 31:
		return &Error{Column: column, Text: "a shift by more than 31 bits"}
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

func fold(a arith) arith {
	switch a := a.(type) {
	case negative:
		if c, ok := a.x.(constant); ok {
			return -c
		}
	case operation:
		l, okL := a.l.(constant)
		r, okR := a.r.(constant)
		if okL && okR {
			return operators[a.op].calculate(l, r)
		}
	}
	return a
}
