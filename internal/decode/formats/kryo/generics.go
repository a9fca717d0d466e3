package kryo

import (
	"strings"

	"dubbo-wire/internal/decode/classfile"
)

// Kryo 5 leaves the class ids out where the declared type of a field says by its type arguments that all elements are of a
// final class. Its class DefaultGenerics keeps a stack of the types that are being written and one of type variables and
// their classes; a serializer asks for the arguments of the type on the top. This file does the same step by step.

// variable is a type variable: of one class, by one name.
type variable struct{ of, name string }

// generic is Kryo's GenericType: a declared type.
type generic struct {
	class    *class    // nil for a type variable
	variable *variable // nil for a class
	args     []*generic
	// dims are the dimensions of an array of a type variable.
	dims int
	// loose: the class is the bound of ? super, so that objects need not be of it.
	loose bool
}

// hierarchy is Kryo's GenericsHierarchy: the type variables of a class and of its superclasses, each followed by those of
// superclasses that it is passed to; counts has how many there are of each.
type hierarchy struct {
	roots     int
	counts    []int
	variables []*variable
}

func (l *library) variable(class, name string) *variable {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := class + " " + name
	v := l.variables[key]
	if v == nil {
		v = &variable{class, name}
		l.variables[key] = v
	}
	return v
}

func parameters(c *classfile.Class) []classfile.TypeParameter {
	if c.Generic == nil {
		return nil
	}
	return c.Generic.Parameters
}

// superArguments returns the type arguments that a class gives to its superclass.
func superArguments(c *classfile.Class) []*classfile.Type {
	if c.Generic == nil || c.Generic.Super == nil {
		return nil
	}
	return c.Generic.Super.Args
}

// hierarchy returns that of a class, whose superclasses are in chain.
func (l *library) hierarchy(chain []*classfile.Class) hierarchy {
	h := hierarchy{roots: len(parameters(chain[0]))}
	for i, c := range chain {
		for _, p := range parameters(c) {
			last, count := l.variable(c.Name, p.Name), 1
			h.variables = append(h.variables, last)
			for k := i; k+1 < len(chain); k++ {
				args := superArguments(chain[k])
				if len(args) == 0 {
					break
				}
				super := parameters(chain[k+1])
				for ii, arg := range args {
					if ii < len(super) && arg.Kind == classfile.Variable && arg.Name == last.name && last.of == chain[k].Name {
						last = l.variable(chain[k+1].Name, super[ii].Name)
						h.variables = append(h.variables, last)
						count++
					}
				}
			}
			h.counts = append(h.counts, count)
		}
	}
	return h
}

// generic returns a declared type of a field of class from, for objects of class to.
func (l *library) generic(from, to *classfile.Class, t *classfile.Type) *generic {
	switch {
	case t.Kind == classfile.Object && len(t.Args) > 0:
		g := &generic{class: l.class(t.Name)}
		for _, arg := range t.Args {
			g.args = append(g.args, l.generic(from, to, arg))
		}
		return g
	case t.Kind == classfile.Array && isGeneric(t):
		inner, dims := t, 0
		for inner.Kind == classfile.Array {
			inner, dims = inner.Elem, dims+1
		}
		g := l.generic(from, to, inner)
		if component := l.resolveType(from, to, inner); component.class != nil {
			return &generic{class: l.arrayClass(component.class, dims), args: g.args}
		}
		return &generic{variable: g.variable, args: g.args, dims: dims}
	}
	return l.resolveType(from, to, t)
}

// isGeneric reports whether an array is one of a type variable or of a type with arguments.
func isGeneric(t *classfile.Type) bool {
	for t.Kind == classfile.Array {
		t = t.Elem
	}
	return t.Kind == classfile.Variable || len(t.Args) > 0
}

func (l *library) arrayClass(c *class, dims int) *class {
	name := strings.Repeat("[", dims)
	switch {
	case c.elem != nil:
		name += c.name
	default:
		name += "L" + c.name + ";"
	}
	return l.class(name)
}

// typeClass returns the class of a type without type variables.
func (l *library) typeClass(t *classfile.Type) *class {
	dims := 0
	for t.Kind == classfile.Array {
		t, dims = t.Elem, dims+1
	}
	if t.Kind == classfile.Primitive {
		for letter, e := range elements {
			if e.name == t.Name {
				if dims == 0 {
					return e
				}
				return l.class(strings.Repeat("[", dims) + string(letter))
			}
		}
	}
	if dims == 0 {
		return l.class(t.Name)
	}
	return l.arrayClass(l.class(t.Name), dims)
}

// resolveType is Kryo's GenericsUtil.resolveType.
func (l *library) resolveType(from, to *classfile.Class, t *classfile.Type) *generic {
	switch t.Kind {
	case classfile.Variable:
		return l.resolveVariable(from, to, l.declared(from, t), true)
	case classfile.Wildcard:
		return &generic{class: l.class("java.lang.Object")}
	case classfile.Extends:
		return l.resolveType(from, to, t.Elem)
	case classfile.Super:
		g := *l.resolveType(from, to, t.Elem)
		g.loose = true
		return &g
	case classfile.Array:
		if isGeneric(t) {
			inner, dims := t, 0
			for inner.Kind == classfile.Array {
				inner, dims = inner.Elem, dims+1
			}
			g := l.resolveType(from, to, inner)
			if g.class == nil {
				return g
			}
			return &generic{class: l.arrayClass(g.class, dims)}
		}
	}
	return &generic{class: l.typeClass(t)}
}

// declared returns the type variable that a name stands for in a class.
func (l *library) declared(in *classfile.Class, t *classfile.Type) *generic {
	for c := in; c != nil; {
		for _, p := range parameters(c) {
			if p.Name == t.Name {
				return &generic{variable: l.variable(c.Name, t.Name)}
			}
		}
		outer, err := l.types.Class(c.Outer)
		if err != nil {
			break
		}
		c = outer
	}
	return &generic{variable: l.variable(in.Name, t.Name)}
}

// resolveVariable is Kryo's GenericsUtil.resolveTypeVariable, which compares type variables by their names.
func (l *library) resolveVariable(from, current *classfile.Class, g *generic, first bool) *generic {
	args := superArguments(current)
	if len(args) == 0 {
		return g
	}
	super, err := l.types.Class(current.Super)
	if err != nil {
		return g
	}
	if super.Name != from.Name {
		resolved := l.resolveVariable(from, super, g, false)
		if resolved.class != nil {
			return resolved
		}
		g = resolved
	}
	for i, p := range parameters(super) {
		if p.Name != g.variable.name || i >= len(args) {
			continue
		}
		switch arg := args[i]; arg.Kind {
		case classfile.Variable:
			if first {
				return g
			}
			return l.declared(current, arg)
		case classfile.Object:
			return &generic{class: l.class(arg.Name)}
		case classfile.Array:
			return l.resolveType(from, current, arg)
		}
	}
	return g
}

// generics is Kryo's DefaultGenerics.
type generics struct {
	depth     int // Kryo.getDepth: of the objects that are being read
	types     []typeAt
	variables []bound
}

type typeAt struct {
	*generic
	depth int
}

type bound struct {
	variable *variable
	class    *class
}

func (s *generics) reset() {
	s.depth = 0
	clear(s.types)
	s.types = s.types[:0]
	clear(s.variables)
	s.variables = s.variables[:0]
}

func (s *generics) push(g *generic) { s.types = append(s.types, typeAt{g, s.depth}) }

func (s *generics) pop() {
	if k := len(s.types) - 1; k >= 0 && s.types[k].depth >= s.depth {
		s.types = s.types[:k]
	}
}

// next returns the type arguments of the object that is being read, nil if it has none, and makes the last one of them the type on
// the top. pop ends that.
func (s *generics) next() []*generic {
	k := len(s.types) - 1
	if k < 0 {
		return nil
	}
	top := s.types[k]
	if len(top.args) == 0 || top.depth != s.depth-1 {
		return nil
	}
	s.push(top.args[len(top.args)-1])
	return top.args
}

// settled reports whether no object in one that is being read now finds a type with arguments on the top.
func (s *generics) settled() bool {
	k := len(s.types) - 1
	return k < 0 || s.types[k].depth < s.depth
}

// resolve returns the class of a type, nil if it is a variable whose class is not known.
func (s *generics) resolve(g *generic) *class {
	if g.class != nil || g.variable == nil {
		return g.class
	}
	for i := len(s.variables) - 1; i >= 0; i-- {
		if s.variables[i].variable == g.variable {
			return s.variables[i].class
		}
	}
	return nil
}

// pushVariables gives the type variables of a class the arguments of the declared type, and returns how many there were
// before. As in Kryo, an argument whose class is not known does not move to the next variable.
func (s *generics) pushVariables(h *hierarchy, args []*generic) (before int) {
	before = len(s.variables)
	if len(h.variables) == 0 || h.roots > len(args) || len(args) > len(h.counts) {
		return before
	}
	at := 0
	for i, arg := range args {
		resolved := s.resolve(arg)
		if resolved == nil {
			continue
		}
		for range h.counts[i] {
			s.variables = append(s.variables, bound{h.variables[at], resolved})
			at++
		}
	}
	return before
}
