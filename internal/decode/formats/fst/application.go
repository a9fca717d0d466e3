package fst

import (
	"fmt"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
)

// application is what a reader knows of the application's classes, and what it found of them in a body.
type application struct {
	d          *dialect
	classes    *classpath.Path // may be nil
	side       decode.Side
	known      [2]map[string]*class // of each side, by name
	declares   [2]map[string]*field // of each side, by descriptor, of top-level values
	distrusted *decode.Error        // what objects of the application fail with; nil if they are read
	varied     variation
	quiet      bool // nobody is told of classes
	numbers

	// Of one body.
	body      uint64
	used      []*class // of the class path, in the order in which their objects came
	stoppedIn *class   // where the first error occurred, nil if it was not in an object of the application
	stoppedAt *field   // may be nil
	sizeField int      // the last field named size
	// incomplete: reading stopped because something is not in the class path.
	incomplete bool
	misread    bool // a top-level value has a class that its declared type does not allow
	listed     bool // a list of registered classes said which class a number is
}

func (a *application) startBody() {
	a.body++
	a.used = a.used[:0]
	a.stoppedIn, a.stoppedAt, a.incomplete, a.settled, a.misread, a.listed = nil, nil, false, false, false, false
}

// use notes that a body has an object of a class.
func (a *application) use(cl *class) {
	if a.quiet {
		return
	}
	if cl.usedIn != a.body {
		if cl.usedIn == 0 {
			a.classes.Asked(cl.name, true)
		}
		cl.usedIn = a.body
		a.used = append(a.used, cl)
	}
}

// missing notes that a body has an object of a class that was not found.
func (a *application) missing(name string) {
	if a.classes != nil && decode.IsClassName(name) {
		a.incomplete = true
		a.ask(name)
	}
}

// ask notes that a class was not found.
func (a *application) ask(name string) {
	if !a.quiet {
		a.classes.Asked(decode.JavaName(name), false)
	}
}

// maxKnown bounds the classes that are kept.
const maxKnown = 4096

// named returns the class with a JVM name.
func (a *application) named(name string) *class {
	if a.classes == nil {
		return a.d.classOf(name)
	}
	t := a.known[a.side]
	if c := t[name]; c != nil {
		return c
	}
	c := a.d.classOf(name)
	if c.layout == unknown && name[0] != '[' && decode.IsClassName(name) {
		a.describe(c)
	}
	if len(t) >= maxKnown {
		clear(t)
	}
	if t == nil {
		t = make(map[string]*class)
		a.known[a.side] = t
	}
	t[name] = c
	return c
}

const (
	vector    = "java.util.Vector"
	hashtable = "java.util.Hashtable"
)

// describe finds out how objects of a class are written.
func (a *application) describe(c *class) {
	types := a.classes.Types(a.side)
	if k := strings.LastIndexByte(c.name, '.'); strings.HasPrefix(c.name[k+1:], "$Proxy") {
		c.plan = &plan{fields: []field{{name: "h", own: "h", declared: "java.lang.reflect.InvocationHandler", simple: "InvocationHandler"}}}
		return
	}
	chain, _, err := types.Chain(c.name)
	if err != nil {
		return
	}
	for _, super := range chain {
		if l := a.d.inherited[super.Name]; l != unknown {
			c.layout = l
			if p := newPlan(types, c.name, a.d); super.Name == vector && c.name != vector && p != nil {
				c.emulated = &class{name: c.name, plan: p}
			}
			return
		}
	}
	c.plan = newPlan(types, c.name, a.d)
}

// WrittenBy implements decode.ClassReader.
func (a *application) WrittenBy(s decode.Side) {
	if !a.classes.Sided() {
		s = 0
	}
	a.side = s
}

// Distrust implements decode.ClassReader.
func (a *application) Distrust(err *decode.Error) { a.distrusted = err }

// Misfits implements decode.ClassReader.
func (a *application) Misfits(err *decode.Error) bool {
	if len(a.used) == 0 && !a.listed && !a.misread || a.distrusted != nil {
		return false
	}
	switch err.Cause {
	case decode.Malformed, decode.Limit:
		return true
	case decode.Unsupported:
		return !a.incomplete && len(a.used) > 0
	}
	return false
}

// Listed implements decode.ListReader.
func (a *application) Listed() bool { return a.listed }

// SetRefuted implements decode.ListReader: a body that fits no order of a list says so itself.
func (a *application) SetRefuted(bool) {}

// Refuted implements decode.ListReader.
func (a *application) Refuted() bool { return false }

// ResultType implements decode.ResultReader.
func (a *application) ResultType(s decode.Side, service, method string, parameters []string) string {
	return a.classes.ReturnType(s, service, method, parameters, false)
}

// declaredAs returns what holds for a top-level value with a descriptor, nil if that is nothing.
func (a *application) declaredAs(descriptor string) *field {
	if a.classes == nil || len(descriptor) < 2 {
		return nil
	}
	t := a.declares[a.side]
	f, ok := t[descriptor]
	if !ok {
		if len(t) >= maxKnown || t == nil {
			t = make(map[string]*field)
			a.declares[a.side] = t
		}
		f = &field{declared: className(descriptor), top: true}
		t[descriptor] = f
	}
	return f
}

// asDeclared takes what stands in a field because of its declaration: an object of the declared class, one of the predicted
// classes, or one of the texts that the field's annotation has.
func (r *Reader) asDeclared(tag byte, p decode.Place, f *field) bool {
	cl := f.class
	switch {
	case tag == tagOneOf && len(f.oneOf) > 0:
		k := int(r.Byte("the number of a text"))
		if k >= len(f.oneOf) && r.OK() {
			r.FailAt(p.Start, decode.Malformed, fmt.Sprintf("one of %d texts", len(f.oneOf)), fmt.Sprint(k))
		}
		r.Words(p, decode.String, func() string { return f.oneOf[k] })
		return true
	case tag == tagTyped && !f.anything:
		if cl == nil {
			cl = r.named(f.declared)
			f.class = cl
		}
		if cl.plan != nil && cl.plan.emulated || cl.layout == array {
			return false
		}
	case tag > 0 && int(tag) <= len(f.predicted) && !r.d.one:
		cl = r.named(f.predicted[tag-1])
	default:
		return false
	}
	r.object1(cl, p, f)
	return true
}

// object1 takes an object after the one byte that stands for its class; f is nil where that does not follow from a field.
func (r *Reader) object1(cl *class, p decode.Place, f *field) {
	r.rememberNext(p)
	r.note(p.Start, cl)
	p.Head = r.Off
	if cl.layout == plainText {
		r.plainText(p, f)
		return
	}
	r.data(cl, p)
}

// element returns what holds for the elements of an array in a field.
func (f *field) element() *field {
	if f == nil || len(f.oneOf)+len(f.predicted) == 0 && f.declared != object && !f.thin && !f.compressed {
		return nil
	}
	if f.elements == nil {
		f.elements = &field{
			declared: object, anything: f.declared != object, oneOf: f.oneOf, predicted: f.predicted, thin: f.thin, compressed: f.compressed,
		}
	}
	return f.elements
}

const object = "java.lang.Object"

// mustFit fails if a class cannot be that of the value of a field.
func (r *Reader) mustFit(p decode.Place, f *field, name string) {
	if f == nil || name == f.declared || name == f.accepted || f.declared == object || f.anything || !r.OK() {
		return
	}
	switch {
	case r.fits(name, f.declared):
	case f.top && !r.listed && len(r.used) == 0 && isJDK(name) && isJDK(f.declared):
		return // nothing depends on what the user brought
	case f.top && r.distrusted != nil && !isJDK(name):
		r.Begin(p, decode.Object, name)
		r.FailWith(r.distrusted)
		return
	case f.top:
		r.misread = true
		r.FailAt(p.Start, decode.Malformed, "a "+decode.JavaName(f.declared), "a "+decode.JavaName(name))
		return
	default:
		r.FailAt(p.Start, decode.Malformed, "a "+decode.JavaName(f.declared)+" in field "+f.name, "a "+decode.JavaName(name))
		return
	}
	f.accepted = name
}

// fits reports whether objects of a class can be where another one is declared, as far as that is known.
func (r *Reader) fits(name, declared string) bool {
	switch {
	case name == "", name[0] == '#' || declared == object: // "" is the component of [L;
		return true
	case name[0] == '[' && declared[0] == '[':
		return len(name) < 2 || len(declared) < 2 || r.fits(component(name), component(declared))
	case name[0] == '[':
		return declared == "java.io.Serializable" || declared == "java.lang.Cloneable"
	case declared[0] == '[' || len(name) == 1 || len(declared) == 1: // primitive types are the components of arrays
		return name == declared
	}
	types := r.classes.Types(r.side)
	if is, err := types.Is(name, declared); is || err != nil {
		return true
	}
	// An object may have written another one instead of itself.
	if s, err := types.ObjectStream(name); err != nil || s.ReadResolve || s.Externalizable {
		return true
	}
	s, err := types.ObjectStream(declared)
	return err != nil || s.WriteReplace
}

func isJDK(name string) bool { return strings.HasPrefix(name, "java.") }

// component returns the class of the elements of an array class.
func component(name string) string {
	name = name[1:]
	if strings.HasPrefix(name, "L") {
		return strings.TrimSuffix(name[1:], ";")
	}
	return name
}
