package kryo

import (
	"fmt"

	"dubbo-wire/internal/decode"
)

// place is where reading is in an object of the application.
type place struct {
	class  *class
	fields []field
	field  int
}

// fields takes an object by the fields of its class.
func (r *Reader) fields(cl *class, p decode.Place) {
	plan := cl.fieldsOf()
	if plan.missing != "" {
		r.failMissing(cl, plan.missing, p)
		return
	}
	if r.distrusted(cl, p) {
		return
	}
	r.use(cl)
	r.open(p, decode.Object, cl)
	if !r.Enter() {
		return
	}
	outer := r.within
	if r.d.isKryo224 {
		r.variables = r.enterGeneric(cl)
		r.planned(cl, plan)
		r.leaveGeneric(cl)
	} else if args := r.generics.next(); args != nil {
		before := r.generics.pushVariables(&plan.variables, args)
		r.planned(cl, plan)
		r.generics.variables = r.generics.variables[:before]
	} else {
		r.planned(cl, plan)
	}
	r.generics.pop()
	r.Leave()
	if r.OK() {
		r.within = outer
	}
	r.Close()
}

// planned takes the fields of an object.
func (r *Reader) planned(cl *class, plan *plan) {
	if r.variation != nil && r.variation.Class == cl.name {
		plan = r.vary(plan)
	}
	switch cl.layout {
	case tagged:
		r.tagged(cl, plan)
		return
	case compatible:
		r.compatible(cl, plan)
		return
	case versioned:
		r.versioned(cl, plan)
		return
	}
	if r.counts() {
		r.countFields(cl, plan)
		r.endTally()
		return
	}
	variables := r.variables
	for i := range plan.fields {
		r.within = place{cl, plan.fields, i}
		if r.field(&plan.fields[i], variables); !r.OK() {
			return
		}
	}
}

// field takes a field.
func (r *Reader) field(f *field, variables bindings) {
	p := r.At(decode.ByField, f.name, 0)
	switch {
	case f.problem != "":
		r.failField(f)
	case f.kind == primitiveField:
		r.primitive(f, p)
	case f.generic != nil:
		r.genericField(f, p)
	case r.d.isKryo224:
		r.field224(f, variables, p)
	default:
		r.declared(f.class, f.kind, f, p)
	}
}

// failField stops at a field that cannot be read.
func (r *Reader) failField(f *field) {
	r.Fail(decode.Unsupported, fmt.Sprintf("field %s, written by %s", f.name, f.problem), "")
}

// primitive takes a number or a boolean.
func (r *Reader) primitive(f *field, p decode.Place) {
	switch {
	case !f.fixed:
		r.scalar(f.class, p)
	case f.class.layout == boxInt:
		r.Integer(p, int64(int32(r.fixed(4, "an int"))))
	default:
		r.Integer(p, int64(r.fixed(8, "a long")))
	}
}

// genericField takes a field of an object that Kryo 5 wrote.
func (r *Reader) genericField(f *field, p decode.Place) {
	cl, kind := r.genericClass(f)
	r.generics.push(f.generic)
	r.declared(cl, kind, f, p)
	r.generics.pop()
}

// genericClass returns the class that a field has in the object that is being read, and what stands before its data.
func (r *Reader) genericClass(f *field) (*class, fieldKind) {
	if f.kind != finalField {
		if c := r.generics.resolve(f.generic); c != nil && c != f.class {
			if f.generic.dims > 0 {
				c = r.library.arrayClass(c, 1)
			}
			if k := c.kind(); k != openField {
				return c, k
			}
		}
	}
	return f.class, f.kind
}

// declared takes an object where a class is declared. f is the field that it is in, or says of an element how it is written.
func (r *Reader) declared(cl *class, kind fieldKind, f *field, p decode.Place) {
	switch {
	case kind == openField:
		r.assignable(cl, f, p)
	case kind == unsureField:
		if b, ok := r.Peek(); ok && b == idNull {
			r.Off++
			r.Scalar(p, decode.Null) // the same byte in both
			return
		}
		r.ask(cl)
		r.FailClass("whether it is final and the fields of class", cl.name)
	case f.notNull:
		r.nonNull(r.library.writtenBy(cl, f.by), p)
	default:
		r.nullable(r.library.writtenBy(cl, f.by), p)
	}
}

// anyElement and presentElement are elements of which nothing special is known, and of which none is null.
var anyElement, presentElement = field{}, field{notNull: true}

// assignable takes an object with its class, which must be one that the declared type allows.
func (r *Reader) assignable(declared *class, f *field, p decode.Place) {
	cl := r.class(&p)
	switch {
	case !r.OK():
	case cl == nil:
		r.Scalar(p, decode.Null)
	case !r.fits(cl, declared):
		r.FailAt(p.Start, decode.Malformed, "an object of "+declared.name, "one of "+cl.name)
	default:
		r.nonNull(r.library.writtenBy(cl, f.by), p)
	}
}

// argument takes a top-level object with its class. declared, which may be nil, is the type of the parameter or the result.
func (r *Reader) argument(declared *class, p decode.Place) {
	cl := r.class(&p)
	switch {
	case !r.OK():
	case cl == nil:
		r.Scalar(p, decode.Null)
	case declared == nil || !r.cannotBe(cl, declared):
		r.nonNull(cl, p)
	case r.distrust != nil:
		r.open(p, decode.Object, cl)
		r.FailWith(r.distrust)
	default:
		r.misread = true
		// Nothing before the first value can have been misread. Other lists, and other orders, are tried elsewhere.
		first := p.Index == 0 && p.Name != "attachments"
		r.refuted = r.refuted || first && r.listed && len(r.library.numbers.tables) == 1 && !r.d.isKryo5
		r.FailAt(p.Start, decode.Malformed, "an object of "+declared.name, "one of "+cl.name)
	}
}

// declaredAs returns the class of a descriptor, nil if there is none or without classes of the application.
func (r *Reader) declaredAs(descriptor string) *class {
	if r.library == nil || descriptor == "" {
		return nil
	}
	c, ok := r.declares[descriptor]
	if !ok {
		switch last := len(descriptor) - 1; {
		case last == 0:
			c = elements[descriptor[0]]
		case descriptor[0] == '[', descriptor[0] == 'L' && descriptor[last] == ';':
			c = r.library.describe(descriptor)
		}
		if len(r.declares) >= maxClasses || r.declares == nil {
			r.declares = map[string]*class{}
		}
		r.declares[descriptor] = c
	}
	return c
}

// cannotBe reports whether a top-level object cannot have a class where another one is declared. It is not asked of JDK classes of
// a body in which nothing else depends on what the user brought.
func (r *Reader) cannotBe(cl, declared *class) bool {
	if cl == declared || !r.listed && !r.strict() && cl.model == nil && declared.model == nil {
		return false
	}
	if cl.box() && declared.box() {
		return cl.layout != declared.layout
	}
	if r.fits(cl, declared) {
		return false
	}
	if isJDK(cl.name) && isJDK(declared.name) && cl.elem == nil && declared.elem == nil {
		_, err := r.library.types.Is(cl.name, declared.name)
		return err == nil // else one of them is not known
	}
	return true
}

// fits reports whether a declared type allows a class, as far as that is known.
func (r *Reader) fits(cl, declared *class) bool {
	if cl == declared || r.library == nil {
		return true
	}
	key := [2]*class{cl, declared}
	is, ok := r.allowed[key]
	if !ok {
		if len(r.allowed) >= maxClasses || r.allowed == nil {
			r.allowed = map[[2]*class]bool{}
		}
		is = r.library.is(cl, declared)
		r.allowed[key] = is
	}
	return is
}

// components takes a record that Kryo 5 wrote: primitive types as boxes.
func (r *Reader) components(cl *class, p decode.Place) {
	plan := cl.fieldsOf()
	if r.distrusted(cl, p) {
		return
	}
	r.use(cl)
	r.container(p, decode.Object, cl, func() {
		outer := r.within
		r.planned(cl, plan)
		if r.OK() {
			r.within = outer
		}
	})
}

// proxied takes a proxy: its invocation handler and the interfaces.
func (r *Reader) proxied(cl *class, p decode.Place) {
	r.container(p, decode.Object, cl, func() {
		r.object(r.At(decode.ByField, "h", 0))
		if r.OK() {
			r.reference(r.library.class("[Ljava.lang.Class;"), r.At(decode.ByField, "interfaces", 0), false)
		}
	})
}

// failMissing stops at an object of which a superclass or interface is not known.
func (r *Reader) failMissing(cl *class, missing string, p decode.Place) {
	r.open(p, decode.Object, cl)
	if m := cl.model; m != nil {
		r.ask(m.in.class(missing))
	}
	r.FailClass("the fields of class "+cl.name+", which needs class", missing)
}

// failModel stops at an object that the class path does not help with, and reports whether it is one.
func (r *Reader) failModel(cl *class, p decode.Place) bool {
	m := cl.model
	switch {
	case m == nil:
		return false
	case cl.layout == unknown && m.file == nil:
		return false
	case cl.layout == unknown:
		r.failMissing(cl, m.missing, p)
	case cl.layout == custom:
		r.open(p, decode.Object, cl)
		r.Fail(decode.Unsupported, "the data of class "+cl.name, "bytes that "+m.custom+" wrote")
	case r.distrusted(cl, p):
	case cl.layout == javaOnly:
		r.open(p, decode.Object, cl)
		r.misread = true
		r.Fail(decode.Malformed, "a Java serialization stream for class "+cl.name, "other bytes")
	case cl.layout == noObjects:
		r.open(p, decode.Object, cl)
		r.misread = true
		r.Fail(decode.Malformed, "an object", cl.name+", which is abstract")
	default:
		return false
	}
	return true
}

// genericElements takes the elements of a collection whose declared type says that they are of a final class.
func (r *Reader) genericElements(n int, cl *class, hasNull bool) {
	if cl.kind() == unsureField {
		r.ask(cl)
		r.FailClass("whether it is final and the fields of class", cl.name)
		return
	}
	r.elementsOfClass(n, cl, hasNull)
}

// genericEntries takes the entries of a map whose declared type has type arguments.
func (r *Reader) genericEntries(cl *class, n int, args []*generic) {
	key, value := r.entryClasses(args)
	r.boundEntries(cl, n, key, value, args[0])
	r.generics.pop()
}

// entryClasses returns the classes of which all keys and all values of a map with type arguments are, nil where these do not say it.
func (r *Reader) entryClasses(args []*generic) (key, value *class) {
	if key = r.generics.resolve(args[0]); key != nil && key.kind() == openField {
		key = nil
	}
	if len(args) > 1 {
		if value = r.generics.resolve(args[1]); value != nil && value.kind() == openField {
			value = nil
		}
	}
	return key, value
}

// boundEntries takes the entries of a map. key and value are the classes of which all keys and values are, or nil; of is the declared type
// of the keys, or nil.
func (r *Reader) boundEntries(cl *class, n int, key, value *class, of *generic) {
	e := cl.elements
	for i := 0; i < n && r.OK(); i++ {
		node := r.NextNode()
		if of != nil {
			r.generics.push(of)
		}
		if p := r.At(decode.ByKey, "", i); e != nil && e.key != nil {
			r.presentOrNull(e.key, e.keysPresent, p)
		} else {
			r.element(key, e != nil && e.keysPresent, p)
		}
		if of != nil {
			r.generics.pop()
		}
		if p := r.At(decode.ByEntry, r.NameKey(node), i); e != nil && e.value != nil {
			r.presentOrNull(e.value, e.valuesPresent, p)
		} else {
			r.element(value, e != nil && e.valuesPresent, p)
		}
	}
}

// element takes an object of a final class, or null, if the class is not nil, else an object with its class.
func (r *Reader) element(cl *class, present bool, p decode.Place) {
	switch {
	case cl == nil:
		r.object(p)
	case present:
		r.declared(cl, cl.kind(), &presentElement, p)
	default:
		r.declared(cl, cl.kind(), &anyElement, p)
	}
}

// members takes the fields of a JDK class whose types are type variables of the class, in this order.
func (r *Reader) members(cl *class, names ...string) {
	args := r.generics.next()
	for i, name := range names {
		var of *class
		if i < len(args) && cl.name != "java.util.Optional" {
			of = r.generics.resolve(args[i])
		}
		p := r.At(decode.ByField, name, 0)
		if of != nil && of.kind() != openField {
			r.declared(of, of.kind(), &anyElement, p)
		} else {
			r.object(p)
		}
	}
	r.generics.pop()
}
