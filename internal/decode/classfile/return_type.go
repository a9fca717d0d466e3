package classfile

import (
	"slices"
	"strings"
)

// declared is a method of a class that others can call.
type declared struct {
	name, descriptor string
	generic          string // its signature, empty where that says no more than the descriptor
}

// ReturnType returns what a method of an interface or a class returns, with the type variables replaced that stand for a type there.
// parameters are the descriptors of its parameters without type arguments; an empty one stands for any type. The result is nil if no
// method, or several that return other types, may be meant, or if the method is in a superclass or an interface that was not found.
func (t *Types) ReturnType(class, method string, parameters []string) (*Type, error) {
	type level struct {
		name  string
		bound bindings
	}
	seen := map[string]bool{class: true}
	for queue := []level{{name: class}}; len(queue) > 0; queue = queue[1:] {
		c, err := t.Class(queue[0].name)
		if err == nil {
			var methods []declared
			if methods, err = t.declared(c.Name); err == ErrMissing {
				err = nil // the methods of the JDK's classes are not known without a JDK
			}
			if found, ok := returned(methods, method, parameters); ok && err == nil {
				return queue[0].bound.in(found), nil
			}
		}
		if err == ErrMissing && queue[0].name != class {
			continue
		}
		if err != nil {
			return nil, err
		}
		above := append([]string{c.Super}, c.Interfaces...)
		for i, name := range above {
			if name == "" || name == object || seen[name] {
				continue
			}
			if len(seen) == maxSupertypes {
				return nil, &Error{Place: c.Place, Problem: "class " + quote(class) + " has more than " + number(maxSupertypes) + " superclasses and interfaces", Advice: rebuild}
			}
			seen[name] = true
			next := level{name: name}
			if g := c.Generic; g != nil {
				of := g.Super
				if i > 0 && i <= len(g.Interfaces) {
					of = g.Interfaces[i-1]
				}
				if of != nil && of.Name == name && len(of.Args) > 0 {
					if s, err := t.Class(name); err == nil {
						args := make([]*Type, len(of.Args))
						for k, a := range of.Args {
							args[k] = queue[0].bound.in(a)
						}
						next.bound = bind(s, args)
					}
				}
			}
			queue = append(queue, next)
		}
	}
	return nil, nil
}

// returned returns the type that the method with a name and parameters returns; ok is false if there is none. The type is nil if there
// are several that return other types.
func returned(methods []declared, name string, parameters []string) (found *Type, ok bool) {
	for _, m := range methods {
		if m.name != name {
			continue
		}
		descriptor, _, _ := strings.Cut(m.descriptor[1:], ")")
		types, valid := splitDescriptor(descriptor)
		if !valid || !slices.EqualFunc(types, parameters, func(own, given string) bool { return given == "" || own == given }) {
			continue
		}
		signature := m.descriptor
		if m.generic != "" {
			signature = m.generic
		}
		t, err := parseReturnType(signature)
		if err != nil && m.generic != "" {
			t, err = parseReturnType(m.descriptor)
		}
		if err != nil || ok && (found == nil || found.String() != t.String()) {
			return nil, true
		}
		found, ok = t, true
	}
	return found, ok
}

// splitDescriptor returns the types of parameters.
func splitDescriptor(s string) (types []string, ok bool) {
	for p := (signature{s: s, plain: true}); p.at < len(s); {
		from := p.at
		if p.fieldType(0); p.err != nil {
			return nil, false
		}
		types = append(types, s[from:p.at])
	}
	return types, true
}

// declared returns the methods of a class that others can call. Its file is read again: few classes are asked for methods.
func (t *Types) declared(class string) ([]declared, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	data, place, err := t.data(class)
	if err != nil {
		return nil, err
	}
	var all []declared
	p := parser{r: &reader{b: data}, declared: &all}
	if p.class(); p.r.err != nil {
		return nil, located(place, p.r.err)
	}
	return all, nil
}
