package fst

import (
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
)

// variation is a class that is read as if it was another one.
type variation struct {
	class    *class
	original *plan
	used     []decode.UsedClass
}

// Used implements decode.VaryingReader.
func (a *application) Used() []decode.UsedClass {
	all := a.varied.used[:0]
	for _, cl := range a.used {
		u := decode.UsedClass{Name: cl.name}
		if cl.plan.form != constant {
			for _, fields := range cl.plan.lists() {
				for i := range *fields {
					u.Fields = append(u.Fields, (*fields)[i].name)
				}
			}
		}
		all = append(all, u)
	}
	a.varied.used = all
	return all
}

// lists returns the fields of the object, or of its sections.
func (p *plan) lists() []*[]field {
	if !p.emulated {
		return []*[]field{&p.fields}
	}
	var all []*[]field
	for i := range p.sections {
		all = append(all, &p.sections[i].fields)
	}
	return all
}

// Stopped implements decode.VaryingReader.
func (a *application) Stopped() (class, field string) {
	if a.stoppedIn != nil {
		class = decode.JavaName(a.stoppedIn.name)
	}
	if a.stoppedAt != nil {
		field = a.stoppedAt.name
	}
	return class, field
}

// Vary implements decode.VaryingReader.
func (a *application) Vary(v *decode.Variation) bool {
	if c := a.varied.class; c != nil {
		c.plan, a.varied.class = a.varied.original, nil
	}
	if v == nil {
		return true
	}
	c := a.known[a.side][v.Class]
	if c == nil || c.plan == nil {
		return false
	}
	p := *c.plan
	p.sections = slices.Clone(p.sections)
	if !p.vary(v) {
		return false
	}
	a.varied.class, a.varied.original = c, c.plan
	c.plan = &p
	return true
}

// vary leaves out a field, puts one in, or gives it another type. It returns false if FST would not write such a field there.
func (p *plan) vary(v *decode.Variation) bool {
	at := v.Index
	for i, fields := range p.lists() {
		n := len(*fields)
		if p.emulated && v.Type != "" && strings.HasPrefix(p.sections[i].class, "java.") {
			if at < n {
				return false // the JDK's classes did not change
			}
			at -= n
			continue
		}
		switch {
		case v.Type == "" && at < n:
			*fields = slices.Delete(slices.Clone(*fields), at, at+1)
			return true
		case v.Replaces && at < n:
			f := addedField(v.Type)
			f.name, f.own, f.by, f.version = (*fields)[at].name, (*fields)[at].own, (*fields)[at].by, (*fields)[at].version
			*fields = slices.Clone(*fields)
			(*fields)[at] = f
			slices.SortFunc(*fields, compareFields)
			return true
		case v.Replaces:
		case v.Type != "" && at <= n:
			f := addedField(v.Type)
			if at > 0 {
				f.version = (*fields)[at-1].version
			} else if n > 0 {
				f.version = (*fields)[0].version
			}
			if at > 0 && !f.canBeAfter(&(*fields)[at-1]) || at < n && !f.canBeBefore(&(*fields)[at]) {
				return false
			}
			*fields = slices.Insert(slices.Clone(*fields), at, f)
			return true
		}
		at -= n
	}
	return false
}

func addedField(descriptor string) field {
	f := field{kind: kinds[descriptor], declared: className(descriptor), anything: descriptor == "Ljava/lang/Object;"}
	f.simple = f.declared[strings.LastIndexByte(f.declared, '.')+1:]
	if name, ok := primitiveNames[descriptor]; ok {
		f.simple = name
	}
	return f
}

// canBeAfter and canBeBefore report whether a field whose name is not known may stand there.
func (f *field) canBeAfter(other *field) bool {
	c := compareGroups(other, f)
	return c < 0 || c == 0 && (f.anything || other.simple <= f.simple)
}

func (f *field) canBeBefore(other *field) bool {
	c := compareGroups(f, other)
	return c < 0 || c == 0 && (f.anything || f.simple <= other.simple)
}
