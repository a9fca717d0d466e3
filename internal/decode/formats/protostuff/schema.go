package protostuff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classfile"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/jdk"
)

// library has the schemas of the classes of one side's class path, as RuntimeSchema computes them. Readers share it.
type library struct {
	path  *classpath.Path
	types *classfile.Types

	mu      sync.Mutex
	schemas map[string]*schema
}

// maxSchemas bounds the schemas that a library keeps.
const maxSchemas = 1 << 14

// A schema is what is known of the messages of a class.
type schema struct {
	in    *library
	name  string
	asked atomic.Bool
	once  sync.Once

	// What follows is there after build.
	fields []field  // by number
	simple []simple // what is known of the values of each of them
	// constants are those of an enum by their numbers; nil if the class is none. ordinals are the same by their order.
	constants map[int32]string
	ordinals  []string
	untagged  bool // the numbers are the order
	// constantOf is the enum of which this is the class of a constant with a body.
	constantOf string
	// plain: objects are shown by their fields.
	plain bool
	// missing is the class, or the superclass, that was not found.
	missing string
	// refused says why the class has no messages.
	refused string
}

// A field is one that the messages of a class may have.
type field struct {
	number   uint64
	name     string
	shape    *shape
	repeated bool // it is there once for each element of a collection
	always   bool // a primitive type: it is there in each message
}

func newLibrary(p *classpath.Path, s decode.Side) *library {
	return &library{path: p, types: p.Types(s), schemas: map[string]*schema{}}
}

// schema returns the schema of a class, which may not be built yet.
func (l *library) schema(name string) *schema {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.schemas[name]
	if s == nil {
		s = &schema{in: l, name: name}
		if len(l.schemas) < maxSchemas {
			l.schemas[name] = s
		}
	}
	return s
}

// built returns the schema after it was computed.
func (s *schema) built() *schema {
	s.once.Do(s.build)
	return s
}

// ask notes that a body has objects of the class.
func (s *schema) ask() {
	switch {
	case s.missing != "":
		s.in.path.Asked(s.missing, false)
	case !decode.IsJDKClass(s.name) && !s.asked.Swap(true):
		s.in.path.Asked(s.name, true)
	}
}

// build computes the schema (RuntimeSchema.createFrom): fields have numbers in the order of their declaration, those of superclasses
// first, or the numbers of their annotations. A field that hides another one takes its place.
func (s *schema) build() {
	chain, missing, err := s.in.types.Chain(s.name)
	if err != nil || missing != "" {
		s.missing = cmp.Or(missing, s.name)
		return
	}
	file := chain[0]
	switch {
	case file.IsEnum():
		s.numberConstants(file)
		s.refused = "an enum"
		return
	case file.IsInterface():
		s.refused = "an interface"
		return
	case file.Modifiers.Has(classfile.Abstract):
		s.refused = "abstract"
		return
	}
	if is, err := s.in.types.Is(s.name, message); is || err != nil && s.in.mayBeMessage(chain) {
		s.refused = "a class with a schema of its own"
		return
	}
	if len(chain) > 1 && chain[1].IsEnum() {
		s.constantOf = chain[1].Name
	}
	var declared []*classfile.Field
	places := map[string]int{}
	for _, c := range slices.Backward(chain) {
		for i := range c.Fields {
			f := &c.Fields[i]
			if f.Modifiers&(classfile.Static|classfile.Transient) != 0 || annotation(f, "io.protostuff.Exclude") != nil {
				continue
			}
			if at, ok := places[f.Name]; ok {
				declared[at] = f
				continue
			}
			places[f.Name] = len(declared)
			declared = append(declared, f)
		}
	}
	s.number(declared)
	switch s.name {
	case "java.lang.StringBuilder", "java.lang.StringBuffer", "java.util.UUID", zoneOffset, zoneRegion:
	default:
		s.plain = jdk.KindOf(s.name) == 0
	}
}

// message is the interface of classes that bring their schema.
const message = "io.protostuff.Message"

// mayBeMessage reports whether an interface that was not found may be the one of messages.
func (l *library) mayBeMessage(chain []*classfile.Class) bool {
	for _, c := range chain {
		if slices.Contains(c.Interfaces, message) {
			return true
		}
	}
	return false
}

// number gives the fields their numbers.
func (s *schema) number(declared []*classfile.Field) {
	n, tagged := uint64(0), false
	numbers := make(map[uint64]bool, len(declared))
	for _, f := range declared {
		if annotation(f, "java.lang.Deprecated") != nil {
			n++
			continue
		}
		g := field{name: f.Name, always: len(f.Descriptor) == 1}
		if tag := annotation(f, "io.protostuff.Tag"); tag != nil {
			value, _ := tag.Get("value").(int32)
			tagged = true
			g.number = uint64(uint32(value))
		} else {
			n++
			g.number = n
			if tagged {
				s.refused = "a class with fields of which only some have numbers"
				return
			}
		}
		if numbers[g.number] || g.number == 0 {
			s.refused = "a class with several fields of one number"
			return
		}
		numbers[g.number] = true
		g.shape, g.repeated = s.in.fieldShape(f)
		s.fields = append(s.fields, g)
	}
	slices.SortFunc(s.fields, func(a, b field) int { return cmp.Compare(a.number, b.number) })
	s.simple = appendSimple(make([]simple, 0, len(s.fields)), s.fields)
}

// numberConstants gives the constants of an enum their numbers (EnumIO).
func (s *schema) numberConstants(file *classfile.Class) {
	s.constants = map[int32]string{}
	s.ordinals, s.untagged = file.Constants(), true
	for i, name := range s.ordinals {
		number := int32(i)
		if f := file.Field(name); f != nil {
			if tag := annotation(f, "io.protostuff.Tag"); tag != nil {
				number, _ = tag.Get("value").(int32)
				s.untagged = false
			}
		}
		s.constants[number] = name
	}
}

// annotation returns an annotation of a field, nil if it does not have it.
func annotation(f *classfile.Field, name string) *classfile.Annotation {
	for i := range f.Annotations {
		if f.Annotations[i].Type == name {
			return &f.Annotations[i]
		}
	}
	return nil
}

// numbersText says which numbers the fields have.
func (s *schema) numbersText() string {
	if len(s.fields) == 0 {
		return "no field"
	}
	return fmt.Sprintf("a field of number %d to %d", s.fields[0].number, s.fields[len(s.fields)-1].number)
}

// className returns the name of a class as Class.getName does, from a descriptor.
func className(descriptor string) string {
	if strings.HasPrefix(descriptor, "L") {
		descriptor = descriptor[1 : len(descriptor)-1]
	}
	return strings.ReplaceAll(descriptor, "/", ".")
}
