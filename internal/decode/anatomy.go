package decode

import "cmp"

// PathBytes is how many bytes of one body, or of many, have a path and are for one thing. In these paths all elements of a
// list are one, and all entries of a map: [*]. Arguments keep their numbers, attachments their keys.
type PathBytes struct {
	Path  string
	Class Class
	Bytes int64
}

// OtherPaths is the path of what is beyond the paths that are kept apart.
const OtherPaths = "(other)"

const (
	// anatomyDepth is the default of [Anatomist.Depth]. A list that is linked by its elements would have as many paths as
	// elements without it.
	anatomyDepth = 12
	// maxAnatomyPaths is how many paths of a body are kept apart.
	maxAnatomyPaths = 1 << 10
	// maxAnatomies is how many paths are remembered from one body to the next.
	maxAnatomies = 1 << 14
)

// Anatomist adds up what bytes of bodies are for, by path. The zero value is ready; it is not safe for concurrent use.
type Anatomist struct {
	// Depth is how many segments a path has at most; deeper leaves count to their ancestor. 0 is 12.
	Depth int

	paths pathWriter
	known map[string]int32 // place in all, by path
	all   []knownPath
	body  uint32 // counts bodies
}

// knownPath is a path that some body had.
type knownPath struct {
	path string
	by   [ClassMissing + 1]struct { // class
		body uint32 // the last one that had it
		at   int32  // its place in what is returned for that body
	}
}

// Append appends the leaves of a tree to dst, one for each path and class, in the order in which the body has them first.
// Their bytes add up to those of the body as announced.
func (a *Anatomist) Append(dst []PathBytes, t *Tree) []PathBytes {
	a.body++
	if a.known == nil || a.body == 0 || len(a.all) > maxAnatomies {
		a.known, a.all, a.body = make(map[string]int32), nil, 1
	}
	p := &a.paths
	p.collapse = true
	p.reset(cmp.Or(a.Depth, anatomyDepth))
	from, top, last := len(dst), 0, int32(-1)
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Parent < 0 {
			top = i
		}
		p.enter(t, int32(i))
		if n.Len == 0 {
			continue
		}
		path := p.buf
		switch {
		case n.Kind == Opaque:
			path = opaquePath
		case n.Label == Whole:
			path = append(a.paths.whole[:0], n.Name...)
			a.paths.whole = path
		}
		// Elements of a list have one path after the other.
		id := last
		if id < 0 || a.all[id].path != string(path) {
			id = a.find(path, len(dst)-from >= maxAnatomyPaths)
			last = id
		}
		class := n.class(&t.Nodes[top], i == top)
		if e := &a.all[id].by[class]; e.body != a.body {
			e.body, e.at = a.body, int32(len(dst))
			dst = append(dst, PathBytes{a.all[id].path, class, int64(n.Len)})
		} else {
			dst[e.at].Bytes += int64(n.Len)
		}
	}
	return dst
}

var opaquePath = []byte("opaque")

// find returns the place of a path in all; where the body has its share of paths, new ones go to the others.
func (a *Anatomist) find(path []byte, full bool) int32 {
	id, ok := a.known[string(path)]
	if ok {
		return id
	}
	text := string(path)
	if full {
		text = OtherPaths
		if id, ok = a.known[text]; ok {
			return id
		}
	}
	id = int32(len(a.all))
	a.known[text] = id
	a.all = append(a.all, knownPath{path: text})
	return id
}
