package classpath

import (
	"slices"
	"strings"
)

// Optimizer is a SerializationOptimizer in the class path.
type Optimizer struct {
	Name string
	// Classes are those that it registers, in order; Err says why they are not known.
	Classes []string
	Err     error
}

// Optimizers returns those of both sides by name. It reads all class files.
func (p *Path) Optimizers() ([]Optimizer, error) {
	var list []Optimizer
	for _, t := range p.Sides() {
		names, err := t.Optimizers()
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if slices.ContainsFunc(list, func(o Optimizer) bool { return o.Name == name }) {
				continue
			}
			o := Optimizer{Name: name}
			o.Classes, o.Err = p.optimizer(name)
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b Optimizer) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}
