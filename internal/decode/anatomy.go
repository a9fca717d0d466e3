package decode

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
	// anatomyDepth is how many segments a path has at most; deeper leaves count to their ancestor. A list that is linked by
	// its elements would have as many paths as elements.
	anatomyDepth = 12
	// maxAnatomyPaths is how many paths of a body are kept apart.
	maxAnatomyPaths = 1 << 10
	// maxAnatomies is how many paths are remembered from one body to the next.
	maxAnatomies = 1 << 14
)

// Anatomist adds up what bytes of bodies are for, by path. The zero value is ready; it is not safe for concurrent use.
type Anatomist struct {
	paths pathWriter
	known map[pathKey]int32 // place in all
	all   []knownPath
	body  uint32 // counts bodies
}

type pathKey struct {
	path  string
	class Class
}

// knownPath is a path that some body had: the one with number body has it at place at of what is returned.
type knownPath struct {
	body uint32
	at   int32
}

// Append appends the leaves of a tree to dst, one for each path and class, in the order in which the body has them first.
// Their bytes add up to those of the body as announced.
func (a *Anatomist) Append(dst []PathBytes, t *Tree) []PathBytes {
	a.body++
	if a.body == 0 || len(a.all) > maxAnatomies {
		a.known, a.all = nil, a.all[:0]
		a.body = 1
	}
	if a.known == nil {
		a.known = make(map[pathKey]int32)
	}
	p := &a.paths
	p.collapse = true
	p.reset(anatomyDepth)
	from, top := len(dst), 0
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Parent < 0 {
			top = i
		}
		p.enter(t, int32(i))
		if n.Len == 0 {
			continue
		}
		k := pathKey{p.text(n), n.class(&t.Nodes[top], i == top)}
		id, ok := a.known[k]
		if !ok && len(dst)-from >= maxAnatomyPaths {
			k.path = OtherPaths
			id, ok = a.known[k]
		}
		if !ok {
			id = int32(len(a.all))
			a.known[k] = id
			a.all = append(a.all, knownPath{})
		}
		if e := &a.all[id]; e.body != a.body {
			*e = knownPath{a.body, int32(len(dst))}
			dst = append(dst, PathBytes{k.path, k.class, int64(n.Len)})
		} else {
			dst[e.at].Bytes += int64(n.Len)
		}
	}
	return dst
}
