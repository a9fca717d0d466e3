package classfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const object = "java.lang.Object"

// Chain returns a class and its superclasses, the class itself first, without java.lang.Object. If one of them is not found,
// the chain ends before it, and missing is its name; an error is returned if one cannot be read, or the class itself is not
// found.
func (t *Types) Chain(name string) (chain []*Class, missing string, err error) {
	for next := name; next != "" && next != object; {
		if slices.ContainsFunc(chain, func(c *Class) bool { return c.Name == next }) {
			return chain, "", &Error{
				Place: chain[0].Place, Problem: fmt.Sprintf("class %s extends itself: %s", quote(name), chainText(chain, next)), Advice: rebuild,
			}
		}
		if len(chain) == maxHierarchy {
			return chain, "", &Error{
				Place: chain[0].Place, Problem: fmt.Sprintf("class %s has more than %d superclasses", quote(name), maxHierarchy), Advice: rebuild,
			}
		}
		c, err := t.Class(next)
		if err == ErrMissing && len(chain) > 0 {
			return chain, next, nil
		}
		if err != nil {
			return chain, "", err
		}
		chain = append(chain, c)
		next = c.Super
	}
	return chain, "", nil
}

func chainText(chain []*Class, last string) string {
	var w strings.Builder
	for i, c := range chain {
		if i == 5 {
			w.WriteString("… > ")
			break
		}
		w.WriteString(quote(c.Name) + " > ")
	}
	return w.String() + quote(last)
}

// Is reports whether a class is another one, extends it or implements it. An error says that this is not known, because a
// class in between is missing or cannot be read; the first such class is named. Arrays are not looked into.
func (t *Types) Is(name, other string) (bool, error) {
	is, missing, err := t.is(name, other)
	if err == nil && missing != "" {
		err = fmt.Errorf("%s: %w", quote(missing), ErrMissing)
	}
	return is, err
}

// is is Is, with the first class that is missing.
func (t *Types) is(name, other string) (is bool, missing string, err error) {
	if other == object || other == name {
		return true, "", nil
	}
	c, err := t.Class(name)
	if err == ErrMissing {
		return false, name, nil
	}
	if err != nil {
		return false, "", err
	}
	above := t.above(c)
	if slices.Contains(above.names, other) {
		return true, "", nil
	}
	return false, above.missing, above.err
}

// above is what a class extends and implements, directly or not, without java.lang.Object.
type above struct {
	names   []string
	missing string // the first that is not found
	err     error  // of the first that cannot be read, or because there are too many; what follows these is not known
}

// above is computed once for each class that is kept: what a decoder asks for each object must not allocate.
func (t *Types) above(c *Class) *above {
	t.mu.Lock()
	if e := t.cache[c.Name]; e != nil && e.Value.(*cached).above != nil {
		defer t.mu.Unlock()
		return e.Value.(*cached).above
	}
	t.mu.Unlock()
	a := t.findAbove(c)
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.cache[c.Name]; e != nil && e.Value.(*cached).class == c {
		kept := e.Value.(*cached)
		kept.above = a
		weight := 64 + 16*len(a.names)
		kept.weight += weight
		t.size += weight
	}
	return a
}

func (t *Types) findAbove(c *Class) *above {
	a := &above{}
	seen := map[string]bool{c.Name: true, object: true}
	add := func(c *Class) {
		for _, s := range append([]string{c.Super}, c.Interfaces...) {
			if s != "" && !seen[s] {
				seen[s] = true
				a.names = append(a.names, s)
			}
		}
	}
	add(c)
	for i := 0; i < len(a.names); i++ {
		next, failed := t.Class(a.names[i])
		switch {
		case failed == ErrMissing:
			a.missing = cmp.Or(a.missing, a.names[i])
		case failed != nil:
			a.err = cmp.Or(a.err, failed)
		default:
			add(next)
		}
		if len(seen) > maxSupertypes {
			a.missing, a.err = "", &Error{
				Place: c.Place, Problem: fmt.Sprintf("class %s has more than %s superclasses and interfaces", quote(c.Name), number(maxSupertypes)), Advice: rebuild,
			}
			break
		}
	}
	return a
}

// Member is a field of an object: one that its class or a superclass declares.
type Member struct {
	Class *Class
	Field *Field
	// Type is the field's type with the variables replaced that subclasses give a type to.
	Type *Type
}

// Members returns the fields of the objects of a class, which are not static: those of the topmost class first, each class's in
// order of declaration. arguments are the types that the class's own variables stand for, if these are known: those of a field of
// the type Page<User>. missing is the first superclass that was not found: its fields and those above it are not there.
func (t *Types) Members(name string, arguments ...*Type) (members []Member, missing string, err error) {
	chain, missing, err := t.Chain(name)
	if err != nil {
		return nil, "", err
	}
	if len(chain) == 0 {
		return nil, missing, nil
	}
	bound := make([]bindings, len(chain))
	bound[0] = bind(chain[0], arguments)
	for i := 1; i < len(chain); i++ {
		if g := chain[i-1].Generic; g != nil && g.Super.Name == chain[i].Name {
			args := make([]*Type, len(g.Super.Args))
			for k, a := range g.Super.Args {
				args[k] = bound[i-1].in(a)
			}
			bound[i] = bind(chain[i], args)
		}
	}
	for i := len(chain) - 1; i >= 0; i-- {
		for k := range chain[i].Fields {
			if f := &chain[i].Fields[k]; !f.Modifiers.Has(Static) {
				members = append(members, Member{chain[i], f, bound[i].in(f.Type())})
			}
		}
	}
	return members, missing, nil
}

// IsFinal reports whether objects of a declared type can only be of that class: final classes, primitive types, and arrays of
// either. An error says that the class is not known.
func (t *Types) IsFinal(descriptor string) (bool, error) {
	base, isClass := strings.CutPrefix(strings.TrimLeft(descriptor, "["), "L")
	if !isClass {
		return true, nil
	}
	c, err := t.Class(strings.ReplaceAll(strings.TrimSuffix(base, ";"), "/", "."))
	if err != nil {
		return false, err
	}
	return c.Modifiers.Has(Final), nil
}
