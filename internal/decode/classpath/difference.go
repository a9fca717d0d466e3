package classpath

import (
	"maps"
	"slices"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classfile"
)

// Difference says how a class of one side differs from that of the other one.
type Difference struct {
	// Class is the name of the class.
	Class string
	// Consumer and Provider are the fields, with their types, that only one side has: "java.lang.String note".
	Consumer, Provider []string
}

// Differences returns the classes that bodies have objects of and whose fields are not the same on both sides, by name.
func (p *Path) Differences() []Difference {
	if !p.Sided() {
		return nil
	}
	p.mu.Lock()
	names := slices.Sorted(maps.Keys(p.asked))
	p.mu.Unlock()
	var list []Difference
	for _, name := range names {
		a, errA := p.sides[decode.Consumer].Class(name)
		b, errB := p.sides[decode.Provider].Class(name)
		if errA != nil || errB != nil {
			continue // one side has it, or none
		}
		d := Difference{Class: name, Consumer: onlyIn(a, b), Provider: onlyIn(b, a)}
		if len(d.Consumer)+len(d.Provider) > 0 {
			list = append(list, d)
		}
	}
	return list
}

// onlyIn returns the fields of objects of class a that class b does not have with the same type.
func onlyIn(a, b *classfile.Class) []string {
	var list []string
	for i := range a.Fields {
		f := &a.Fields[i]
		if other := b.Field(f.Name); !f.Modifiers.Has(classfile.Static) && (other == nil || other.Descriptor != f.Descriptor) {
			list = append(list, decode.JavaName(f.Descriptor)+" "+f.Name)
		}
	}
	return list
}
