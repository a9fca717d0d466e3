package java

import "strings"

// A class may have a field with the name of one that a superclass has. The one that it hides is named after its class: Base#name.

// maxHidden bounds the pairs of fields of a class and its superclasses that are compared.
const maxHidden = 1 << 13

// hides reports whether class at has a field that hides one of a superclass, or a superclass has.
func (r *Reader) hides(at int32) bool {
	c := &r.classes[at]
	if c.hiding == 0 {
		c.hiding = 1
		if c.super >= 0 && (r.hides(c.super) || r.hidesOwn(c)) {
			c.hiding = 2
		}
	}
	return c.hiding == 2
}

func (r *Reader) hidesOwn(c *class) bool {
	pairs := 0
	for s := c.super; s >= 0; s = r.classes[s].super {
		above := &r.classes[s]
		if pairs += int(c.n) * int(above.n); pairs > maxHidden {
			return false
		}
		for _, f := range r.fields[above.first : above.first+above.n] {
			if r.declares(c, f.name) {
				return true
			}
		}
	}
	return false
}

// declares reports whether a class itself has a field with a name.
func (r *Reader) declares(c *class, name string) bool {
	for i := range r.fields[c.first : c.first+c.n] {
		if r.fields[c.first+int32(i)].name == name {
			return true
		}
	}
	return false
}

// fieldName returns how a field of class c is shown in the object that is being read.
func (r *Reader) fieldName(c *class, f *fieldDesc) string {
	if r.hiding < 0 {
		return f.name
	}
	for s := r.hiding; s >= 0 && r.classes[s].level > c.level; s = r.classes[s].super {
		if r.declares(&r.classes[s], f.name) {
			r.scratch = append(append(append(r.scratch[:0], c.name[strings.LastIndexAny(c.name, ".$")+1:]...), '#'), f.name...)
			return r.Name(r.scratch)
		}
	}
	return f.name
}
