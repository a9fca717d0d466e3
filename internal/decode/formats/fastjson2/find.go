package fastjson2

import (
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/decode"
)

// find follows a path from the root and returns its target and how likely that is right: 0 for no target or several ones.
func (p *paths) find(t *decode.Tree, path string) (node int32, likely int) {
	at, sure := int32(0), true
	for path != "" {
		s := step{from: at, index: byName}
		switch path[0] {
		case '.':
			s.name, path = segment(path[1:])
		case '[':
			end := strings.IndexByte(path, ']')
			if end < 0 {
				return -1, 0
			}
			index, err := strconv.ParseUint(path[1:end], 10, 31)
			if err != nil {
				return -1, 0
			}
			s.index = int32(index)
			path = path[end+1:]
			if key, ok := p.steps[step{at, s.index, "key"}]; ok && (path == ".key" || strings.HasPrefix(path, ".key.") || strings.HasPrefix(path, ".key[")) {
				if to, ok := p.steps[s]; !ok || p.isNull(t, to) { // only then a key is counted
					at, path = key, path[len(".key"):]
					continue
				}
			}
		default:
			if at != 0 {
				return -1, 0
			}
			s.name, path = segment(path)
		}
		exact := true
		if at, exact = p.follow(s); at < 0 {
			return -1, 0
		}
		sure = sure && exact
	}
	if node, likely = p.choose(t, at); sure {
		likely++
	}
	return node, likely
}

// isNull reports whether a path leads to null or to nothing.
func (p *paths) isNull(t *decode.Tree, at int32) bool {
	c := p.first[at]
	return c < 0 || t.Nodes[p.value[c].node].Kind == decode.Null
}

// follow returns the path that a step leads to, -1 for none or several, and whether it is exact rather than a guess.
func (p *paths) follow(s step) (to int32, exact bool) {
	if to, ok := p.steps[s]; ok {
		return to, true
	}
	// In the element that the reference stands in, if that is of a set.
	for i := len(p.open) - 1; i > 0 && p.work < maxWork; i-- {
		p.work++
		if l := &p.open[i]; p.up[l.path] == s.from && p.open[i-1].path == s.from {
			if to, ok := p.steps[step{l.path, s.index, s.name}]; ok {
				return to, false
			}
		}
	}
	if to, ok := p.loose[s]; ok {
		return to, false
	}
	if s.index != byName {
		if to, ok := p.steps[step{s.from, s.index, "value"}]; ok {
			return to, false
		}
		return -1, false
	}
	if to, ok := p.steps[step{s.from, byName, "\x01" + skeleton(s.name)}]; ok {
		return to, false
	}
	for _, bits := range []int{64, 32} {
		if f, err := strconv.ParseFloat(s.name, bits); err == nil {
			if to, ok := p.steps[step{s.from, byName, floatName(f, bits)}]; ok {
				return to, true
			}
		}
	}
	if to, ok := p.steps[step{s.from, byNothing, ""}]; ok {
		return to, false
	}
	return -1, false
}

// choose returns the value at a path, and how likely that is right. References lead to objects; few objects are written as a
// text or a number, and only one as null. Of several values it takes the one that shares more containers with the reference.
func (p *paths) choose(t *decode.Tree, at int32) (node int32, likely int) {
	node = -1
	depth := -1
	c := p.first[at]
	several := c >= 0 && p.value[c].next >= 0
	for range maxCandidates {
		if c < 0 {
			return node, likely
		}
		other, l := p.value[c].node, 4
		c = p.value[c].next
		switch t.Nodes[other].Kind {
		case decode.List, decode.Map, decode.Object:
			l = 6
		case decode.Null:
			l = 2
		}
		if l < likely {
			continue
		}
		common := 0
		if several {
			common = p.common(t, other)
		}
		switch {
		case l > likely, common > depth:
			node, likely, depth = other, l, common
		case common == depth:
			node = -1
		}
	}
	return -1, 0
}

// common returns the number of open containers that contain a node or are the node.
func (p *paths) common(t *decode.Tree, node int32) int {
	for ; p.work < maxWork; node = t.Nodes[node].Parent {
		p.work++
		if i, ok := slices.BinarySearchFunc(p.open, node, func(l level, node int32) int { return int(l.node - node) }); ok || i == 0 {
			return i
		}
	}
	return 0
}
