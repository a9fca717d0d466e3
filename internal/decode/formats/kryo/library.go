package kryo

import (
	"strings"
	"sync"
	"sync/atomic"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classfile"
	"dubbo-wire/internal/decode/classpath"
)

// library is the classes of one side's class path as a release of Kryo writes them. Readers share it; a nil library has only
// the classes of the table in classes.go.
type library struct {
	path  *classpath.Path
	types *classfile.Types
	d     *dialect

	mu        sync.Mutex
	classes   map[string]*class
	variables map[string]*variable
	variants  map[variant]*class
	mayBe     map[string][]*class // see candidates

	numbers numbers
}

// maxClasses bounds the classes that a library keeps.
const maxClasses = 1 << 14

func newLibrary(p *classpath.Path, s decode.Side, d *dialect) *library {
	l := &library{path: p, types: p.Types(s), d: d, classes: map[string]*class{}, variables: map[string]*variable{}, variants: map[variant]*class{}, mayBe: map[string][]*class{}}
	l.numbers = l.newNumbers()
	return l
}

// model is what the class file of a class says of it.
type model struct {
	in   *library
	file *classfile.Class
	// missing is the first superclass or interface that was not found, where the serializer depends on it.
	missing string
	// custom says who writes the objects, where that is code of the application.
	custom string
	// constants are those of an enum, by ordinal, and declares is its name: that of a constant with a body is another one.
	constants []string
	declares  string
	// constant: it is an enum, or the class of a constant with a body.
	constant bool
	// throwable: all exceptions with a constructor without arguments share a serializer.
	throwable bool
	// stream is the serializer that owns the Java streams of the objects, if it is not that of their class.
	stream string

	asked atomic.Bool
	once  sync.Once
	plan  plan
}

// class returns the class with a JVM name; its layout is unknown if neither the table nor the class path has it.
func (l *library) class(name string) *class {
	if l == nil {
		return classOf(name, nil)
	}
	l.mu.Lock()
	c := l.classes[name]
	l.mu.Unlock()
	if c != nil {
		return c
	}
	c = classOf(name, l)
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

// resolve returns a class that is neither in the table nor an array.
func (l *library) resolve(name string) *class {
	if name == "java.lang.reflect.InvocationHandler" {
		return &class{name: name, layout: proxy} // what Dubbo registers stands for all proxies
	}
	file, err := l.types.Class(name)
	if err != nil {
		return &class{name: name, unsure: true, model: &model{in: l}}
	}
	c := &class{name: name, final: file.Modifiers.Has(classfile.Final), model: &model{in: l, file: file}}
	if !file.IsEnum() && file.Modifiers.Has(classfile.Enum) {
		// The class of a constant with a body: its serializer is that of the enum.
		if of, err := l.types.Class(file.Super); err == nil && of.IsEnum() {
			m := &model{in: l, file: of}
			c.layout, c.model.custom = l.serializer(m), m.custom
			c.model.constant, c.model.missing = m.constant, m.missing
			c.model.constants, c.model.declares = of.Constants(), of.Name
			return c
		}
	}
	c.layout = l.serializer(c.model)
	if c.model.constant {
		for !file.IsEnum() && file.Super != "" {
			if file, err = l.types.Class(file.Super); err != nil {
				return c
			}
		}
		c.model.constants, c.model.declares = file.Constants(), file.Name
	}
	return c
}

// describe returns the class of a JVM field descriptor.
func (l *library) describe(descriptor string) *class {
	switch {
	case len(descriptor) == 1 && elements[descriptor[0]] != nil:
		return elements[descriptor[0]]
	case strings.HasPrefix(descriptor, "L"):
		return l.class(strings.ReplaceAll(descriptor[1:len(descriptor)-1], "/", "."))
	}
	return l.class(strings.ReplaceAll(descriptor, "/", "."))
}

// serializers are the types for whose objects Kryo has a serializer, in the order in which it looks for them. Others have
// FieldSerializer.
var serializers = []struct {
	name   string
	layout layout
	only5  bool
}{
	{"com.esotericsoftware.kryo.KryoSerializable", custom, false},
	{"java.math.BigInteger", bigInteger, false},
	{"java.math.BigDecimal", bigDecimal, false},
	{"java.util.Date", epochMilli, false},
	{"java.lang.Enum", enum, false},
	{"java.util.EnumSet", enumSet, false},
	{"java.util.PriorityQueue", queue, true},
	{"java.util.BitSet", bitSet, true},
	{"java.util.TreeSet", treeSet, false},
	{"java.util.Collection", collection, false},
	{"java.util.concurrent.ConcurrentSkipListMap", skipList, true},
	{"java.util.TreeMap", treeMap, false},
	{"java.util.Map", mapping, false},
	{"java.util.TimeZone", otherText, false},
	{"java.util.Calendar", calendar, false},
	{"java.nio.charset.Charset", otherText, false},
}

// serializer returns the layout of a class as CompatibleKryo of Dubbo chooses its serializer, and Kryo after it.
func (l *library) serializer(m *model) layout {
	f := m.file
	supertypes, missing := l.supertypes(f)
	constant := f.IsEnum() || supertypes["java.lang.Enum"]
	m.constant = constant && !f.IsInterface()
	m.throwable = supertypes["java.lang.Throwable"] && (isJDK(f.Name) || f.HasConstructor) && !l.d.isKryo224
	switch {
	case f.IsInterface() || f.Modifiers.Has(classfile.Abstract) && !constant:
		return noObjects
	case !isJDK(f.Name) && !constant && !f.HasConstructor:
		return javaOnly
	case constant && l.d.isKryo224:
		return javaOnly // Dubbox looks for a constructor without parameters
	case l.d.isKryo5 && supertypes["java.lang.Throwable"]:
		return javaOnly
	}
	for i := range f.Annotations {
		if a := &f.Annotations[i]; a.Type == "com.esotericsoftware.kryo.DefaultSerializer" {
			return annotated(m, a)
		}
	}
	for _, s := range serializers {
		if supertypes[s.name] && (l.d.isKryo5 || !s.only5) {
			if s.layout == custom {
				m.custom = "its method write (KryoSerializable)"
			}
			return s.layout
		}
	}
	switch {
	case missing != "":
		m.missing = missing
		return unknown
	case f.Record && l.d.isKryo5:
		return record
	}
	return object
}

// supertypes returns the names of all superclasses and interfaces of a class, and the first that was not found.
func (l *library) supertypes(f *classfile.Class) (names map[string]bool, missing string) {
	const most = 1 << 10
	names = map[string]bool{f.Name: true}
	queue := append([]string{f.Super}, f.Interfaces...)
	for ; len(queue) > 0 && len(names) < most; queue = queue[1:] {
		name := queue[0]
		if name == "" || names[name] {
			continue
		}
		names[name] = true
		c, err := l.types.Class(name)
		switch {
		case err == nil:
			queue = append(append(queue, c.Super), c.Interfaces...)
		case name != "java.lang.Object" && missing == "" && !known[name].isOpen():
			missing = name
		}
	}
	return names, missing
}

// isJDK is the rule of Dubbo's ReflectUtils.isJdk.
func isJDK(name string) bool {
	return strings.HasPrefix(name, "java.") || strings.HasPrefix(name, "javax.")
}

// ask notes that a body has objects of a class.
func (r *Reader) ask(c *class) {
	m := c.model
	if m == nil || m.asked.Load() || isJDK(c.name) {
		return
	}
	switch {
	case r.probing && r.taken:
		r.Fail(decode.Unsupported, "a class that was there before", "") // which it is once the object was read for sure
	case !r.probing && !m.asked.Swap(true):
		m.in.path.Asked(c.name, m.file != nil)
	}
}

// is reports whether objects of a class can be those of another one, as far as that is known.
func (l *library) is(c, other *class) bool {
	for c.elem != nil && other.elem != nil {
		c, other = c.elem, other.elem
	}
	switch {
	case c.name == other.name || other.unsure || other.name == "java.lang.Object" || c.layout == proxy:
		return true
	case other.elem != nil:
		return false
	case c.elem != nil:
		return other.name == "java.io.Serializable" || other.name == "java.lang.Cloneable"
	}
	name := c.name
	if b, ok := boxNames[c.layout]; ok {
		name = b
	}
	is, err := l.types.Is(name, other.name)
	return is || err != nil && !(isJDK(c.name) && !isJDK(other.name))
}

// boxNames are the classes of boxes, which are registered with the names of their primitive types.
var boxNames = map[layout]string{
	boxInt: "java.lang.Integer", boxLong: "java.lang.Long", boxShort: "java.lang.Short", boxByte: "java.lang.Byte",
	boxBool: "java.lang.Boolean", boxChar: "java.lang.Character", boxFloat: "java.lang.Float", boxDouble: "java.lang.Double",
}
