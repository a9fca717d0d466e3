package kryo

import (
	"slices"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classfile"
)

// Kryo 2.24, which Dubbox brings, leaves class ids out where the declared type of a field says by its type arguments that values are
// of a final class. It differs from Kryo 5 in how it finds that out:
//
//   - Before a field is written, its type arguments are given to the serializer of its value (Serializer.setGenerics), of which an instance of Kryo has one for
//     each class. Collections and maps forget them with the next object. Arrays pass them on to their elements. FieldSerializer keeps them: objects of a generic
//     class that come later, and are no field, are written with the arguments of the last field.
//   - Type variables are known by their names alone. A variable without an argument has that of the innermost object around it whose class has one of this name.
//
// This file does the same step by step, from the writer's side. What an instance of Kryo wrote before a body is not known. A generic
// object before which no field gave arguments to its class is read as if there were none, as the receiver does.
//
// Sources: kryo 2.24.0 (FieldSerializer, FieldSerializerGenericsUtil, ObjectField, CollectionSerializer, MapSerializer, DefaultArraySerializers, Kryo),
// kryo-serializers 0.26, which does not write the flags of a Pattern, and Dubbox 2.8.4 (KryoFactory, CompatibleKryo), which writes enums by Java serialization.

// SetOlder implements decode.OlderReader: Dubbo 2.6 and 2.7 bring Kryo 4, and Dubbox Kryo 2.24.
func (r *Reader) SetOlder(older bool) {
	d := r.d
	switch {
	case older && !r.untagged && d == kryo4:
		d = kryo224
	case !older && d == kryo224:
		d = kryo4
	default:
		return
	}
	r.d, r.trial, r.probe = d, nil, nil
}

// MayDiffer implements decode.OlderReader.
func (r *Reader) MayDiffer() bool {
	return (r.d.isKryo224 || r.d == kryo4 && !r.untagged) && (r.pattern || r.misread || r.strict())
}

// binding is what a type variable stands for.
type binding struct {
	variable string
	class    *class
}

// bindings are those of type variables with different names, those of an inner object before those of an outer one.
type bindings []binding

func (b bindings) find(variable string) *class {
	for i := range b {
		if b[i].variable == variable {
			return b[i].class
		}
	}
	return nil
}

// with returns b followed by what it does not hide of outer.
func (b bindings) with(outer bindings) bindings {
	if len(b) == 0 {
		return outer
	}
	all := b[:len(b):len(b)]
	for _, o := range outer {
		if b.find(o.variable) == nil {
			all = append(all, o)
		}
	}
	return all
}

// serializerState is what a serializer of Kryo 2.24 keeps.
type serializerState struct {
	// args are the last type arguments, nil for none. Single ones may be nil.
	args []*class
	// own are the variables of the class, all those that its fields see. They are as of the last time that args were set.
	own, all bindings
}

// kept is what the serializers of an instance of Kryo 2.24 keep.
type kept struct {
	states map[*class]*serializerState
	// scopes are the variables that are visible in each object around the one that is read.
	scopes []bindings
	// args are the type arguments for the collection or map that is next, now those of the one whose content begins.
	args, now []*class
}

func (k *kept) reset() {
	if len(k.states) > 0 {
		clear(k.states)
	}
	clear(k.scopes)
	k.scopes, k.args, k.now = k.scopes[:0], nil, nil
}

func (k *kept) scope() bindings {
	if n := len(k.scopes); n > 0 {
		return k.scopes[n-1]
	}
	return nil
}

func (k *kept) state(cl *class) *serializerState {
	s := k.states[cl]
	if s == nil {
		if k.states == nil {
			k.states = map[*class]*serializerState{}
		}
		s = &serializerState{}
		k.states[cl] = s
	}
	return s
}

// setGenerics gives type arguments to the serializer of a class.
func (r *Reader) setGenerics(cl *class, args []*class) {
	if !r.d.isKryo224 || r.library == nil {
		return
	}
	r.kept.args = nil
	switch cl.layout {
	case collection, noNulls, treeSet, queue, mapping, treeMap, skipList:
		r.kept.args = args
	case array:
		if args != nil || r.kept.states[cl] != nil {
			r.kept.state(cl).args = args
		}
	case object, optional:
		if variables := cl.variables(); len(variables) > 0 {
			s := r.kept.state(cl)
			s.args = args
			s.bind(variables, r.kept.scope())
		}
	}
}

// bind finds out what the type variables of a class stand for.
func (s *serializerState) bind(variables []string, outer bindings) {
	s.own = nil
	for i, v := range variables {
		var c *class
		if i < len(s.args) {
			c = s.args[i]
		} else {
			c = outer.find(v)
		}
		if c != nil {
			s.own = append(s.own, binding{v, c})
		}
	}
	s.all = s.own.with(outer)
}

// variables returns the names of the type variables of a class whose fields Kryo 2.24 writes.
func (c *class) variables() []string {
	switch {
	case c.layout == optional:
		return optionalVariable
	case c.model == nil:
		return nil
	}
	return c.fieldsOf().parameters
}

// optionalVariable is that of Optional and AtomicReference, by a name that no other class uses.
var optionalVariable = []string{"optional"}

// enterGeneric begins an object with fields and returns what their type variables stand for. leaveGeneric ends it.
func (r *Reader) enterGeneric(cl *class) bindings {
	variables := cl.variables()
	if len(variables) == 0 {
		return nil
	}
	s := r.kept.state(cl)
	if s.args != nil {
		s.bind(variables, r.kept.scope())
	}
	r.kept.scopes = append(r.kept.scopes, s.own.with(r.kept.scope()))
	return s.all
}

func (r *Reader) leaveGeneric(cl *class) {
	if len(cl.variables()) > 0 && len(r.kept.scopes) > 0 {
		r.kept.scopes = r.kept.scopes[:len(r.kept.scopes)-1]
	}
}

// generic224 is the declared type of a field that is a type variable or has type arguments.
type generic224 struct {
	variable string
	args     []argument224
	fixed    []*class // the arguments, if they have no type variables
}

// argument224 is a type argument.
type argument224 struct {
	class *class
	// variable is the name of a type variable; if array is set, the argument is an array of it.
	variable string
	array    bool
}

// generic224 returns the declared type of a field, nil if nothing is known of its arguments. hasVariables says whether the class whose objects are
// written has type variables of its own: if not, Kryo does not look for those of its superclasses.
func (l *library) generic224(t *classfile.Type, hasVariables bool) *generic224 {
	g := new(generic224)
	g.args, g.variable = l.arguments224(t, hasVariables)
	if g.args == nil && g.variable == "" {
		return nil
	}
	if !slices.ContainsFunc(g.args, func(a argument224) bool { return a.variable != "" }) {
		g.fixed, g.args = l.resolve224(g.args, nil), nil
	}
	return g
}

func (l *library) arguments224(t *classfile.Type, hasVariables bool) (args []argument224, variable string) {
	for t.Kind == classfile.Array {
		if t = t.Elem; t.Kind == classfile.Variable {
			if !hasVariables {
				return nil, ""
			}
			return []argument224{{variable: t.Name}}, ""
		}
	}
	if t.Kind == classfile.Variable {
		if hasVariables {
			variable = t.Name
		}
		return nil, variable
	}
	for _, a := range t.Args {
		var arg argument224
		switch a.Kind {
		case classfile.Object:
			arg.class = l.class(a.Name)
		case classfile.Variable:
			if hasVariables {
				arg.variable = a.Name
			}
		case classfile.Wildcard, classfile.Extends, classfile.Super:
			arg.class = l.class("java.lang.Object")
		case classfile.Array:
			switch inner := a.Elem; {
			case !isGeneric(a):
				arg.class = l.typeClass(a)
			case inner.Kind == classfile.Variable && hasVariables:
				arg.variable, arg.array = inner.Name, true
			}
		}
		args = append(args, arg)
	}
	if len(args) == 0 || args[0] == (argument224{}) {
		return nil, ""
	}
	return args, ""
}

// resolve224 returns the classes of type arguments, nil if the first is not known.
func (l *library) resolve224(args []argument224, b bindings) []*class {
	if len(args) == 0 {
		return nil
	}
	classes := make([]*class, len(args))
	for i, a := range args {
		c := a.class
		if a.variable != "" {
			if c = b.find(a.variable); c != nil && a.array {
				c = l.arrayClass(c, 1)
			}
		}
		if c == nil && i == 0 {
			return nil
		}
		classes[i] = c
	}
	return classes
}

// field224 takes a field of an object that Kryo 2.24 wrote.
func (r *Reader) field224(f *field, b bindings, p decode.Place) {
	cl, kind := f.class, f.kind
	var args []*class
	switch g := f.generic224; {
	case g == nil:
	case g.variable != "":
		if c := b.find(g.variable); c != nil {
			cl, kind, args = c, c.kind(), []*class{c}
		}
	case g.args != nil:
		args = r.library.resolve224(g.args, b)
	default:
		args = g.fixed
	}
	switch kind {
	case openField:
		switch of := r.class(&p); {
		case !r.OK():
		case of == nil:
			r.Scalar(p, decode.Null)
		case !r.fits(of, f.class):
			r.FailAt(p.Start, decode.Malformed, "an object of "+f.class.name, "one of "+of.name)
		default:
			r.setGenerics(of, args)
			r.nonNull(of, p)
		}
	case finalField:
		r.setGenerics(cl, args)
		r.declared(cl, kind, f, p)
	default:
		r.declared(cl, kind, f, p)
	}
}

// finalArgument returns the class of a type argument if Kryo 2.24 leaves it out before elements, else nil.
func finalArgument(args []*class, i int) *class {
	if i >= len(args) || args[i] == nil || args[i].kind() == openField {
		return nil
	}
	return args[i]
}

// elementsOf takes the elements of a collection with type arguments.
func (r *Reader) elementsOf(n int, args []*class) {
	if c := finalArgument(args, 0); c != nil {
		r.genericElements(n, c, true)
		return
	}
	r.elements(n)
}

// entriesOf takes the entries of a map with type arguments.
func (r *Reader) entriesOf(n int, args []*class) {
	key, value := finalArgument(args, 0), finalArgument(args, 1)
	for i := 0; i < n && r.OK(); i++ {
		node := r.NextNode()
		r.element(key, false, r.At(decode.ByKey, "", i))
		r.element(value, false, r.At(decode.ByEntry, r.NameKey(node), i))
	}
}

// array224 takes the elements of an array.
func (r *Reader) array224(cl *class, n int) {
	var args []*class
	if s := r.kept.states[cl]; s != nil {
		args = s.args
	}
	if cl.elem.final && n > 0 {
		r.setGenerics(cl.elem, args)
	}
	for i := 0; i < n && r.OK(); i++ {
		if q := r.At(decode.ByIndex, "", i); cl.elem.final {
			r.nullable(cl.elem, q)
		} else if c := r.class(&q); c == nil && r.OK() {
			r.Scalar(q, decode.Null)
		} else if r.OK() {
			r.setGenerics(c, args)
			r.nonNull(c, q)
		}
	}
}

// optional224 takes the value of an Optional or AtomicReference.
func (r *Reader) optional224(cl *class) {
	b := r.enterGeneric(cl)
	f := field{name: "value", class: r.library.class("java.lang.Object"), kind: openField, generic224: &generic224{variable: optionalVariable[0]}}
	r.field224(&f, b, r.At(decode.ByField, f.name, 0))
	r.leaveGeneric(cl)
}
