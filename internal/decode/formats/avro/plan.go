package avro

import (
	"cmp"
	"slices"

	"dubbo-wire/internal/decode"
)

// Null takes no bytes. Whether an argument that can be null is present is known only from the bytes after it: the arguments
// are the rest of the body and must end with it. The class of an argument is not on the wire, either: it may be any that extends the declared
// one. The search finds all readings that do at once, as the offsets at which each argument can start. An argument that starts and ends at the
// same offsets in all readings is read, if it can be of one class only; a run of arguments that does not is opaque.
//
// Only readings that Java's writer can have made count (extent.go). Where the capture lacks the end of the body, readings
// that need more bytes than there are count.

// plan is how the arguments from the first one that can be null are read.
type plan struct {
	types   []string // of all arguments; nil: not known
	generic bool     // the arguments of a generic call
	next    int      // the argument that is read next
	made    bool
	from    int    // the argument that the picks start with
	picks   []pick // up to the first argument whose end is not known

	values  []values // of the arguments from from on, with classes of the application
	states  []state
	ways    []way
	starts  []int // of each argument's states in states
	work    int
	targets []int
}

// values are what an argument of a class of the application can be. If it has classes, all of them can be read to their ends.
type values struct {
	classes []*schema
	lacks   *schema // what is unknown of them
	known   bool
}

// A pick is the decision for one argument.
type pick struct {
	does
	end    int     // of a run, or of the argument
	schema *schema // of an argument of a class of the application
	extra  extra
	cause  decode.Cause
	// expected, found: why reading stops
	expected, found string
}

type does uint8

const (
	read   does = iota // its datum
	isNull             // it is null, without bytes
	empty              // it has no bytes of its own: it belongs to the run before it, or is a record without fields
	run                // bytes that several arguments share
	stop
)

// A state is an offset at which an argument can start.
type state struct {
	off, from, to int // of ways
	null          bool
	good          bool // a reading through it ends with the body
}

// A way is a datum that an argument can be.
type way struct {
	end    int     // or cutExtent
	schema *schema // nil for one that is not of the application
	extra  extra   // if it has a schema
}

// Limits of a search: the JVM's number of parameters, the offsets at which one of them can start, the bytes inspected.
const (
	maxArguments = 255
	maxStates    = 256
	workPerByte  = 16
	smallWork    = 1 << 16
	largeWork    = 1 << 26
)

func (p *plan) reset() {
	*p = plan{picks: p.picks[:0], values: p.values[:0], states: p.states[:0], ways: p.ways[:0], starts: p.starts[:0], targets: p.targets[:0]}
}

// again forgets what a search found.
func (p *plan) again() {
	p.picks, p.states, p.ways, p.starts, p.targets = p.picks[:0], p.states[:0], p.ways[:0], p.starts[:0], p.targets[:0]
}

// argument takes an argument of a request whose types are known.
func (r *Reader) argument(l decode.Label, name string, index int, typ string) {
	p := &r.plan
	p.next++
	if !p.made && len(typ) == 1 {
		r.datum(l, name, index, typ)
		return
	}
	if !p.made {
		p.made, p.from = true, index
		r.search()
	}
	i := index - p.from
	if i >= len(p.picks) { // from the first class of the application on
		r.afterUnknown(l, name, index, typ)
		return
	}
	switch k := &p.picks[i]; k.does {
	case read:
		if k.schema != nil {
			if !r.tally(k.schema, k.end, &k.extra, l, name, index) {
				r.value(k.schema, l, name, index)
			}
		} else {
			r.datum(l, name, index, typ)
		}
	case isNull:
		r.Leaf(decode.Null, l, name, index)
	case empty:
		r.absent(l, name, index)
	case run:
		if r.fault == nil {
			r.fault = &decode.Error{Cause: k.cause, At: r.Off, Expected: k.expected, Found: k.found}
		}
		r.Skip(k.end-r.Off, "arguments")
		r.Leaf(decode.Opaque, l, name, index)
	case stop:
		r.Fail(k.cause, k.expected, k.found)
	}
}

// afterUnknown takes an argument whose end only its class tells, or one after such an argument. Where no bytes are left,
// none of them has any.
func (r *Reader) afterUnknown(l decode.Label, name string, index int, typ string) {
	switch {
	case len(typ) == 1 || r.Left() > 0 || r.Short != decode.Malformed:
		r.undecided(l, name, index, typ)
	case nature(typ) == datum || nature(typ) == onlyNull:
		r.Leaf(decode.Null, l, name, index)
	default:
		r.absent(l, name, index)
	}
}

// undecided takes an argument whose end is not known.
func (r *Reader) undecided(l decode.Label, name string, index int, typ string) {
	if nature(typ) == undecided && r.source != nil {
		if r.source.distrust != nil {
			r.FailWith(r.source.distrust)
			return
		}
		if i := index - r.plan.from; r.plan.made && i < len(r.plan.values) && r.plan.values[i].lacks != nil {
			lacks := r.plan.values[i].lacks
			expected, found := lacks.lack()
			r.FailWithout(lacks.class, expected, found)
			return
		}
	}
	if r.source != nil && typ[0] == '[' && index == len(r.plan.types)-1 && r.withoutBytes(l, name, index) {
		return
	}
	r.datum(l, name, index, typ)
}

// withoutBytes takes an array, if that is the rest of the body and its elements have no bytes, as those of an Object[].
func (r *Reader) withoutBytes(l decode.Label, name string, index int) bool {
	n, at := r.number(r.Off)
	if r.Short != decode.Malformed || at < 0 || n < 0 || n > decode.MaxRepeated || n > 0 && at == len(r.Buf) || at+int(min(n, 1)) != len(r.Buf) || r.Buf[len(r.Buf)-1] != 0 {
		return false
	}
	r.array(voids, "", l, name, index)
	return true
}

// search finds the readings of the arguments from p.from on, which start at r.Off, and turns them into picks. With classes whose fields
// another release of Avro writes in another order, both orders are tried if it is not known which one is right.
func (r *Reader) search() {
	p := &r.plan
	first, other := r.orders()
	if !r.searchAs(first) && other == nil || other == nil || !r.reordered() {
		return
	}
	picks := slices.Clone(p.picks)
	fits := r.fits
	if r.searchAs(other); !fits && r.fits {
		r.learn(other.order)
		return
	}
	if fits && !r.fits {
		r.learn(first.order)
	}
	if fits && r.fits {
		picks = commonPicks(picks, p.picks)
	}
	r.fits = fits
	p.picks = append(p.picks[:0], picks...)
}

// commonPicks returns what two readings of the arguments have in common.
func commonPicks(a, b []pick) []pick {
	for i := range a {
		k := &a[i]
		if i >= len(b) || b[i].does != k.does || b[i].end != k.end || (k.schema == nil) != (b[i].schema == nil) || k.schema != nil && k.schema.class != b[i].schema.class {
			return append(a[:i], pick{does: stop, cause: decode.Unsupported, expected: oneOrder, found: twoOrders})
		}
		if k.does == read && k.schema != nil && k.schema.reordered {
			*k = pick{does: run, end: k.end, cause: decode.Unsupported, expected: oneOrder, found: twoOrders}
		}
	}
	return a
}

const (
	oneOrder  = "fields that fit in one of the orders in which releases of Avro write them"
	twoOrders = decode.TwoOrders
)

// searchAs searches with the classes of a library, which may be nil.
func (r *Reader) searchAs(l *library) bool {
	p := &r.plan
	p.again()
	types := p.types[p.from:]
	p.values = p.values[:0]
	for _, typ := range types {
		var v values
		if l != nil && nature(typ) == undecided && len(typ) > 1 {
			v.classes, v.lacks, v.known = l.valuesOf(typ)
			if len(v.classes) > 0 {
				r.touched, r.strict = true, true
			}
		}
		p.values = append(p.values, v)
	}
	known := 0
	for known < len(types) && (nature(types[known]) != undecided || p.values[known].known) {
		known++
	}
	r.fits = false
	if len(p.types) > maxArguments || !r.spread(types, known) {
		p.picks = append(p.picks, pick{
			does: stop, cause: decode.Limit,
			expected: "arguments that are divided with little search", found: "too many ways",
		})
		return false
	}
	r.settle(types, known)
	r.choose(types, known)
	return true
}

// reordered reports whether another order of fields would be other bytes of an argument.
func (r *Reader) reordered() bool {
	return slices.ContainsFunc(r.plan.values, func(v values) bool {
		return slices.ContainsFunc(v.classes, func(s *schema) bool { return s.reordered })
	})
}

// spread collects the offsets at which each of the first n arguments, and the one after them, can start. It reports
// whether the search stayed within its bounds.
func (r *Reader) spread(types []string, n int) bool {
	p := &r.plan
	budget := min(workPerByte*len(r.Buf)+smallWork, largeWork)
	p.targets = append(p.targets, r.Off)
	for i := range n + 1 {
		slices.Sort(p.targets)
		p.targets = slices.Compact(p.targets)
		p.starts = append(p.starts, len(p.states))
		for _, off := range p.targets {
			p.states = append(p.states, state{off: off})
		}
		p.targets = p.targets[:0]
		if i == n {
			break
		}
		at := p.level(i)
		if len(at) > maxStates {
			return false
		}
		for k := range at {
			s := &at[k]
			s.from = len(p.ways)
			r.find(s, i, types[i])
			s.to = len(p.ways)
			if s.null {
				p.targets = append(p.targets, s.off)
			}
			for _, w := range p.ways[s.from:s.to] {
				if w.end >= 0 {
					p.targets = append(p.targets, w.end)
				}
			}
			if p.work > budget {
				return false
			}
		}
	}
	return true
}

// level returns the states of an argument.
func (p *plan) level(i int) []state {
	if i+1 < len(p.starts) {
		return p.states[p.starts[i]:p.starts[i+1]]
	}
	return p.states[p.starts[i]:]
}

// waysOf returns the data that an argument at a state can be.
func (p *plan) waysOf(s *state) []way { return p.ways[s.from:s.to] }

// find says what argument i of the plan can be at a state: null, a datum.
func (r *Reader) find(s *state, i int, typ string) {
	p := &r.plan
	add := func(end int, of *schema) {
		if end != noExtent {
			p.ways = append(p.ways, way{end: end, schema: of})
		}
	}
	switch nature(typ) {
	case datum:
		s.null = len(typ) > 1
		add(r.extent(s.off, typ), nil)
	case onlyNull, fieldless:
		s.null = true
	default:
		s.null = true
		for _, of := range p.values[i].classes {
			if end := r.schemaExtent(s.off, of); end != noExtent {
				p.ways = append(p.ways, way{end, of, r.walk.extra})
			}
		}
	}
	if !p.generic {
		return
	}
	// The method of a generic call is never null. Its types seldom are: bytes that can be read as names of types are
	// taken for them.
	switch p.from + i {
	case 0:
		s.null = false
	case 1:
		end := noExtent
		if len(p.ways) > s.from {
			end = p.ways[s.from].end
		}
		s.null = !r.typeNames(s.off, end)
	}
}

// settle marks the states through which a reading ends with the body.
func (r *Reader) settle(types []string, n int) {
	p := &r.plan
	whole := r.Short == decode.Malformed
	for k, last := 0, p.level(n); k < len(last); k++ {
		s := &last[k]
		switch {
		case n < len(types):
			s.good = !whole || mayEnd(r.Buf[s.off:], types[n:])
		case whole:
			s.good = s.off == len(r.Buf)
		}
	}
	for i := n - 1; i >= 0; i-- {
		at := p.level(i)
		for k := range at {
			s := &at[k]
			s.null = s.null && p.good(i+1, s.off)
			kept := s.from
			for _, w := range p.waysOf(s) {
				if w.end >= 0 && p.good(i+1, w.end) || w.end == cutExtent && !whole {
					p.ways[kept] = w
					kept++
				}
			}
			s.to = kept
			s.good = s.null || s.to > s.from
		}
	}
}

// good reports whether a reading with argument i at offset off ends with the body.
func (p *plan) good(i, off int) bool {
	at := p.level(i)
	k, ok := slices.BinarySearchFunc(at, off, func(s state, off int) int { return cmp.Compare(s.off, off) })
	return ok && at[k].good
}

// only returns the one good state of an argument, nil where there are several or none.
func (p *plan) only(i int) *state {
	var s *state
	at := p.level(i)
	for k := range at {
		if !at[k].good {
			continue
		}
		if s != nil {
			return nil
		}
		s = &at[k]
	}
	return s
}

// cut reports whether argument i may continue after the captured bytes.
func (p *plan) cut(i int) bool {
	return slices.ContainsFunc(p.level(i), func(s state) bool {
		return s.good && slices.ContainsFunc(p.waysOf(&s), func(w way) bool { return w.end == cutExtent })
	})
}

// choose turns the readings found into picks.
func (r *Reader) choose(types []string, n int) {
	p := &r.plan
	for i := 0; i < n; {
		s := p.only(i)
		if s == nil { // for the first argument: there is no reading
			r.misfit(types, n)
			return
		}
		ways := p.waysOf(s)
		if len(ways) == 1 && ways[0].end == cutExtent && !s.null {
			p.picks = append(p.picks, pick{does: read, schema: ways[0].schema}) // its datum fails with the cause
			return
		}
		j, cut := i, false
		var next *state
		for next == nil && j < n && !cut {
			cut = p.cut(j)
			j++
			next = p.only(j)
		}
		several := pick{
			does: run, cause: decode.Unsupported,
			expected: "arguments that can be divided in one way", found: "several ways, as a null takes no bytes",
		}
		switch {
		case cut:
			several.does, several.cause, several.found = stop, r.Short, "no end, which would tell nulls"
			p.picks = append(p.picks, several)
			return
		case next == nil:
			several.does = stop
			p.picks = append(p.picks, several)
			return
		case j > i+1:
			several.end = next.off
			p.picks = append(p.picks, several)
			for range j - i - 1 {
				p.picks = append(p.picks, pick{does: empty, end: next.off})
			}
		case nature(types[i]) == fieldless:
			p.picks = append(p.picks, pick{does: empty, end: next.off})
		case len(ways) == 0:
			p.picks = append(p.picks, pick{does: isNull, end: next.off})
		case next.off == s.off && s.null: // null, or an object of a class without fields
			p.picks = append(p.picks, pick{does: empty, end: next.off})
		case len(ways) > 1:
			p.picks = append(p.picks, severalClasses(types[i], ways, next.off))
		default:
			p.picks = append(p.picks, pick{does: read, schema: ways[0].schema, extra: ways[0].extra, end: next.off})
		}
		i = j
	}
	r.fits = true
}

// misfit decides how to read arguments of which no reading is possible: with classes of the application one after the other, to find out
// where they stop to fit.
func (r *Reader) misfit(types []string, n int) {
	p := &r.plan
	if !slices.ContainsFunc(p.values[:n], func(v values) bool { return len(v.classes) > 0 }) {
		p.picks = append(p.picks, pick{
			does: stop, cause: decode.Malformed,
			expected: "arguments that end with the body", found: "none of their types",
		})
		return
	}
	for i, typ := range types[:n] {
		k := pick{does: read}
		switch nature(typ) {
		case fieldless:
			k.does = empty
		case onlyNull:
			k.does = isNull
		case undecided:
			if len(p.values[i].classes) == 0 {
				k.does = isNull
			} else {
				k.schema = p.values[i].classes[0]
			}
		}
		p.picks = append(p.picks, k)
	}
	p.picks = append(p.picks, pick{
		does: stop, cause: decode.Malformed,
		expected: "arguments that end with the body", found: "none of their types",
	})
}
