package classfile

import (
	"fmt"
	"strings"
)

// Signatures (JVMS 4.7.9.1) and descriptors (4.3.2). Texts are read once from front to back; nesting is bounded.

// ParseSignature reads the generic type of a field: Ljava/util/List<+TT;>;
func ParseSignature(s string) (*Type, error) {
	p := signature{s: s}
	return p.whole()
}

// ParseDescriptor reads the type of a field: [I. "V" is void.
func ParseDescriptor(s string) (*Type, error) {
	p := signature{s: s, plain: true}
	if s == "V" {
		return primitives['V'], nil
	}
	return p.whole()
}

// ParseClassSignature reads the generic declaration of a class: <T:Ljava/lang/Object;>Lp/Base<TT;>;Lp/Sized;
func ParseClassSignature(s string) (*ClassSignature, error) {
	p := signature{s: s}
	c := &ClassSignature{Parameters: p.parameters()}
	c.Super = p.classType(0)
	for p.err == nil && p.at < len(p.s) {
		c.Interfaces = append(c.Interfaces, p.classType(0))
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	return c, nil
}

// parseReturnType reads what a method returns, of its descriptor or generic signature: <T:Ljava/lang/Object;>(TT;)Ljava/util/List<TT;>;
func parseReturnType(s string) (*Type, error) {
	_, t, err := parseMethod(s)
	return t, err
}

// parseMethod reads the types of the parameters and of the result of a method.
func parseMethod(s string) (parameters []*Type, result *Type, err error) {
	p := signature{s: s}
	own := p.parameters()
	if !p.skip('(') {
		p.fail("the parameters of a method")
	}
	for p.err == nil && !p.skip(')') {
		parameters = append(parameters, p.fieldType(0))
	}
	result = primitives['V']
	if !p.skip('V') {
		result = p.fieldType(0)
	}
	for p.skip('^') {
		p.fieldType(0)
	}
	for _, v := range own { // what the caller makes of them is not known
		bound := bindings{v.Name: {Kind: Wildcard}}
		result = bound.in(result)
		for i := range parameters {
			parameters[i] = bound.in(parameters[i])
		}
	}
	return parameters, result, p.end()
}

var primitives = map[byte]*Type{
	'B': {Name: "byte"}, 'C': {Name: "char"}, 'D': {Name: "double"}, 'F': {Name: "float"}, 'I': {Name: "int"},
	'J': {Name: "long"}, 'S': {Name: "short"}, 'Z': {Name: "boolean"}, 'V': {Name: "void"},
}

// signature is a text that is being read.
type signature struct {
	s     string
	at    int
	plain bool // a descriptor: without type arguments and variables
	err   error
}

func (p *signature) fail(expected string) {
	if p.err == nil {
		s := p.s
		if len(s) > 80 {
			s = s[:80] + "…"
		}
		p.err = &Error{Problem: fmt.Sprintf("character %d of the type %q: expected %s", p.at, s, expected), Advice: rebuild}
	}
}

func (p *signature) end() error {
	if p.err == nil && p.at < len(p.s) {
		p.fail("its end")
	}
	return p.err
}

// whole reads a type that is all of the text.
func (p *signature) whole() (*Type, error) {
	t := p.fieldType(0)
	if err := p.end(); err != nil {
		return nil, err
	}
	return t, nil
}

// next returns the next character, 0 at the end or after an error.
func (p *signature) next() byte {
	if p.err != nil || p.at >= len(p.s) {
		return 0
	}
	return p.s[p.at]
}

func (p *signature) skip(c byte) bool {
	if p.next() != c {
		return false
	}
	p.at++
	return true
}

// name reads an identifier, in a class type one with slashes.
func (p *signature) name(stops, expected string) string {
	n := -1
	if p.err == nil {
		n = strings.IndexAny(p.s[p.at:], stops)
	}
	if n <= 0 {
		p.fail(expected)
		return ""
	}
	p.at += n
	return p.s[p.at-n : p.at]
}

func (p *signature) parameters() []TypeParameter {
	var all []TypeParameter
	if !p.skip('<') {
		return nil
	}
	for p.err == nil && !p.skip('>') {
		t := TypeParameter{Name: p.name(".;[/<>:", "the name of a type variable")}
		if !p.skip(':') {
			p.fail("a colon")
		}
		if c := p.next(); c != ':' && c != '>' && (c == 'L' || c == 'T' || c == '[') {
			t.Bounds = append(t.Bounds, p.fieldType(0))
		}
		for p.skip(':') {
			t.Bounds = append(t.Bounds, p.fieldType(0))
		}
		all = append(all, t)
	}
	return all
}

// fieldType reads a type of any kind but wildcards.
func (p *signature) fieldType(depth int) *Type {
	dims := 0
	for dims < 255 && p.skip('[') {
		dims++
	}
	var t *Type
	switch c := p.next(); {
	case c == 'L':
		t = p.classType(depth)
	case c == 'T' && !p.plain:
		p.at++
		t = &Type{Kind: Variable, Name: p.name(".;[/<>:", "the name of a type variable")}
		if !p.skip(';') {
			p.fail("a semicolon")
		}
	case c != 'V' && primitives[c] != nil:
		p.at++
		t = primitives[c]
	default:
		p.fail("a type")
		return primitives['V']
	}
	for range dims {
		t = &Type{Kind: Array, Elem: t}
	}
	return t
}

// classType reads a class with its type arguments, and those of the classes that it is in.
func (p *signature) classType(depth int) *Type {
	t := &Type{Kind: Object}
	if depth > maxTypeDepth {
		p.fail(fmt.Sprintf("at most %d types in each other", maxTypeDepth))
		return t
	}
	if !p.skip('L') {
		p.fail("a class")
		return t
	}
	stops := ".;[<>:"
	if p.plain {
		stops = ";"
	}
	t.Name = strings.ReplaceAll(p.name(stops, "the name of a class"), "/", ".")
	for inner := 0; p.err == nil; inner++ {
		if p.skip('<') {
			for p.err == nil && !p.skip('>') {
				t.Args = append(t.Args, p.argument(depth+1))
			}
		}
		if p.skip(';') {
			return t
		}
		if !p.skip('.') {
			p.fail("a semicolon")
			return t
		}
		if inner == maxTypeDepth {
			p.fail(fmt.Sprintf("at most %d classes in each other", maxTypeDepth))
		}
		member := &Type{Kind: Object, Name: t.Name + "$" + p.name(".;[/<>:", "the name of a member class")}
		if t.Owner != nil || len(t.Args) > 0 {
			member.Owner = t
		}
		t = member
	}
	return t
}

func (p *signature) argument(depth int) *Type {
	kind := Wildcard
	switch {
	case p.skip('*'):
		return &Type{Kind: Wildcard}
	case p.skip('+'):
		kind = Extends
	case p.skip('-'):
		kind = Super
	}
	t := p.fieldType(depth)
	if t.Kind == Primitive {
		p.fail("a class, array or type variable")
	}
	switch {
	case kind == Wildcard:
		return t
	case kind == Extends && t.Kind == Object && t.Name == "java.lang.Object" && len(t.Args) == 0:
		return &Type{Kind: Wildcard}
	}
	return &Type{Kind: kind, Elem: t}
}
