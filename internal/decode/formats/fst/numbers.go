package fst

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
)

// Which class has a number is in the lists of registered classes. It is not certain: peers may have another list than others,
// and since Dubbo 3.0.3 a JVM registers the classes of its list in an order that nobody chose. So a body with such a number is
// first walked to its end with each list. If no list fits, other orders are tried. What several fit is not known.

// numbering is which class has which number.
type numbering struct {
	*registry
	// order is, for each place in the list, the place of the class that has its number; -1: not yet decided. It is nil for the
	// order of the list.
	order []int
}

// registry is what peers may have registered.
type registry struct {
	classpath.Registry
	// names are the classes whose numbers depend on the order of the list. first is the number of the first one; each has two, the
	// second for its array.
	names []string
	first int
	// registered is how many classes the application registered in FST 1, where nobody doubts their order.
	registered int
}

func newRegistry(r classpath.Registry, d *dialect) (o registry) {
	o.Registry = r
	ids := r.IDs()
	if d.one {
		o.registered = ids[len(ids)-1] - firstKnown - len(d.own) + 1
		return o
	}
	for _, id := range ids {
		name := r.Name(id)
		if id < firstRegistered || strings.HasPrefix(name, "[") || r.Name(id+1) != "[L"+name+";" {
			continue
		}
		if len(o.names) == 0 {
			o.first = id
		}
		if id != o.first+2*len(o.names) { // given by the user
			break
		}
		o.names = append(o.names, name)
	}
	return o
}

// name returns the class with a number, "" if none has it. open is the place in the order that is not decided, -1 for none.
func (n *numbering) name(id int) (name string, open int) {
	if n.order == nil {
		return n.Name(id), -1
	}
	k := (id - n.first) / 2
	if id < n.first || k >= len(n.names) {
		return n.Name(id), -1
	}
	if n.order[k] < 0 {
		return "", k
	}
	if name = n.names[n.order[k]]; (id-n.first)%2 == 1 {
		name = "[L" + name + ";"
	}
	return name, -1
}

// Bounds of the search for an order.
const (
	trialsPerByte   = 16 // bytes that are read
	maxOrderedNames = 512
)

// trial is a walk with a numbering.
type trial struct {
	numbering
	open int   // the place in the order where the walk stopped, -1 for none
	met  []int // numbers
}

// numbers is what is known of the numbers of registered classes.
type numbers struct {
	registries []registry
	loaded     bool
	trial      *trial // in a walk that tries one
	told       decode.Numbers

	// Of one body.
	settled  bool
	settling numbering
	doubtful string // why the numbers are not certain
	topNames int    // names of classes before the value that is read
	topStart int    // where it starts
	declared *field // says its declared class, nil if that is not known
	walker   *Reader
	spent    int
	// unfinished: the search for orders came to its bound, so that another order may fit, too.
	unfinished bool
	solutions  []trial
}

// hasLists reports whether the user brought lists of registered classes.
func (a *application) hasLists() bool {
	return slices.ContainsFunc(a.registries, func(r registry) bool { return len(r.Lists) > 0 })
}

// load makes the registries that peers may have.
func (r *Reader) load() {
	if r.loaded {
		return
	}
	r.loaded = true
	known, _ := r.classes.Registries(r.d.library)
	for _, k := range known {
		r.registries = append(r.registries, newRegistry(k, r.d))
	}
}

// numberedAfterOwn returns the class of an id that FST 1 itself has not given. Classes that the application registered come first,
// then one number that no class has, then the classes that are named in the body. Without a list none is registered.
func (r *Reader) numberedAfterOwn(id int) *class {
	registered := 0
	if r.classes != nil {
		r.load()
		switch {
		case r.trial != nil:
			registered = r.trial.registered
		case !r.hasLists():
		case r.distrusted != nil:
			return &class{name: fmt.Sprintf("#%d", id)}
		default:
			if !r.settled {
				r.settle()
			}
			if r.doubtful != "" || r.settling.registry == nil {
				return &class{name: fmt.Sprintf("#%d", id)}
			}
			registered = r.settling.registered
		}
	}
	named := r.d.firstNamed() + registered
	switch {
	case id >= named && r.skipped:
		return unreadClass
	case id >= named && id-named < len(r.names):
		return r.names[id-named]
	case id >= named && registered > 0:
		r.Fail(decode.Malformed, fmt.Sprintf("a class id up to %d", named+len(r.names)-1), fmt.Sprint(id))
		return nil
	}
	return r.number(id)
}

// number returns the class with a number that the application gave it.
func (r *Reader) number(id int) *class {
	if r.classes == nil || r.distrusted != nil {
		return &class{name: fmt.Sprintf("#%d", id)}
	}
	r.load()
	var name string
	if t := r.trial; t != nil {
		open := -1
		if name, open = t.name(id); open >= 0 {
			t.open = open
			r.Fail(decode.Unsupported, "a number that is decided", fmt.Sprint(id))
			return nil
		}
		if !slices.Contains(t.met, id) {
			t.met = append(t.met, id)
		}
	} else {
		if !r.settled {
			r.settle()
		}
		if r.doubtful == "" && r.settling.registry != nil {
			name, _ = r.settling.name(id)
		}
	}
	if name == "" {
		return &class{name: fmt.Sprintf("#%d", id)}
	}
	r.listed = true
	return r.named(name)
}

// settle decides which classes the numbers of a body stand for.
func (r *Reader) settle() {
	r.settled, r.doubtful, r.settling, r.spent, r.unfinished = true, "", numbering{}, 0, false
	if !r.hasLists() {
		return
	}
	r.settling = numbering{registry: &r.registries[len(r.registries)-1]} // that of all lists
	r.solutions = r.solutions[:0]
	varies := r.varied.class != nil // for each variation a search would cost too much
	if r.told != nil && !varies {
		r.permuteAll(r.told)
	}
	if len(r.solutions) == 0 {
		for i := range r.registries {
			r.attempt(numbering{registry: &r.registries[i]})
		}
	}
	if len(r.solutions) == 0 && !varies {
		r.permuteAll(nil)
	}
	r.decide()
}

// decide takes what the numberings have in common that fit.
func (r *Reader) decide() {
	if len(r.solutions) == 0 {
		return
	}
	r.settling = r.solutions[0].numbering
	for _, s := range r.solutions[1:] {
		if s.registered != r.settling.registered {
			r.doubtful = fmt.Sprintf("a body that lists with %d and with %d classes fit: a --register FILE with all of them settles it", r.settling.registered, s.registered)
			return
		}
		if id, a, b, differ := r.solutions[0].differs(&s); differ {
			r.doubtful = fmt.Sprintf("number %d may be class %s", id, decode.JavaName(b))
			if a != "" {
				r.doubtful = fmt.Sprintf("number %d is class %s or class %s", id, decode.JavaName(a), decode.JavaName(b))
			}
			r.doubtful += fmt.Sprintf(": a line NAME %d in --register FILE settles it", id)
			return
		}
	}
	if r.settling.order != nil && r.unfinished {
		r.doubtful = "a number that too many orders of the registered classes may give it to tell: lines NAME NUMBER in --register FILE settle it"
		return
	}
	if r.settling.order != nil {
		r.told = r.settling.with(r.told)
	}
}

// with returns the numbers of the classes in an order, with those that were told.
func (n *numbering) with(told decode.Numbers) decode.Numbers {
	all := maps.Clone(told)
	if all == nil {
		all = decode.Numbers{}
	}
	for k, class := range n.order {
		if class >= 0 {
			all[n.first+2*k] = n.names[class]
		}
	}
	if len(all) == len(told) {
		return told
	}
	return all
}

// SetNumbers implements decode.NumberReader.
func (a *application) SetNumbers(n decode.Numbers) { a.told = n }

// Numbers implements decode.NumberReader.
func (a *application) Numbers() decode.Numbers { return a.told }

// differs returns a number that is another class in another trial.
func (t *trial) differs(other *trial) (id int, a, b string, differ bool) {
	for _, id := range t.met {
		a, _ := t.name(id)
		b, open := other.name(id)
		if open < 0 && a != b && b != "" {
			return id, a, b, true
		}
	}
	return 0, "", "", false
}

// attempt walks the rest of the body with a numbering and keeps it if it fits. It returns the place of an order that must be decided
// first, -1 for none.
func (r *Reader) attempt(n numbering) (open int) {
	if r.walker == nil {
		r.walker = &Reader{application: application{d: r.d, classes: r.classes, quiet: true}}
	}
	t := trial{numbering: n, open: -1}
	w := r.walker
	w.application.known, w.side, w.numbers.registries, w.loaded, w.varied = r.application.known, r.side, r.registries, true, r.varied
	w.Reset(r.Buf, r.Short, nil)
	w.trial = &t
	w.names = append(w.names, r.names[:r.topNames]...)
	w.skipped, w.flushed = r.skipped, r.flushed
	for _, o := range r.objects {
		if o.off < r.topStart {
			w.objects = append(w.objects, o)
		}
	}
	w.Off = r.topStart
	f := r.declared
	for w.OK() && w.Off < len(w.Buf) {
		w.value(w.At(decode.ByIndex, "", 0), f)
		f = nil
	}
	r.spent += w.work + w.Off - r.topStart + 1
	r.application.known = w.application.known
	switch err := w.Err(); {
	case t.open >= 0:
		return t.open
	case err == nil, err.Cause == decode.Unsupported && w.incomplete, err.Cause == decode.Cut, err.Cause == decode.Lost:
		r.solutions = append(r.solutions, t)
	}
	return -1
}

// permuteAll tries the orders of each registry's classes in which classes have the numbers that were told.
func (r *Reader) permuteAll(told decode.Numbers) {
	for i := range r.registries {
		reg := &r.registries[i]
		n := len(reg.names)
		if n < 2 || n > maxOrderedNames {
			continue
		}
		order := make([]int, n)
		for k := range order {
			order[k] = slices.Index(reg.names, told[reg.first+2*k])
		}
		r.permute(numbering{reg, order})
	}
}

// permute tries every order of the classes whose numbers the body has, until two fit.
func (r *Reader) permute(n numbering) {
	if len(r.solutions) > 1 {
		return
	}
	if r.spent > trialsPerByte*len(r.Buf)+1<<16 {
		r.unfinished = true
		return
	}
	open := r.attempt(n)
	if open < 0 {
		return
	}
	for k := range n.order {
		if slices.Contains(n.order, k) {
			continue
		}
		order := slices.Clone(n.order)
		order[open] = k
		r.permute(numbering{n.registry, order})
	}
}
