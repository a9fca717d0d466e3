package decode

import (
	"bytes"
	"cmp"
	"encoding/binary"
)

// PathBytes is the number of bytes of one class at one path, of one body or of several. In these paths [*] stands for all
// elements of a list and for all entries of a map. Arguments keep their numbers and attachments their keys.
type PathBytes struct {
	Path  string
	Class Class
	Bytes int64
}

// PathKey is a path and the class of bytes there.
type PathKey struct {
	Path  string
	Class Class
}

// BodyPaths are the bytes of a body by path. Many bodies are kept, so their numbers are packed: most take one byte.
type BodyPaths struct {
	Keys  []PathKey // may be those of other bodies, too, and must not be changed
	bytes []byte    // a varint for each key
}

// PackPaths returns a copy of the paths of a body.
func PackPaths(list []PathBytes, known *KeyCache[PathKey]) *BodyPaths {
	var room [256]byte
	packed := room[:0]
	for i := range list {
		packed = binary.AppendUvarint(packed, uint64(list[i].Bytes))
	}
	return &BodyPaths{known.Of(len(list), func(i int) PathKey { return PathKey{list[i].Path, list[i].Class} }), bytes.Clone(packed)}
}

// All yields the paths with their bytes.
func (p *BodyPaths) All(yield func(PathKey, int64) bool) {
	packed := p.bytes
	for _, k := range p.Keys {
		n, size := binary.Uvarint(packed)
		if packed = packed[size:]; !yield(k, int64(n)) {
			return
		}
	}
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
)

// Anatomist adds up the bytes of bodies by path and class. The zero value is ready; it is not safe for concurrent use.
type Anatomist struct {
	// Depth is the largest number of segments of a path, 0 for 12. The bytes of deeper leaves count toward their ancestor.
	Depth int

	paths pathWriter
	known map[string]int32 // index into all, by path
	all   []knownPath
	body  uint32 // counts bodies

	// For [Anatomist.Fields], of the current body: the index by the number of the path, and by path where that has none; and the types by path.
	fields uint32 // counts bodies
	rowOf  []fieldRow
	rows   map[string]int
	types  map[typeAt]struct{}
}

// fieldRow is the index of a path in the fields of the body that has this count.
type fieldRow struct {
	body uint32
	at   int32
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
		a.paths.memory.forget() // it has indexes of all
	}
	p := &a.paths
	p.collapse = true
	p.reset(cmp.Or(a.Depth, anatomyDepth))
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
		id, full := int32(0), len(dst)-from >= maxAnatomyPaths
		switch {
		case n.Kind == Opaque:
			id = a.find(opaquePath, full)
		case n.Label == Whole:
			id = a.find(n.Name, full)
		default:
			id = a.current(full)
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

const opaquePath = "opaque"

// current returns the index of the path of the node entered last.
func (a *Anatomist) current(full bool) int32 {
	if a.paths.at == noMemory {
		id, ok := a.known[string(a.paths.buf)]
		switch {
		case ok:
			return id
		case full:
			return a.find(OtherPaths, full)
		}
		return a.find(a.paths.collapsed(), full)
	}
	n := &a.paths.memory.nodes[a.paths.at]
	if n.id == 0 {
		id := a.find(n.path, full)
		if a.all[id].path != n.path {
			return id
		}
		n.id = id + 1
	}
	return n.id - 1
}

// find returns the index of a path in all. Where the body has too many paths already (full), a new one is OtherPaths.
func (a *Anatomist) find(path string, full bool) int32 {
	id, ok := a.known[path]
	if ok {
		return id
	}
	text := path
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
