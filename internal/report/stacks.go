package report

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"strings"

	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// stack is a part of the bytes of calls and its path. pprof profiles and folded stacks are two encodings of a list of stacks.
type stack struct {
	// frames are the names from the root: other keys of the grouping, service, method, direction, segments of a path.
	frames []string
	// serialization and class are "" if unknown.
	serialization, class string
	// bytes has headers and bodies. Requests and responses are counted in the stack of their header, so that they add up.
	bytes, requests, responses int64
}

const (
	headerFrame = "header"
	// notSampledFrame has the bytes of bodies none of which was sampled, so that the sums of methods are correct.
	notSampledFrame = "(not sampled)"
	emptyFrame      = "(empty)"
)

// stacks yields the stacks of all groups in the order of their frames. Their bytes, requests and responses add up to those of the groups.
// If only some bodies were sampled, bytes of paths are in proportion to those of the sample. A stack is borrowed until the next one.
//
// There may be many groups, so the stacks of one method exist at a time.
func (r *Report) stacks() iter.Seq[*stack] {
	return func(yield func(*stack) bool) {
		roots := r.stackRoots()
		list := stackList{names: make(pathNames)}
		for len(roots) > 0 {
			n := 1
			for n < len(roots) && roots[0].mixesWith(&roots[n]) {
				n++
			}
			list.stacks, list.frames = list.stacks[:0], list.frames[:0]
			for i := range roots[:n] {
				list.addGroup(&roots[i])
			}
			roots = roots[n:]
			slices.SortStableFunc(list.stacks, func(a, b stack) int {
				return cmp.Or(slices.Compare(a.frames, b.frames), cmp.Compare(a.serialization, b.serialization), cmp.Compare(a.class, b.class))
			})
			for i := range list.stacks {
				if !yield(&list.stacks[i]) {
					return
				}
			}
		}
	}
}

// stackRoot is the first frames of the stacks of a group.
type stackRoot struct {
	frames        []string
	serialization string
	group         *sizes.Group
}

// stackRoots returns the groups in the order of their first frames.
func (r *Report) stackRoots() []stackRoot {
	lead, serialization := r.leading(), r.keyIndex(sizes.Serialization)
	roots := listOf(r.Groups, func(g *sizes.Group) stackRoot {
		of := stackRoot{group: g}
		if g.Rest {
			of.frames = []string{"(" + beyondText(g.Groups) + ")"}
			return of
		}
		of.frames = listOf(lead, func(k int) string { return stackName(g.Values[k]) })
		if serialization >= 0 {
			of.serialization = stackName(g.Values[serialization])
		}
		return of
	})
	slices.SortStableFunc(roots, func(a, b stackRoot) int { return slices.Compare(a.frames, b.frames) })
	return roots
}

// mixesWith reports whether stacks of o, whose root does not come before r, may come before the last one of r: the roots are equal, or one is
// the start of the other, as that of groups beyond the limit may be.
func (r *stackRoot) mixesWith(o *stackRoot) bool {
	n := min(len(r.frames), len(o.frames))
	return slices.Equal(r.frames[:n], o.frames[:n])
}

// ProfileNote says that the bytes of stacks are estimated from a sample, and how many bodies it has; "" if they are exact.
func (r *Report) ProfileNote() string {
	note := r.SampleNote()
	if note != "" {
		note += " Stacks scale them to all bodies of a row of the report."
	}
	return note
}

// leading returns the indexes of the keys that are frames. With the default grouping these are service and method only.
func (r *Report) leading() []int {
	asked := !slices.Equal(r.By.Keys, sizes.DefaultBy().Keys)
	var lead, name []int
	for i, k := range r.By.Keys {
		switch {
		case k == sizes.Service || k == sizes.Method:
			name = append(name, i)
		case asked:
			lead = append(lead, i)
		}
	}
	slices.SortFunc(name, func(a, b int) int { return cmp.Compare(r.By.Keys[b], r.By.Keys[a]) }) // "service" > "method"
	return append(lead, name...)
}

// pathNames has the frames of paths, which most methods share.
type pathNames map[string][]string

func (n pathNames) of(path string) []string {
	names, ok := n[path]
	if !ok {
		names = PathSegments(path)
		for i := range names {
			names[i] = stackName(names[i])
		}
		n[path] = names
	}
	return names
}

// stackList is a list of stacks.
type stackList struct {
	stacks []stack
	frames []string // those of the stacks
	names  pathNames
	paths  []sizes.PathSum // of a direction
}

// addGroup adds the stacks of a group.
func (l *stackList) addGroup(of *stackRoot) {
	in := of.group.Anatomy
	if in == nil {
		in = new(sizes.GroupAnatomy)
	}
	l.addDirection(of, "request", &of.group.Request, &in.Request)
	l.addDirection(of, "response", of.group.Response(), &in.Response)
}

// addDirection adds the stacks of a group's requests or responses.
func (l *stackList) addDirection(of *stackRoot, name string, d *sizes.Direction, in *sizes.Anatomy) {
	if d.Body.Count == 0 {
		return
	}
	add := func(bytes int64, class string, path ...string) *stack {
		from := len(l.frames)
		l.frames = append(append(append(l.frames, of.frames...), name), path...)
		l.stacks = append(l.stacks, stack{frames: l.frames[from:], serialization: of.serialization, class: class, bytes: bytes})
		return &l.stacks[len(l.stacks)-1]
	}
	if head := add(d.Frame.Total-d.Body.Total, "header", headerFrame); name == "request" {
		head.requests = d.Body.Count
	} else {
		head.responses = d.Body.Count
	}
	if in.Bytes == 0 {
		if d.Body.Total != 0 {
			add(d.Body.Total, "", notSampledFrame)
		}
		return
	}
	sampled, scaled := int64(0), int64(0) // of this path and those before it
	l.paths = in.AppendPaths(l.paths[:0])
	for i := range l.paths {
		p := &l.paths[i]
		before := scaled
		sampled += p.Bytes
		scaled = scale(sampled, d.Body.Total, in.Bytes)
		add(scaled-before, p.Class.String(), l.names.of(p.Path)...)
	}
}

// scale returns n*all/of, rounded down, for 0 <= n <= of. The product may exceed 64 bits.
func scale(n, all, of int64) int64 {
	high, low := bits.Mul64(uint64(n), uint64(all))
	q, _ := bits.Div64(high, low, uint64(of))
	return int64(q)
}

// stackName returns the name of a frame for a text from the wire.
func stackName(s string) string { return cmp.Or(term.Clean(s), emptyFrame) }

// PathSegments splits a path in the notation of package decode: args[0].user["a.b"].tags[*] is args[0], user, ["a.b"], tags, [*].
// A text in another notation is one segment.
func PathSegments(path string) []string {
	var list []string
	for rest := path; rest != ""; {
		n := 0
		switch {
		case strings.HasPrefix(rest, `["`):
			if n = endOfQuoted(rest); n == 0 {
				return append(list, rest)
			}
		case rest[0] == '[':
			if n = strings.IndexByte(rest, ']') + 1; n == 0 {
				return append(list, rest)
			}
		default:
			if n = strings.IndexAny(rest, ".["); n < 0 {
				n = len(rest)
			}
		}
		if n > 0 {
			list = append(list, rest[:n])
		}
		rest = strings.TrimPrefix(rest[n:], ".")
	}
	if len(list) > 1 && list[0] == "args" && list[1][0] == '[' { // the name of an argument is its number
		list = append([]string{list[0] + list[1]}, list[2:]...)
	}
	return list
}

// endOfQuoted returns the length of ["…"] at the start of s, 0 if it does not end.
func endOfQuoted(s string) int {
	for i := 2; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			if strings.HasPrefix(s[i+1:], "]") {
				return i + 2
			}
			return 0
		}
	}
	return 0
}
