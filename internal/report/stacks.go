package report

import (
	"cmp"
	"slices"
	"strings"

	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// stack is a part of what calls weigh, and whose it is: profiles of pprof and folded stacks are two ways to write a list of
// them.
type stack struct {
	// frames are its names, the root first: other keys that calls are grouped by, service, method, direction, and the segments
	// of a path.
	frames []string
	// serialization and class are "" where they are not known.
	serialization, class string
	// bytes are headers and bodies. Requests and responses are counted where their header is, so that they add up, too.
	bytes, requests, responses int64
}

const (
	headerFrame = "header"
	// unseenFrame is the bytes of bodies that were not looked into: what a method weighs is right where only some of its
	// bodies were.
	unseenFrame = "(not looked into)"
	emptyFrame  = "(empty)"
)

// stacks lists what all groups weigh. Bytes add up to the frame bytes of the groups, requests and responses to their counts.
func (r *Report) stacks() []stack {
	var all []stack
	lead, serialization := r.leading(), r.keyIndex(sizes.Serialization)
	for _, g := range r.Groups {
		var of stack
		if g.Rest {
			of.frames = []string{"(" + beyondText(g.Groups) + ")"}
		} else {
			for _, k := range lead {
				of.frames = append(of.frames, stackName(g.Values[k]))
			}
			if serialization >= 0 {
				of.serialization = stackName(g.Values[serialization])
			}
		}
		in := g.Inside
		if in == nil {
			in = new(sizes.Inside)
		}
		all = appendDirection(all, of, "request", &g.Request, &in.Request)
		all = appendDirection(all, of, "response", &g.Response, &in.Response)
	}
	slices.SortStableFunc(all, func(a, b stack) int {
		return cmp.Or(slices.Compare(a.frames, b.frames), cmp.Compare(a.serialization, b.serialization), cmp.Compare(a.class, b.class))
	})
	return all
}

// leading are the places of the keys that are frames: of the grouping that nobody asked for only service and method.
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

// appendDirection adds the stacks of a group's requests or responses.
func appendDirection(all []stack, of stack, name string, d *sizes.Direction, in *sizes.Anatomy) []stack {
	if d.Body.Count == 0 {
		return all
	}
	root := slices.Concat(of.frames, []string{name})
	add := func(bytes int64, class string, path ...string) {
		s := of
		s.frames, s.bytes, s.class = slices.Concat(root, path), bytes, class
		all = append(all, s)
	}
	add(d.Frame.Total-d.Body.Total, "header", headerFrame)
	if head := &all[len(all)-1]; name == "request" {
		head.requests = d.Body.Count
	} else {
		head.responses = d.Body.Count
	}
	for _, p := range in.Paths() {
		segments := PathSegments(p.Path)
		for i := range segments {
			segments[i] = stackName(segments[i])
		}
		add(p.Bytes, p.Class.String(), segments...)
	}
	if rest := d.Body.Total - in.Bytes; rest != 0 {
		add(rest, "", unseenFrame)
	}
	return all
}

// stackName makes a text of the wire a name of a stack.
func stackName(s string) string {
	if s == "" {
		return emptyFrame
	}
	return term.Clean(s)
}

// PathSegments takes a path of an anatomy apart, as decode writes it: args[0].user["a.b"].tags[*] is args[0], user, ["a.b"],
// tags, [*]. What is no such path is one segment.
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
	if len(list) > 1 && list[0] == "args" && list[1][0] == '[' { // an argument has no name but its number
		list = append([]string{list[0] + list[1]}, list[2:]...)
	}
	return list
}

// endOfQuoted is the length of ["…"] at the start of s, 0 where it does not end.
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
