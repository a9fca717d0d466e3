package kryo

import (
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
)

// A top-level object of kryo2 has no class on the wire. If its declared type is not final, its class is the one of those that
// the class path and the JDK have for the type under which the body can be read to its end; if several are, it is not decided.

// collections are the forms that the JDK's classes of an interface have.
var collections = map[string][]layout{
	"java.util.List":                         {collection, asList, wrapped, single, emptyList, noNulls},
	"java.util.Collection":                   {collection, asList, wrapped, single, emptyList, noNulls},
	"java.lang.Iterable":                     {collection, asList, wrapped, single, emptyList, noNulls},
	"java.util.Set":                          {collection, treeSet, wrapped, single, emptyList, noNulls},
	"java.util.SortedSet":                    {treeSet, wrapped},
	"java.util.NavigableSet":                 {treeSet, wrapped},
	"java.util.Queue":                        {collection, queue},
	"java.util.Deque":                        {collection},
	"java.util.Map":                          {mapping, treeMap, wrapped, singleMap, emptyMap},
	"java.util.SortedMap":                    {treeMap, wrapped},
	"java.util.NavigableMap":                 {treeMap, wrapped},
	"java.util.concurrent.ConcurrentMap":     {mapping, skipList},
	"java.util.AbstractMap":                  {mapping, treeMap},
	"java.util.AbstractList":                 {collection},
	"java.util.concurrent.ConcurrentHashMap": {mapping},
}

// candidates returns the classes that an object of a declared type may have, nil if they are not known. Classes whose objects are
// written in the same way count once. They are found once for each type, and must not be changed.
func (l *library) candidates(typ string) []*class {
	if typ == "" || len(typ) == 1 {
		return nil
	}
	l.mu.Lock()
	classes, ok := l.mayBe[typ]
	l.mu.Unlock()
	if ok {
		return classes
	}
	classes = l.findCandidates(typ)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.mayBe) < maxClasses {
		l.mayBe[typ] = classes
	}
	return classes
}

func (l *library) findCandidates(typ string) []*class {
	declared := l.describe(typ)
	switch m := declared.model; {
	case declared.name == "java.lang.Object":
		return nil
	case declared.elem != nil:
		return l.arrays(declared)
	case declared.layout == enum || declared.layout == enumName:
		return []*class{declared}
	case collections[declared.name] != nil:
		var classes []*class
		for _, form := range collections[declared.name] {
			switch {
			case form == noNulls && !l.d.isKryo5, form == queue && !l.d.isKryo5, form == skipList && !l.d.isKryo5: // as other collections and maps
			default:
				classes = append(classes, &class{name: declared.name, layout: form})
			}
		}
		return classes
	case known[declared.name] != nil && declared.layout != unknown:
		return []*class{declared}
	case m == nil || m.file == nil || isJDK(declared.name) && (declared.layout == noObjects || declared.layout == object):
		return nil
	default:
		return l.subtypes(declared)
	}
}

// subtypes returns a class of the application and what extends or implements it.
func (l *library) subtypes(declared *class) (classes []*class) {
	names, err := l.types.Subtypes(declared.name)
	if err != nil {
		return nil
	}
	for _, name := range append([]string{declared.name}, names...) {
		c := l.class(name)
		if c.layout == noObjects || c.model == nil || c.model.file == nil {
			continue
		}
		if c.layout == enum && c.model.declares != name {
			continue // the body of a constant of another one
		}
		if is, err := l.types.Is(name, declared.name); err == nil && is {
			classes = append(classes, c)
		}
	}
	return classes
}

// arrays returns the arrays that an array may be of which the class is not final.
func (l *library) arrays(declared *class) []*class {
	base := strings.TrimLeft(declared.name, "[")
	classes := []*class{declared}
	if base == "Ljava.lang.Object;" {
		classes = append(classes, l.class(strings.TrimSuffix(declared.name, base)+"Ljava.lang.String;"))
	}
	return classes
}

// runtimeClass returns the class of the top-level object that is being read at p, nil if it is not known. choice are those that it
// may be. taken: the object was read.
func (r *Reader) runtimeClass(p decode.Place, typ string) (cl *class, choice []*class, taken bool) {
	if r.library == nil {
		return nil, nil, false
	}
	candidates := r.library.candidates(typ)
	if len(candidates) <= 1 || r.probing {
		if len(candidates) == 1 {
			return candidates[0], nil, false
		}
		return nil, candidates, false
	}
	if r.trial == nil {
		r.trial, r.before = &Reader{d: r.d, untagged: r.untagged}, new(Reader)
	}
	x := r.trial
	rest := x.restOf(r, p)
	var likely *class
	if r.quick {
		likely = r.likely[typ]
	}
	choice, exact := r.choice[:0], r.exact[:0]
	for _, c := range candidates {
		off, sameVersion := -1, false
		if c == likely {
			if off, sameVersion = r.take(c, p); off >= 0 && !rest(off) {
				r.untake()
				continue
			}
		} else {
			x.trying(r, r.top)
			if x.nullable(c, p); x.OK() {
				off, sameVersion = x.Off, !x.otherVersion
			}
			if off >= 0 && !rest(off) {
				continue
			}
		}
		if off >= 0 {
			choice = append(choice, c)
			if sameVersion {
				exact = append(exact, c)
			}
		}
	}
	r.choice, r.exact = choice, exact
	if len(exact) > 0 {
		choice = exact
	}
	if len(choice) == 2 && choice[0].layout == collection && choice[1].layout == single && r.Buf[r.top+1] == idNull {
		choice = choice[:1] // an empty list, not a singleton of null
	}
	if len(choice) > 1 && choice[0].layout == collection && !r.d.oneClass(r.Buf[r.top+1:]) {
		choice = slices.DeleteFunc(choice, func(c *class) bool { return c.layout == noNulls }) // its elements are written in the same way
	}
	if len(choice) > 1 && choice[0].elem != nil && x.nullsOnly(r) {
		choice = choice[:1] // without an element it has the same value as one of another type
	}
	if len(choice) != 1 {
		if r.taken {
			r.untake()
		}
		return nil, choice, false
	}
	switch {
	case r.taken && choice[0] == likely:
		r.taken = false
		return likely, nil, true
	case r.taken:
		r.untake()
	}
	if r.quick {
		if len(r.likely) >= maxClasses || r.likely == nil {
			r.likely = map[string]*class{}
		}
		r.likely[typ] = choice[0]
	}
	return choice[0], nil, false
}

// take reads the top-level object at p as one of a class, as a trial does, but so that it counts: most bodies of a method have objects of the
// same class. It returns where the object ends, and whether it tells of no other version of a class, or -1.
func (r *Reader) take(c *class, p decode.Place) (end int, sameVersion bool) {
	*r.before = *r
	r.probing, r.taken, r.otherVersion = true, true, false
	r.nullable(c, p)
	if !r.OK() {
		r.untake()
		return -1, false
	}
	sameVersion = !r.otherVersion
	r.probing, r.otherVersion = false, r.before.otherVersion || r.otherVersion
	return r.Off, sameVersion
}

// untake undoes take.
func (r *Reader) untake() {
	tried := r.tried
	*r = *r.before
	r.tried, r.idle = tried, nil // which readers of streams are idle is not known
}

// oneClass reports whether a collection, of which b are the data, says that its elements have one class, and which.
func (d *dialect) oneClass(b []byte) bool {
	return d.isKryo5 && len(b) > 1 && b[0]&0x80 != 0 && !(b[0]&0x40 == 0 && b[1] == idNull)
}

// nullsOnly reports whether the array that r reads has no element that is not null.
func (x *Reader) nullsOnly(r *Reader) bool {
	x.trying(r, r.top+1)
	n, null := x.count("a length", 1, 1)
	if null || !x.OK() {
		return false
	}
	for _, b := range x.Buf[x.Off : x.Off+n] {
		if b != idNull {
			return false
		}
	}
	return true
}

// trying makes x read what r reads, from an offset on.
func (x *Reader) trying(r *Reader, off int) {
	x.know(r.library)
	x.Reset(r.Buf, decode.Malformed, nil)
	x.Off, x.assigned, x.probing, x.undecided, x.variation, x.varies = off, r.assigned, true, nil, r.variation, nil
	x.refuted = r.refuted
	x.begin()
}

// restOf returns a function that reports whether the body that r reads can be read to its end from an offset on, after the value at p.
func (x *Reader) restOf(r *Reader, p decode.Place) func(off int) bool {
	whole := func(off int) bool { return off == len(r.Buf) }
	attached := func(off int) bool {
		x.trying(r, off)
		x.nullable(hashMap, decode.Place{})
		return x.OK() && x.Off == len(x.Buf)
	}
	switch {
	case r.top == 0:
		return whole
	case p.Label == decode.ByField:
		if r.top == 1 && r.Buf[0] == 1 {
			return whole
		}
		return attached
	}
	x.trying(r, 0)
	var text text
	for range 5 {
		text = x.text()
	}
	types, ok := decode.SplitDescriptor(text.decode())
	if !x.OK() || !ok || p.Index >= len(types) {
		return func(int) bool { return false }
	}
	types = types[p.Index+1:]
	return func(off int) bool { return x.canRead(r, off, types, attached) }
}

// canRead reports whether objects of these types and then the attachments can be read from an offset on.
func (x *Reader) canRead(r *Reader, off int, types []string, attached func(off int) bool) bool {
	if len(types) == 0 {
		return attached(off)
	}
	candidates := []*class{r.library.descriptorClass(types[0])}
	if c := candidates[0]; c == nil || !c.final {
		if candidates = r.library.candidates(types[0]); candidates == nil {
			_, ok := r.find(off)
			return ok
		}
	}
	for _, c := range candidates {
		if r.tried > r.maxTried() {
			return false
		}
		x.trying(r, off)
		x.nullable(c, decode.Place{})
		r.tried += 1<<8 + x.Off - off
		if x.OK() && x.canRead(r, x.Off, types[1:], attached) {
			return true
		}
	}
	return false
}

// namesOf returns the names of classes.
func namesOf(classes []*class) string {
	const most = 3
	var names []string
	for _, c := range classes {
		if !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return strings.Join(names, " or ")
}
