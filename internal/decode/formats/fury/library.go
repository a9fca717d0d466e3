package fury

import (
	"strings"
	"sync"
	"sync/atomic"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classfile"
	"dubbo-wire/internal/decode/classpath"
)

// library is the classes of one side's class path as Fury writes them. Readers share it; a nil library has only the registered
// classes.
type library struct {
	path  *classpath.Path
	types *classfile.Types
	tags  bool // compatible mode of 0.2.0: fields have tags
	v010  bool
	share bool // compatible mode of 0.10: documents define their classes
	// registered are the classes that have numbers.
	registered []*class

	lambda                 sync.Once
	lambdaFury, lambdaFory []field

	mu      sync.Mutex
	classes map[string]*class
	known   map[string]*class  // the registered classes by name
	ids     map[string]int     // their numbers
	fory    map[*field][]field // the same fields in the order of Fory, by the first one; nil if both orders are the same
}

// maxClasses bounds the classes that a library keeps.
const maxClasses = 1 << 14

func newLibrary(p *classpath.Path, s decode.Side, like *Reader) *library {
	l := &library{path: p, types: p.Types(s), tags: like.tags || like.meta, v010: like.v010, share: like.meta, registered: like.table(), classes: map[string]*class{}, known: map[string]*class{}, ids: map[string]int{}, fory: map[*field][]field{}}
	for id, c := range l.registered {
		if c == nil {
			continue
		}
		l.ids[c.name] = id
		if id > 3 && (c.layout != unknown || id < firstPrimitive+9) {
			l.known[c.name] = c
		}
	}
	return l
}

// model is what the class path says of a class.
type model struct {
	in   *library
	file *classfile.Class
	// missing is the first superclass or interface that was not found.
	missing string
	// constants are those of an enum, by ordinal, and declares is its name: that of a constant with a body is another one.
	constants []string
	declares  string
	// form says how an object that is written as a Java stream is shown.
	form form
	// component is that of an array, and of its declared form.
	component *declared

	asked atomic.Bool
	once  sync.Once
	plan  plan
}

// form is how an object of a class that writes itself is shown.
type form uint8

const (
	ofFields form = iota
	ofElements
	ofEntries
)

// class returns the class with a JVM name.
func (l *library) class(name string) *class {
	if c := l.known[name]; c != nil {
		return c
	}
	l.mu.Lock()
	c := l.classes[name]
	l.mu.Unlock()
	if c != nil {
		return c
	}
	c = l.resolve(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	if first := l.classes[name]; first != nil {
		return first
	}
	if len(l.classes) < maxClasses {
		l.classes[name] = c
	}
	return c
}

// resolve returns a class that is not registered, or whose registered form is not known.
func (l *library) resolve(name string) *class {
	c := &class{name: name, id: -1, model: &model{in: l}}
	if id, ok := l.ids[name]; ok {
		c.id = id
	}
	if strings.HasPrefix(name, "[") {
		c.layout, c.final = arrayOf, true
		if base := strings.TrimLeft(name, "["); l.v010 && len(base) > 2 && base[0] == 'L' {
			c.final = l.class(base[1 : len(base)-1]).final
		}
		return c
	}
	file, err := l.types.Class(name)
	if err != nil {
		c.unsure = true
		return c
	}
	m := c.model
	m.file = file
	c.final = file.Modifiers.Has(classfile.Final)
	if l.share && c.id < 0 {
		c.final = false // its definition is written
	}
	c.layout = l.serializer(c)
	if c.layout == constant {
		c.final = c.final || l.v010
		for !file.IsEnum() && file.Super != "" {
			if file, err = l.types.Class(file.Super); err != nil {
				c.layout = unknown
				return c
			}
		}
		m.constants, m.declares = file.Constants(), file.Name
	}
	return c
}

// describe returns the class of a JVM field descriptor that is not primitive.
func (l *library) describe(descriptor string) *class {
	if strings.HasPrefix(descriptor, "L") {
		descriptor = descriptor[1 : len(descriptor)-1]
	}
	return l.class(strings.ReplaceAll(descriptor, "/", "."))
}

// childLists and childMaps are the classes whose subclasses are written as they are, with the fields of the subclasses before the
// elements.
var (
	childLists = map[string]bool{"java.util.ArrayList": true, "java.util.LinkedList": true, "java.util.ArrayDeque": true, "java.util.Vector": true, "java.util.HashSet": true}
	childMaps  = map[string]bool{"java.util.HashMap": true, "java.util.LinkedHashMap": true, "java.util.concurrent.ConcurrentHashMap": true}
)

// serializer returns the layout of a class as ClassResolver.getSerializerClass chooses its serializer.
func (l *library) serializer(c *class) layout {
	f, m := c.model.file, c.model
	is := func(name string) bool {
		yes, err := l.types.Is(f.Name, name)
		if err != nil && m.missing == "" {
			m.missing = name
		}
		return yes
	}
	if is("java.lang.Enum") && f.Name != "java.lang.Enum" {
		return constant
	}
	stream, err := l.types.ObjectStream(f.Name)
	if err != nil {
		return unknown
	}
	if m.missing = stream.Incomplete; m.missing != "" {
		return unknown
	}
	if f.IsInterface() || f.Modifiers.Has(classfile.Abstract) {
		return abstract
	}
	replaced := stream.WriteReplace || stream.ReadResolve
	chain, missing, err := l.types.Chain(f.Name)
	if err != nil || missing != "" {
		m.missing = missing
		return unknown
	}
	isCollection, isMap := is("java.util.Collection"), is("java.util.Map")
	switch {
	case is("java.util.EnumSet"):
		return enumSet
	case is("java.nio.charset.Charset"):
		return asText
	case is("java.util.Calendar"):
		return calendar
	case is("java.time.ZoneId"):
		return zoneID
	case is("java.util.TimeZone"):
		return asText
	case stream.Externalizable:
		return external
	case is("java.nio.ByteBuffer"):
		return unknown
	case isCollection && !replaced && l.isChild(chain, childLists):
		return childList
	case isMap && !replaced && l.isChild(chain, childMaps):
		return childMap
	case replaced:
		return replaceable
	}
	return l.own(c, stream, chain)
}

// isChild reports whether ChildContainerSerializers write a class: one with a constructor without arguments, which extends one of some
// classes without methods for Java serialization in between.
func (l *library) isChild(chain []*classfile.Class, of map[string]bool) bool {
	if !chain[0].HasConstructor {
		return false
	}
	for _, c := range chain {
		if of[c.Name] {
			return true
		}
		if s, err := l.types.ObjectStream(c.Name); err != nil || s.WriteObject || s.ReadObject {
			return false
		}
	}
	return false
}

// own returns the layout of objects that are written by their fields or, if a class has writeObject or readObject, class by class.
func (l *library) own(c *class, stream *classfile.ObjectStream, chain []*classfile.Class) layout {
	if !stream.Serializable {
		return object
	}
	for _, d := range chain {
		if s, err := l.types.ObjectStream(d.Name); err == nil && (s.WriteObject || s.ReadObject) {
			return streamed
		}
	}
	return object
}

// ask notes that a body has objects of a class.
func (r *Reader) ask(c *class) {
	if m := c.model; m != nil && !m.asked.Load() && !isJDK(c.name) && c.name[0] != '[' && decode.IsClassName(c.name) && !m.asked.Swap(true) {
		m.in.path.Asked(c.name, m.file != nil)
	}
}

func isJDK(name string) bool {
	return strings.HasPrefix(name, "java.") || strings.HasPrefix(name, "javax.")
}

// is reports whether objects of a class can be those of another one, as far as that is known.
func (l *library) is(c, other string) bool {
	switch {
	case c == other || other == "java.lang.Object" || c == "" || c[0] == '#': // "" is the component of [L;
		return true
	case c[0] == '[' && other[0] == '[':
		return len(c) < 2 || len(other) < 2 || l.is(component(c), component(other))
	case c[0] == '[':
		return other == "java.io.Serializable" || other == "java.lang.Cloneable"
	case other[0] == '[' || len(c) == 1 || len(other) == 1:
		return false
	}
	is, err := l.types.Is(c, other)
	return is || err != nil
}

// component returns the name of the class of the elements of an array class: a letter for a primitive type.
func component(name string) string {
	name = name[1:]
	if strings.HasPrefix(name, "L") {
		return strings.TrimSuffix(name[1:], ";")
	}
	return name
}

// componentOf returns what holds for the elements of an array.
func (l *library) componentOf(c *class) *declared {
	l.mu.Lock()
	d := c.model.component
	l.mu.Unlock()
	if d == nil {
		d = &declared{class: l.class(component(c.name)), tracked: true}
		d.final = d.class.final
		l.mu.Lock()
		c.model.component = d
		l.mu.Unlock()
	}
	return d
}
