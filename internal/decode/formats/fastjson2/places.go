package fastjson2

import (
	"strconv"

	"dubbo-wire/internal/decode"
)

// Without a tree nothing but a reference needs to know what was read before it, and of that only whether it leads to
// something. A document is walked without keeping any of it; when a reference with a path is met it is walked once more, and
// the place of every value in its container is kept. What [references.find] would find at once, in a document of which
// nothing is counted in several ways, is found there; for all else a tree is made.

// place is a value in its container.
type place struct {
	first, last, next int32 // child, child, sibling; -1: none
	label             decode.Label
	container         bool
	index             int32
	name              string // of a field, or of an entry whose key is a string
}

// places are those of a document; the first is its value.
type places struct {
	kept   []place
	on     bool // they are kept
	wanted bool // a reference was met while they were not
	odd    bool // something is counted in several ways, or has a name that is no string
	last   bool // the reference before led to something
	at     int32
	work   int // siblings looked at
}

// siblingsPerByte bounds how many siblings paths may lead over, per byte of the body, before a tree is made, which finds any
// child at once.
const siblingsPerByte = 32

func (s *places) forget() {
	if cap(s.kept) > 4*keptSteps {
		s.kept = nil
	}
	*s = places{kept: s.kept[:0], on: s.on, at: -1}
}

// add keeps a value, if places are kept, and returns its number.
func (s *places) add(l decode.Label, name string, index int, container bool) int32 {
	if !s.on {
		return -1
	}
	id := int32(len(s.kept))
	s.kept = append(s.kept, place{first: -1, last: -1, next: -1, label: l, container: container, index: int32(index), name: name})
	if s.at >= 0 {
		if up := &s.kept[s.at]; up.first < 0 {
			up.first, up.last = id, id
		} else {
			s.kept[up.last].next = id
			up.last = id
		}
	}
	return id
}

// walkReference is what reference does without a tree.
func (r *Reader) walkReference(path text, start int, l decode.Label, name string, index int) {
	p := &r.places
	up := string(path.raw) == ".."
	if !p.on && !up {
		p.wanted = true
		r.FailAt(start, decode.Limit, "a walk that keeps places", "none")
		return
	}
	if string(path.raw) != "#-1" {
		p.last = up && r.inside >= 0 || !up && !p.odd && p.leads(path.raw)
	}
	if !p.last || p.work > siblingsPerByte*len(r.body) {
		r.NeedTree()
	}
	p.add(l, name, index, false)
	r.Leaf(decode.Ref, l, name, index)
}

// leads reports whether a path leads to one object, map or list.
func (s *places) leads(path []byte) bool {
	if !isASCII(path) || len(path) == 0 || path[0] != '$' {
		return false
	}
	at := int32(0)
	for path = path[1:]; len(path) > 0 && at >= 0; {
		end := 1
		for end < len(path) && path[end] != '.' && path[end] != '[' {
			if path[end] == '\\' {
				return false
			}
			end++
		}
		part := path[1:end]
		switch {
		case path[0] == '.':
			at = s.child(at, func(p *place) bool {
				return (p.label == decode.ByField || p.label == decode.ByEntry) && p.name != "" && p.name == string(part)
			})
		case path[0] == '[' && len(part) > 0 && part[len(part)-1] == ']':
			index, err := strconv.ParseUint(string(part[:len(part)-1]), 10, 31)
			if err != nil {
				return false
			}
			at = s.child(at, func(p *place) bool { return p.label == decode.ByIndex && p.index == int32(index) })
		default:
			return false
		}
		path = path[end:]
	}
	return at >= 0 && s.kept[at].container
}

// child returns the only child that is meant, -1 if there is none or more than one.
func (s *places) child(of int32, meant func(*place) bool) int32 {
	found := int32(-1)
	for c := s.kept[of].first; c >= 0; c = s.kept[c].next {
		s.work++
		if meant(&s.kept[c]) {
			if found >= 0 {
				return -1
			}
			found = c
		}
	}
	return found
}

// counted notes an array whose elements, or whose followers, the writer may count in another way.
func (s *places) counted(class *symbol, count int) {
	if s.on {
		k := listKind(class, count)
		s.odd = s.odd || k != listOrdered && k != listUnclassed
	}
}
