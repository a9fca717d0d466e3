package kryo

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/registration"
)

// Numbers above those of Dubbo's own registrations are classes of the application. Up to Dubbo 2.7 they follow from the order of
// a list; several lists are several peers, or one that has all of them. Kryo 5 comes with Dubbo 3, which registers in an
// order that nobody chose: there an optimizer only says which classes have numbers, while a user's list has their order. In both
// cases the numbers are those under which the body can be read to its end. What several classes fit is not decided.

// numbers are the classes that a library's lists give numbers to.
type numbers struct {
	// tables has for each registry the classes by number.
	tables []map[uint32]*class
	// unordered are classes whose numbers are not known, of Kryo 5, and first is the lowest number that they may have.
	unordered []*class
	first     uint32
	// ordered are the numbers that follow from the order of the user's own lists, of Kryo 5.
	ordered assignment
}

// newNumbers returns what a library's lists say. Lists that contradict themselves were refused when they were read.
func (l *library) newNumbers() numbers {
	n := numbers{first: uint32(len(l.d.classes))}
	if l.d.isKryo5 {
		table := map[uint32]*class{}
		var ordered []registration.Class
		for _, list := range l.path.Lists() {
			if list.Ordered {
				ordered = append(ordered, list.Classes...)
			}
			for _, c := range list.Classes {
				switch cl := l.class(c.Name); {
				case c.ID >= 0:
					table[uint32(c.ID)] = cl
				case !slices.Contains(n.unordered, cl) && !slices.Contains(registration.Known(registration.Kryo5), c.Name):
					n.unordered = append(n.unordered, cl)
				}
			}
		}
		n.tables = append(n.tables, table)
		if t, err := registration.New(registration.Kryo5, ordered); err == nil {
			n.ordered = assignment{}
			for _, id := range t.IDs() {
				if id >= len(l.d.classes) {
					n.ordered[uint32(id)] = l.class(t.Name(id))
				}
			}
		}
		return n
	}
	registries, err := l.path.Registries(registration.Kryo4)
	if err != nil {
		return n
	}
	for _, r := range registries {
		table := map[uint32]*class{}
		for _, id := range r.IDs() {
			if id >= len(l.d.classes) {
				table[uint32(id)] = l.class(r.Name(id))
			}
		}
		n.tables = append(n.tables, table)
	}
	return n
}

// candidates returns the classes that a number may stand for.
func (n *numbers) candidates(id uint32) (classes []*class) {
	for _, t := range n.tables {
		if c := t[id]; c != nil && !slices.Contains(classes, c) {
			classes = append(classes, c)
		}
	}
	if len(classes) == 0 && id >= n.first && id < n.first+uint32(len(n.unordered)) {
		return n.unordered
	}
	return classes
}

// assignment is what numbers stand for in one body.
type assignment map[uint32]*class

// consistent reports whether one registry can have all numbers of a.
func (n *numbers) consistent(a assignment) bool {
	for _, t := range n.tables {
		fits := true
		for id, c := range a {
			fits = fits && (t[id] == c || t[id] == nil && slices.Contains(n.unordered, c))
		}
		if fits {
			return true
		}
	}
	return false
}

// unnamed is a class of the application of which no list tells the name.
var unnamed = &class{name: "#"}

// numbered returns the class of a number of the application's.
func (r *Reader) numbered(id uint32) *class {
	var candidates []*class
	if r.library != nil {
		candidates = r.library.numbers.candidates(id)
	}
	if len(candidates) == 0 {
		r.garbage = r.garbage || id > maxClasses
		if r.probing { // most trials end here
			return unnamed
		}
	}
	name := fmt.Sprintf("#%d", id)
	switch {
	case len(candidates) == 0:
		return &class{name: name}
	case r.distrust != nil, r.refuted:
		return &class{name: name} // the list may be what does not fit
	}
	r.listed = true
	if len(candidates) == 1 {
		return candidates[0]
	}
	if c := r.assigned[id]; c != nil {
		return c
	}
	if r.probing {
		r.undecided, r.undecidedAt = candidates, id
		r.Fail(decode.Unsupported, "a class with a known number", name)
		return &class{name: name}
	}
	if !r.searched && r.variation == nil { // for each variation a search would cost too much
		r.searched = true
		r.search()
	}
	if c := r.assigned[id]; c != nil {
		return c
	}
	names := make([]string, 0, len(candidates))
	for _, c := range candidates {
		names = append(names, c.name)
	}
	const most = 3
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return &class{name: name, choice: strings.Join(names, " or ")}
}

// maxTrials bounds the assignments that are tried for a body.
const maxTrials = 1 << 9

// maxTried is how many bytes all trials of a body may read.
func (r *Reader) maxTried() int { return 1<<16 + 16*len(r.whole) }

// search finds out what the numbers of the body stand for from the top-level object on that is being read: it reads the rest of
// the body under every assignment and keeps what all assignments have in common that fit.
func (r *Reader) search() {
	if r.trial == nil {
		r.trial = &Reader{d: r.d, untagged: r.untagged}
	}
	if r.searchTold() {
		return
	}
	if ordered := r.library.numbers.ordered; len(ordered) > 0 && len(r.assigned) == 0 && r.trial.fitsAs(r, ordered) {
		r.assigned = ordered
		return
	}
	r.searchFrom(r.assigned)
}

// searchTold is search for assignments with what earlier bodies told. It reports whether there is one.
func (r *Reader) searchTold() bool {
	if len(r.told) == 0 {
		return false
	}
	from := maps.Clone(r.assigned)
	if from == nil {
		from = assignment{}
	}
	for id, name := range r.told {
		if c := from[uint32(id)]; c != nil && c.name != name {
			return false
		}
		from[uint32(id)] = r.library.class(name)
	}
	return r.searchFrom(from)
}

// searchFrom keeps what all assignments have in common that fit and have the classes of from. It reports whether one fits.
func (r *Reader) searchFrom(from assignment) bool {
	s := search{r: r, numbers: &r.library.numbers, trials: maxTrials, from: from}
	s.try(maps.Clone(from))
	if s.stopped || s.common == nil {
		return s.common != nil
	}
	r.assigned = maps.Clone(r.assigned)
	if r.assigned == nil {
		r.assigned = assignment{}
	}
	maps.Copy(r.assigned, s.common)
	if !s.unsure {
		r.told = s.common.with(r.told)
	}
	return true
}

// with returns the numbers of an assignment, with those that were told.
func (a assignment) with(told decode.Numbers) decode.Numbers {
	all := maps.Clone(told)
	if all == nil {
		all = decode.Numbers{}
	}
	for id, c := range a {
		all[int(id)] = c.name
	}
	if len(all) == len(told) {
		return told
	}
	return all
}

// search is a search for assignments.
type search struct {
	r       *Reader
	numbers *numbers
	from    assignment
	trials  int        // that are left
	common  assignment // of all that fit; nil if none did
	unsure  bool       // whether an assignment fits only as far as classes are known
	stopped bool       // at a bound, or because those that fit have nothing more in common than from
}

// try reads with an assignment, and with every one that adds to it what is missing.
func (s *search) try(a assignment) {
	s.trials--
	if s.stopped = s.stopped || s.trials < 0 || s.r.tried > s.r.maxTried(); s.stopped {
		return
	}
	x := s.r.trial
	fits := x.fitsAs(s.r, a)
	s.r.tried += 1<<8 + x.Off - s.r.top
	if x.undecided == nil {
		if fits {
			s.fit(a)
			s.unsure = s.unsure || x.Err() != nil
		}
		return
	}
	id, candidates := x.undecidedAt, x.undecided
	for _, c := range candidates {
		next := maps.Clone(a)
		if next == nil {
			next = assignment{}
		}
		taken := false
		for _, other := range a {
			taken = taken || other == c
		}
		if next[id] = c; !taken && s.numbers.consistent(next) {
			s.try(next)
		}
	}
}

// fit notes an assignment that fits.
func (s *search) fit(a assignment) {
	if s.common == nil {
		s.common = a
		return
	}
	maps.DeleteFunc(s.common, func(id uint32, c *class) bool { return a[id] != c })
	s.stopped = len(s.common) <= len(s.from)
}

// fitsAs reports whether the body that r reads can be read from its current top-level object on, if numbers stand for these
// classes. A class that is not known at all does not speak against them.
func (x *Reader) fitsAs(r *Reader, a assignment) bool {
	x.know(r.library)
	x.Reset(r.whole, decode.Malformed, nil)
	x.Off, x.assigned, x.probing, x.undecided = r.top, a, true, nil
	x.begin()
	p := x.At(decode.ByField, "value", 0)
	if r.untagged {
		x.untaggedValue(p, r.topType)
	} else if declared := x.library.descriptorClass(r.topType); declared != nil {
		x.assignable(declared, &anyElement, p)
	} else {
		x.object(p)
	}
	for !r.untagged && x.OK() && x.Off < len(x.Buf) {
		x.begin()
		x.object(x.At(decode.ByField, "value", 0))
	}
	if x.undecided != nil {
		return false
	}
	if err := x.Err(); err != nil {
		return err.Cause == decode.Unsupported && !x.misread && !x.garbage
	}
	return true
}
