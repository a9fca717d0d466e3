package decode

import (
	"slices"
	"strings"
)

// Collections and dates of the application may have fields of their own. They stand in the tree beside the elements and are
// not printed; an object in one of them that comes again as a value is printed there, and is what further references mean.

// beside reports whether node i is, or lies in, a field that is not printed.
func (t *Tree) beside(i int32) bool {
	for up := t.Nodes[i].Parent; up >= 0; i, up = up, t.Nodes[up].Parent {
		if t.Nodes[i].Label == ByField && t.Nodes[up].Kind != Object {
			return true
		}
	}
	return false
}

// appendReference prints node i, which is a reference.
func (t *Tree) appendReference(dst []byte, i int) []byte {
	target := int32(t.Nodes[i].Num)
	at, isMoved := t.moved[target]
	if t.Nodes[target].Kind == Ref || !t.beside(target) || isMoved && (at != int32(i) || slices.Contains(t.moving, target)) {
		return t.appendPath(dst, target)
	}
	if !isMoved {
		if t.movedWith(target) >= 0 {
			return t.appendPath(dst, target)
		}
		if t.moved == nil {
			t.moved = make(map[int32]int32)
		}
		t.moved[target] = int32(i)
	}
	t.moving, t.landing = append(t.moving, target), target
	dst = t.AppendJSON(dst, int(target))
	t.moving = t.moving[:len(t.moving)-1]
	return dst
}

// isElsewhere reports whether node i is printed where a reference to it stands, and is not just going to be.
func (t *Tree) isElsewhere(i int) bool {
	if len(t.moved) == 0 {
		return false
	}
	if t.landing == int32(i) {
		t.landing = -1
		return false
	}
	_, ok := t.moved[int32(i)]
	return ok
}

// movedWith returns the nearest node, from i upwards, that a reference was printed as, -1 when there is none.
func (t *Tree) movedWith(i int32) int32 {
	for ; i >= 0; i = t.Nodes[i].Parent {
		if _, ok := t.moved[i]; ok {
			return i
		}
	}
	return -1
}

// maxMoves bounds how often a path is looked for behind another.
const maxMoves = 16

// appendPath prints a reference to node i, by the path of where it was printed.
func (t *Tree) appendPath(dst []byte, i int32) []byte {
	rest := ""
	for range maxMoves {
		up := int32(-1)
		if len(t.moved) > 0 {
			up = t.movedWith(i)
		}
		if up < 0 {
			break
		}
		rest = strings.TrimPrefix(t.reference(int(i)), t.reference(int(up))) + rest
		i = t.moved[up]
	}
	dst = append(dst, `{"@ref":`...)
	return append(AppendString(dst, t.reference(int(i))+rest), '}')
}
