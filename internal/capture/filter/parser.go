package filter

import (
	"slices"
	"strconv"
	"strings"
)

// kindOf is what a keyword says its address is.
type kindOf int // what an address word says its address is

const (
	addrNone kindOf = iota // no address came before, so there are no qualifiers to use
	addrDefault
	addrHost
	addrNet
	addrPort
	addrRange
	addrProto
)

type direction int

const (
	dirAny direction = iota // not stated: either
	dirSrc
	dirDst
	dirOr
	dirAnd
)

// qualifiers precede an address. A later bare address takes the qualifiers of the address before it: "port 80 or 81".
type qualifiers struct {
	proto proto
	dir   direction
	addr  kindOf
}

type parser struct {
	text   string
	tokens []token
	at     int
	depth  int
}

// value is a parsed part of the text. "(80" may continue as an address that takes the qualifiers before it, or as a
// number to calculate with; it may also end at the closing parenthesis and be decided after that.
type value struct {
	kind valueKind
	node node  // test, address
	a    arith // number, calculation
	q    qualifiers
	tok  token
}

type valueKind int

const (
	isTest valueKind = iota
	isAddress
	isBareNumber // a, in any number of parentheses
	isCalculation
)

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

// accept takes the next token if it is one of the words.
func (p *parser) accept(words ...string) (string, bool) {
	if t := p.peek(); t.kind == tokenWord {
		if slices.Contains(words, t.text) {
			p.at++
			return t.text, true
		}
	}
	return "", false
}

func (p *parser) is(w string) bool {
	t := p.peek()
	return t.kind == tokenWord && t.text == w
}

// enterLevel limits the recursion; the caller must decrement depth.
func (p *parser) enterLevel() error {
	if p.depth++; p.depth > maxDepth {
		return errorAt(p.peek(), "more than %d levels inside each other", maxDepth)
	}
	return nil
}

// unexpected returns an error that names the next token and what was expected.
func (p *parser) unexpected(want string) error {
	t := p.peek()
	what := strconv.Quote(p.source(t))
	if t.kind == tokenEnd {
		what = "the end"
	}
	if t.kind == tokenName && want == "an expression" {
		return &Error{Column: t.column, Text: what + ` is not a word of the filter language; names of hosts are not resolved: write "host ADDRESS"`}
	}
	return &Error{Column: t.column, Text: "expected " + want + ", not " + what}
}

func (p *parser) source(t token) string {
	s := p.text[t.column-1:]
	if t.kind == tokenWord && !alnum(s[0]) {
		return s[:len(t.text)]
	}
	if n := wordLength(s + " "); n > 0 && len(t.text) < n {
		return s[:n]
	}
	return s[:min(len(t.text), len(s), 40)]
}

func (p *parser) parse() (node, error) {
	if p.peek().kind == tokenEnd {
		return nil, nil
	}
	v, err := p.operand(qualifiers{}, false)
	if err != nil {
		return nil, err
	}
	if v, err = p.tests(v); err != nil {
		return nil, err
	}
	if p.peek().kind != tokenEnd {
		return nil, p.unexpected(`"and", "or" or the end`)
	}
	return v.node, nil
}

// tests continues after a first operand with "and" and "or", which have the same precedence and associate to the left.
func (p *parser) tests(v value) (value, error) {
	if v.kind != isTest {
		return v, p.unexpected("a comparison")
	}
	for {
		op, ok := p.accept("&&", "||")
		if !ok {
			return v, nil
		}
		r, err := p.operand(v.q, true)
		if err != nil {
			return v, err
		}
		switch r.kind {
		case isCalculation:
			return v, p.unexpected("a comparison")
		case isBareNumber:
			if r, err = p.bareNumber(r, v.q); err != nil {
				return v, err
			}
		}
		v = value{node: &join{and: op == "&&", l: v.node, r: r.node}, q: r.q}
	}
}

// addresses continues with addresses that all take the qualifiers q.
func (p *parser) addresses(v value, q qualifiers) (value, error) {
	for {
		op, ok := p.accept("&&", "||")
		if !ok {
			return v, nil
		}
		r, err := p.address(q)
		if err != nil {
			return v, err
		}
		v.node = &join{and: op == "&&", l: v.node, r: r.node}
	}
}

// operand parses an operand of "and" and "or". After one of them it may be a bare address, which takes the qualifiers
// q.
func (p *parser) operand(q qualifiers, bare bool) (value, error) {
	if err := p.enterLevel(); err != nil {
		return value{}, err
	}
	defer func() { p.depth-- }()
	t := p.peek()
	if _, ok := p.accept("!"); ok {
		v, err := p.operand(q, bare)
		if err != nil {
			return v, err
		}
		switch v.kind {
		case isCalculation:
			return v, p.unexpected("a comparison")
		case isBareNumber:
			if !bare {
				return v, p.unexpected("a comparison")
			}
			if v, err = p.bareNumber(v, q); err != nil {
				return v, err
			}
		}
		v.node = &negation{v.node}
		return v, nil
	}
	var v value
	var err error
	switch {
	case p.is("("):
		v, err = p.parentheses(q, bare)
	case bare && (t.kind == tokenIPv4 || t.kind == tokenIPv6 || t.kind == tokenMAC || t.kind == tokenName):
		return p.address(q)
	case t.kind == tokenNumber, p.is("len"), p.is("-"), t.kind == tokenProto && p.indexed():
		v, err = p.calculate(nil)
	default:
		return p.term()
	}
	if err != nil || v.kind == isTest || v.kind == isAddress {
		return v, err
	}
	if p.operator() != "" {
		if v, err = p.calculate(&v); err != nil {
			return v, err
		}
	}
	if op, ok := p.accept(">", ">=", "=", "<=", "<", "!="); ok {
		r, err := p.calculate(nil)
		if err != nil {
			return r, err
		}
		return value{node: &relation{column: t.column, op: op, l: v.a, r: r.a}}, nil
	}
	return v, nil
}

func (p *parser) indexed() bool {
	t := p.tokens[p.at+1]
	return t.kind == tokenWord && t.text == "["
}

// parentheses parses "( … )" and returns what is in it.
func (p *parser) parentheses(q qualifiers, bare bool) (value, error) {
	p.next()
	v, err := p.operand(q, bare)
	if err != nil {
		return v, err
	}
	switch v.kind {
	case isTest:
		if v, err = p.tests(v); err != nil {
			return v, err
		}
		v.q = q
	case isBareNumber:
		if bare && (p.is("&&") || p.is("||")) {
			if v, err = p.bareNumber(v, q); err != nil {
				return v, err
			}
		}
	}
	if v.kind == isAddress {
		if v, err = p.addresses(v, q); err != nil {
			return v, err
		}
	}
	if _, ok := p.accept(")"); !ok {
		return v, p.unexpected(`")"`)
	}
	return v, nil
}

// address parses an address, a negated one, or several in parentheses.
func (p *parser) address(q qualifiers) (value, error) {
	if err := p.enterLevel(); err != nil {
		return value{}, err
	}
	defer func() { p.depth-- }()
	if _, ok := p.accept("!"); ok {
		v, err := p.address(q)
		v.node = &negation{v.node}
		return v, err
	}
	if _, ok := p.accept("("); ok {
		v, err := p.address(q)
		if err != nil {
			return v, err
		}
		if v, err = p.addresses(v, q); err != nil {
			return v, err
		}
		if _, ok := p.accept(")"); !ok {
			return v, p.unexpected(`")"`)
		}
		return v, nil
	}
	t := p.peek()
	if read := addressReaders[t.kind]; read != nil {
		p.next()
		n, err := read(p, t, q)
		return value{kind: isAddress, q: q, node: n}, err
	}
	if t.kind == tokenProto && q.addr == addrProto {
		return value{}, errorAt(t, `expected a number, not %q; write "\\%[1]s", or %[1]q alone`, t.text)
	}
	want := "an address"
	switch q.addr {
	case addrPort, addrRange, addrProto:
		want = "a number"
	}
	return value{}, p.unexpected(want)
}

// addressReaders read an address by the kind of its first token.
var addressReaders = map[tokenKind]func(*parser, token, qualifiers) (node, error){
	tokenNumber: (*parser).number, tokenIPv4: (*parser).ipv4, tokenIPv6: (*parser).ipv6, tokenMAC: (*parser).mac, tokenName: (*parser).name,
}

// operator returns the arithmetic operator that is next, or "".
func (p *parser) operator() string {
	if t := p.peek(); t.kind == tokenWord && strings.Contains("+-*/%&|^<<>>", t.text) && t.text != "<" && t.text != ">" {
		return t.text
	}
	return ""
}
