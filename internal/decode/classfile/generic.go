package classfile

import "strings"

// Kind says what a type is.
type Kind uint8

const (
	Primitive Kind = iota // int, boolean, void …
	Object                // a class or interface, with or without type arguments
	Array
	Variable // a type variable: T
	Wildcard // ?
	Extends  // ? extends Elem
	Super    // ? super Elem
)

// Type is a Java type as it was declared, with type arguments. Types may share parts of themselves and must not be changed.
type Type struct {
	Kind Kind
	// Name is that of the primitive type, class or type variable; classes as Class.getName returns them.
	Name string
	// Args are the type arguments of an Object; none for a raw type.
	Args []*Type
	// Owner is the type that declares the class of an Object, where it has type arguments: Outer<T> in Outer<T>.Inner.
	Owner *Type
	// Elem is the component of an Array, or the bound of Extends and Super.
	Elem *Type
}

// TypeParameter declares a type variable.
type TypeParameter struct {
	Name string
	// Bounds are what it extends; none where that is only Object.
	Bounds []*Type
}

// ClassSignature is the generic declaration of a class.
type ClassSignature struct {
	Parameters []TypeParameter
	Super      *Type
	Interfaces []*Type
}

// String returns the type as Type.getTypeName does: java.util.List<? extends java.lang.Number>. It is cut after 16 KiB.
func (t *Type) String() string {
	var w strings.Builder
	t.write(&w)
	if w.Len() > maxTypeText {
		return w.String()[:maxTypeText] + "…"
	}
	return w.String()
}

func (t *Type) write(w *strings.Builder) {
	if w.Len() > maxTypeText {
		return
	}
	switch t.Kind {
	case Array:
		t.Elem.write(w)
		w.WriteString("[]")
		return
	case Wildcard:
		w.WriteByte('?')
		return
	case Extends, Super:
		w.WriteString(map[Kind]string{Extends: "? extends ", Super: "? super "}[t.Kind])
		t.Elem.write(w)
		return
	}
	if t.Owner != nil {
		t.Owner.write(w)
		w.WriteString(strings.TrimPrefix(t.Name, t.Owner.Name))
	} else {
		w.WriteString(t.Name)
	}
	for i, a := range t.Args {
		w.WriteString([2]string{"<", ", "}[min(i, 1)])
		a.write(w)
	}
	if len(t.Args) > 0 {
		w.WriteByte('>')
	}
}

// Descriptor returns the type without type arguments: [Ljava/lang/String; It is empty if a type variable or a wildcard does not tell
// the class.
func (t *Type) Descriptor() string {
	switch t.Kind {
	case Primitive:
		for c, p := range primitives {
			if p.Name == t.Name {
				return string(rune(c))
			}
		}
	case Object:
		return "L" + strings.ReplaceAll(t.Name, ".", "/") + ";"
	case Array:
		if elem := t.Elem.Descriptor(); elem != "" {
			return "[" + elem
		}
	}
	return ""
}

// bindings are the types that the variables of a class stand for.
type bindings map[string]*Type

// bind returns the bindings of a class's variables, as its subclass or a field gives them: a raw type binds none.
func bind(c *Class, args []*Type) bindings {
	if c.Generic == nil || len(args) != len(c.Generic.Parameters) {
		return nil
	}
	b := make(bindings, len(args))
	for i, p := range c.Generic.Parameters {
		b[p.Name] = args[i]
	}
	return b
}

// in returns the type with variables replaced. Time and memory grow with the type, not with what replaces its variables.
func (b bindings) in(t *Type) *Type {
	switch {
	case t == nil || len(b) == 0 || t.Kind == Primitive || t.Kind == Wildcard:
		return t
	case t.Kind == Variable:
		if bound := b[t.Name]; bound != nil {
			return bound
		}
		return t
	}
	elem, owner, args := b.in(t.Elem), b.in(t.Owner), t.Args
	for i, a := range t.Args {
		if n := b.in(a); n != a {
			if &args[0] == &t.Args[0] {
				args = append([]*Type(nil), t.Args...)
			}
			args[i] = n
		}
	}
	if elem == t.Elem && owner == t.Owner && (len(args) == 0 || &args[0] == &t.Args[0]) {
		return t
	}
	return &Type{Kind: t.Kind, Name: t.Name, Args: args, Owner: owner, Elem: elem}
}
