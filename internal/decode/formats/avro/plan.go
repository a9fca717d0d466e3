package avro

import (
	"cmp"
	"slices"

	"dubbo-wire/internal/decode"
)

// Null takes no bytes. Whether an argument that can be null is present is known only from the bytes after it: the arguments
// are the rest of the body and must end with it. The search finds all readings that do at once, as the offsets at which each
// argument can start. An argument that starts and ends at the same offsets in all readings is read; a run of arguments that
// does not is opaque.
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

	states  []state
	starts  []int // of each argument's states in states
	work    int
	targets []int
}

// A pick is the decision for one argument.
type pick struct {
	does
	end   int // of a run
	cause decode.Cause
	// expected, found: why reading stops
	expected, found string
}

type does uint8

const (
	read  does = iota // its datum
	null              // it is null, without bytes
	empty             // it has no bytes of its own: it belongs to the run before it, or is a record without fields
	run               // bytes that several arguments share
	stop
)

// A state is an offset at which an argument can start.
type state struct {
	off, end int // end of its datum, or noExtent, cutExtent
	null     bool
	good     bool // a reading through it ends with the body
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
	*p = plan{picks: p.picks[:0], states: p.states[:0], starts: p.starts[:0], targets: p.targets[:0]}
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
		r.datum(l, name, index, typ)
	case null:
		r.Leaf(decode.Null, l, name, index)
	case empty:
		r.Leaf(decode.Opaque, l, name, index)
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
		r.datum(l, name, index, typ)
	case nature(typ) == datum || nature(typ) == never:
		r.Leaf(decode.Null, l, name, index)
	default:
		r.Leaf(decode.Opaque, l, name, index)
	}
}

// search finds the readings of the arguments from p.from on, which start at r.Off, and turns them into picks.
func (r *Reader) search() {
	p := &r.plan
	types := p.types[p.from:]
	known := slices.IndexFunc(types, func(typ string) bool { return nature(typ) == unknown })
	if known < 0 {
		known = len(types)
	}
	if len(p.types) > maxArguments || !r.spread(types, known) {
		p.picks = append(p.picks, pick{
			does: stop, cause: decode.Limit,
			expected: "arguments that are divided with little search", found: "too many ways",
		})
		return
	}
	r.settle(types, known)
	r.choose(types, known)
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
			p.states = append(p.states, state{off: off, end: noExtent})
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
			r.ways(&at[k], p.from+i, types[i])
			if at[k].null {
				p.targets = append(p.targets, at[k].off)
			}
			if at[k].end >= 0 {
				p.targets = append(p.targets, at[k].end)
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

// ways says what an argument at a state can be: null, a datum.
func (r *Reader) ways(s *state, index int, typ string) {
	switch nature(typ) {
	case datum:
		s.null = len(typ) > 1
		s.end = r.extent(s.off, typ)
	case never, fieldless:
		s.null = true
	}
	if !r.plan.generic {
		return
	}
	// The method of a generic call is never null. Its types seldom are: bytes that can be read as names of types are
	// taken for them.
	switch index {
	case 0:
		s.null = false
	case 1:
		s.null = !r.typeNames(s.off, s.end)
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
			if s.end >= 0 && !p.good(i+1, s.end) || s.end == cutExtent && whole {
				s.end = noExtent
			}
			s.good = s.null || s.end != noExtent
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
	return slices.ContainsFunc(p.level(i), func(s state) bool { return s.good && s.end == cutExtent })
}

// choose turns the readings found into picks.
func (r *Reader) choose(types []string, n int) {
	p := &r.plan
	for i := 0; i < n; {
		s := p.only(i)
		if s == nil { // for the first argument: there is no reading
			p.picks = append(p.picks, pick{
				does: stop, cause: decode.Malformed,
				expected: "arguments that end with the body", found: "none of their types",
			})
			return
		}
		if s.end == cutExtent && !s.null {
			p.picks = append(p.picks, pick{does: read}) // its datum fails with the cause
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
				p.picks = append(p.picks, pick{does: empty})
			}
		case nature(types[i]) == fieldless:
			p.picks = append(p.picks, pick{does: empty})
		case next.off == s.off:
			p.picks = append(p.picks, pick{does: null})
		default:
			p.picks = append(p.picks, pick{does: read})
		}
		i = j
	}
}
