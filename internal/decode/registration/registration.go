// Package registration numbers classes as the registries of Kryo and FST do: what both peers have registered is written as a
// number instead of a name. The number of a class follows from the order in which classes are registered: the library's own,
// then Dubbo's, then those of the application's SerializationOptimizer or of a user's list.
//
// Sources: Kryo 2.24.0 to 5.6.2 (Kryo, DefaultClassResolver), kryo-serializers 0.26 to 0.45, FST 1.55 and 2.48 to 2.57
// (FSTConfiguration, FSTClazzNameRegistry); AbstractKryoFactory, FstFactory and SerializableClassRegistry of Dubbo 2.6.0 to
// 2.7.23 and of dubbo-spi-extensions 1.0 to 3.3; KryoFactory and FstFactory of Dubbox 2.8.4. All releases of a line have the same
// order of their own classes.
//
// Since Dubbo 3.0.3 SerializableClassRegistry is a HashMap of classes, whose hashes depend on all that a JVM did before: the
// classes of an application are registered in an order that nobody chose, which two peers need not have in common. There a
// list says which classes have numbers, not which numbers they have.
//
// Names of classes are those that Class.getName returns: [Ljava.lang.String; for an array. A [Table] does not change.
package registration

import (
	"fmt"
	"slices"
	"strings"
)

// Library says whose registry it is.
type Library uint8

const (
	// Kryo4 is Kryo 2.24 to 4: Dubbox 2.8.4, Dubbo 2.6.0 to 2.7.23.
	Kryo4 Library = iota
	// Kryo5 is what Dubbo's extensions for 3.x have; "void" has no number, so that later numbers are one lower.
	Kryo5
	// FST1 is FST 1.55: Dubbox 2.8.4.
	FST1
	// FST2 is FST 2: Dubbo 2.6.0 to 2.7.23, and the extensions for 3.x. With a class its array is registered.
	FST2
)

// Class is a class that an application registers.
type Class struct {
	Name string
	// ID is its number; negative where the library gives it the next one.
	ID int
}

// maxID bounds numbers and how many there are.
const maxID = 1 << 16

// Table is a registry.
type Table struct {
	names map[int]string
	ids   map[string]int
}

// New returns the registry of a library with Dubbo's own classes and those of an application, in the order in which it
// registers them. As in the libraries, a class that is registered again keeps its number, and a number that is given again
// goes to the later class.
func New(l Library, classes []Class) (*Table, error) {
	t := &Table{names: map[int]string{}, ids: map[string]int{}}
	next := l.first()
	add := func(name string) {
		if _, ok := t.ids[name]; ok {
			return
		}
		for t.names[next] != "" {
			next++
		}
		t.names[next], t.ids[name] = name, next
		if box := boxes[name]; box != "" && l.isKryo() { // Integer has the number of int
			t.ids[box] = next
		}
	}
	for _, name := range Known(l) {
		add(name)
	}
	for _, c := range classes {
		if c.ID >= maxID || len(t.names) >= maxID {
			return nil, fmt.Errorf("class %s: numbers of %d and more are not supported", c.Name, maxID)
		}
		if c.ID >= 0 {
			if was, ok := t.ids[c.Name]; ok && t.names[was] == c.Name {
				delete(t.names, was)
			}
			if old := t.names[c.ID]; old != "" {
				delete(t.ids, old)
			}
			t.names[c.ID], t.ids[c.Name] = c.Name, c.ID
			continue
		}
		add(c.Name)
		if l == FST2 && !strings.HasPrefix(c.Name, "[") && boxes[c.Name] == "" && c.Name != "void" {
			add("[L" + c.Name + ";")
		}
	}
	return t, nil
}

// Name returns the class with a number; empty if none has it.
func (t *Table) Name(id int) string { return t.names[id] }

// ID returns the number of a class.
func (t *Table) ID(name string) (id int, ok bool) {
	id, ok = t.ids[name]
	return id, ok
}

// IDs returns all numbers in order.
func (t *Table) IDs() []int {
	ids := make([]int, 0, len(t.names))
	for id := range t.names {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (l Library) isKryo() bool { return l == Kryo4 || l == Kryo5 }

// first is the number of the first class.
func (l Library) first() int {
	if l.isKryo() {
		return 0
	}
	return 3
}
