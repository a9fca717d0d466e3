package decode

import "cmp"

// PathBytes is the number of bytes of one class at one path, of one body or of several. In these paths [*] stands for all
// elements of a list and for all entries of a map. Arguments keep their numbers and attachments their keys.
type PathBytes struct {
	Path  string
	Class Class
	Bytes int64
}

// OtherPaths is the path of bytes that exceed the limit of distinct paths.
const OtherPaths = "(other)"

const (
	// anatomyDepth is the default of [Anatomist.Depth]. Without a limit a linked list would have as many paths as elements.
	anatomyDepth = 12
	// maxAnatomyPaths limits the distinct paths of a body.
	maxAnatomyPaths = 1 << 10
	// maxAnatomies limits the paths that are remembered from one body to the next.
	maxAnatomies = 1 << 14
	// maxInterned limits the paths of fields that are kept for later bodies.
	maxInterned = 1 << 14
)

// Anatomist adds up the bytes of bodies by path and class. The zero value is ready; it is not safe for concurrent use.
type Anatomist struct {
	// Depth is the largest number of segments of a path, 0 for 12. The bytes of deeper leaves count toward their ancestor.
	Depth int

	paths pathWriter
	known map[string]int32 // index into all, by path
	all   []knownPath
	body  uint32 // counts bodies

	// For [Anatomist.Fields]: the paths, those that bodies share, and of the current body the index by path and the types by path.
	fieldPaths pathWriter
	interned   map[string]string
	rows       map[string]int
	types      map[typeAt]struct{}
}

// knownPath is a path that a body had.
type knownPath struct {
	path string
	by   [ClassMissing + 1]struct { // class
		body uint32 // the last body that had the path with this class
		at   int32  // index into the result for that body
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
		path := p.path(n)
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

// find returns the index of a path in all. Where the body has too many paths already (full), a new one is OtherPaths.
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
