package filter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// kindOf is the keyword that says what its address is.
type kindOf string

const (
	addrNone    kindOf = ""        // no address came before, so there are no qualifiers to use
	addrDefault kindOf = "default" // no keyword
	addrHost    kindOf = "host"
	addrNet     kindOf = "net"
	addrPort    kindOf = "port"
	addrRange   kindOf = "portrange"
	addrProto   kindOf = "proto"
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

// parser keeps its first error and is then at the end of the text, so that its functions return soon. What they return
// after an error is not used.
type parser struct {
	text   string
	tokens []token
	at     int
	depth  int
	err    error
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

// fail keeps the first error and moves to the end of the text.
func (p *parser) fail(err *Error) {
	if p.err == nil {
		p.err = err
	}
	p.at = len(p.tokens) - 1
}

// failAt fails with an error at a token. It returns what stands in place of a node.
func (p *parser) failAt(t token, format string, args ...any) node {
	p.fail(&Error{Column: t.column, Text: fmt.Sprintf(format, args...)})
	return nil
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

// accept takes the next token if it is one of the words, and returns the word or "".
func (p *parser) accept(words ...string) string {
	if t := p.peek(); t.kind == tokenWord && slices.Contains(words, t.text) {
		p.at++
		return t.text
	}
	return ""
}

// expect takes the next token, which must be the word.
func (p *parser) expect(word string) {
	if p.accept(word) == "" {
		p.unexpected(strconv.Quote(word))
	}
}

func (p *parser) is(w string) bool {
	t := p.peek()
	return t.kind == tokenWord && t.text == w
}

// enter limits the recursion; the caller must defer what it returns.
func (p *parser) enter() (leave func()) {
	if p.depth++; p.depth > maxDepth {
		p.failAt(p.peek(), "more than %d levels inside each other", maxDepth)
	}
	return func() { p.depth-- }
}

// unexpected fails with an error that names the next token and what was expected. It returns what stands in place of a
// value.
func (p *parser) unexpected(want string) value {
	t := p.peek()
	what := strconv.Quote(p.source(t))
	if t.kind == tokenEnd {
		what = "the end"
	}
	if t.kind == tokenName && want == "an expression" {
		p.failAt(t, `%s is not a word of the filter language; names of hosts are not resolved: write "host ADDRESS"`, what)
	}
	p.failAt(t, "expected %s, not %s", want, what)
	return value{}
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

// parse parses the whole text; it returns nil if that is empty.
func (p *parser) parse() node {
	if p.peek().kind == tokenEnd {
		return nil
	}
	v := p.tests(p.operand(qualifiers{}, false))
	if p.peek().kind != tokenEnd {
		p.unexpected(`"and", "or" or the end`)
	}
	return v.node
}

// tests continues after a first operand with "and" and "or", which have the same precedence and associate to the left.
func (p *parser) tests(v value) value {
	if v.kind != isTest {
		return p.unexpected("a comparison")
	}
	for {
		op := p.accept("&&", "||")
		if op == "" {
			return v
		}
		r := p.notArithmetic(p.operand(v.q, true), v.q, true)
		v = value{node: join(op, v.node, r.node), q: r.q}
	}
}

// notArithmetic returns an operand that is a test or an address. A bare number is an address with the qualifiers q if
// bare is set.
func (p *parser) notArithmetic(v value, q qualifiers, bare bool) value {
	switch {
	case v.kind == isBareNumber && bare:
		return p.bareNumber(v, q)
	case v.kind == isBareNumber, v.kind == isCalculation:
		return p.unexpected("a comparison")
	}
	return v
}

// addresses continues with addresses that all take the qualifiers q.
func (p *parser) addresses(v value, q qualifiers) value {
	for {
		op := p.accept("&&", "||")
		if op == "" {
			return v
		}
		v.node = join(op, v.node, p.address(q).node)
	}
}

// operand parses an operand of "and" and "or". After one of them it may be a bare address, which takes the qualifiers
// q.
func (p *parser) operand(q qualifiers, bare bool) value {
	defer p.enter()()
	t := p.peek()
	if p.accept("!") != "" {
		v := p.notArithmetic(p.operand(q, bare), q, bare)
		v.node = negation(v.node)
		return v
	}
	var v value
	switch {
	case p.is("("):
		v = p.parentheses(q, bare)
	case bare && (t.kind == tokenIPv4 || t.kind == tokenIPv6 || t.kind == tokenMAC || t.kind == tokenName):
		return p.address(q)
	case t.kind == tokenNumber, p.is("len"), p.is("-"), t.kind == tokenProto && p.indexed():
		v = p.calculate(nil)
	default:
		return p.term()
	}
	if v.kind == isTest || v.kind == isAddress {
		return v
	}
	if p.operator() != "" {
		v = p.calculate(&v)
	}
	if op := p.accept(">", ">=", "=", "<=", "<", "!="); op != "" {
		r := p.calculate(nil)
		return value{node: leaf(t, func(g *gen) *cond { return g.relation(op, v.a, r.a) })}
	}
	return v
}

func (p *parser) indexed() bool {
	t := p.tokens[p.at+1]
	return t.kind == tokenWord && t.text == "["
}

// parentheses parses "( … )" and returns what is in it.
func (p *parser) parentheses(q qualifiers, bare bool) value {
	p.next()
	v := p.operand(q, bare)
	switch v.kind {
	case isTest:
		v = p.tests(v)
		v.q = q
	case isBareNumber:
		if bare && (p.is("&&") || p.is("||")) {
			v = p.bareNumber(v, q)
		}
	}
	if v.kind == isAddress {
		v = p.addresses(v, q)
	}
	p.expect(")")
	return v
}

// address parses an address, a negated one, or several in parentheses.
func (p *parser) address(q qualifiers) value {
	defer p.enter()()
	if p.accept("!") != "" {
		v := p.address(q)
		v.node = negation(v.node)
		return v
	}
	if p.accept("(") != "" {
		v := p.addresses(p.address(q), q)
		p.expect(")")
		return v
	}
	t := p.peek()
	if read := addressReaders[t.kind]; read != nil {
		p.next()
		return value{kind: isAddress, q: q, node: read(p, t, q)}
	}
	want := "an address"
	switch {
	case t.kind == tokenProto && q.addr == addrProto:
		p.failAt(t, `expected a number, not %q; write "\\%[1]s", or %[1]q alone`, t.text)
	case q.addr == addrPort, q.addr == addrRange, q.addr == addrProto:
		want = "a number"
	}
	return p.unexpected(want)
}

// addressReaders read an address by the kind of its first token.
var addressReaders = map[tokenKind]func(*parser, token, qualifiers) node{
	tokenNumber: (*parser).number, tokenIPv4: (*parser).ipv4, tokenIPv6: (*parser).ipv6, tokenMAC: (*parser).mac, tokenName: (*parser).name,
}

// operator returns the arithmetic operator that is next, or "".
func (p *parser) operator() string {
	if t := p.peek(); t.kind == tokenWord && strings.Contains("+-*/%&|^<<>>", t.text) && t.text != "<" && t.text != ">" {
		return t.text
	}
	return ""
}
