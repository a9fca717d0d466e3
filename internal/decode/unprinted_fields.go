package decode

import (
	"slices"
	"strings"
)

// Application classes that extend a collection or a date may have fields. The tree has these fields in addition to the
// elements, and AppendJSON does not print them. An object inside such a field that a printed value refers to is printed at
// the first reference, and later references lead there.

// isUnprinted reports whether node i is a field that is not printed, or lies in one.
func (t *Tree) isUnprinted(i int32) bool {
	for up := t.Nodes[i].Parent; up >= 0; i, up = up, t.Nodes[up].Parent {
		if t.Nodes[i].Label == ByField && t.Nodes[up].Kind != Object && !t.isAliased(i) {
			return true
		}
	}
	return false
}

// isAliased reports whether node i is printed in place of its parent.
func (t *Tree) isAliased(i int32) bool {
	up := t.Nodes[i].Parent
	return up >= 0 && t.Nodes[up].Kind == Alias && t.Nodes[up].Num == int64(i)
}

// appendReference prints node i, which is a reference: as the path of its target, or as the target itself where that is not
// printed elsewhere.
func (t *Tree) appendReference(dst []byte, i int) []byte {
	target := int32(t.Nodes[i].Num)
	at, isInlinedHere := t.inlinedAt[target]
	if t.Nodes[target].Kind == Ref || !t.isUnprinted(target) || isInlinedHere && (at != int32(i) || slices.Contains(t.inlining, target)) {
		return t.appendPath(dst, target)
	}
	if !isInlinedHere {
		if t.inlinedAncestor(target) >= 0 {
			return t.appendPath(dst, target)
		}
		if t.inlinedAt == nil {
			t.inlinedAt = make(map[int32]int32)
		}
		t.inlinedAt[target] = int32(i)
	}
	t.inlining, t.nextInlined = append(t.inlining, target), target
	dst = t.AppendJSON(dst, int(target))
	t.inlining = t.inlining[:len(t.inlining)-1]
	return dst
}

// isInlined reports whether node i is printed at a reference to it, unless AppendJSON is called to print it there.
func (t *Tree) isInlined(i int) bool {
	if len(t.inlinedAt) == 0 {
		return false
	}
	if t.nextInlined == int32(i) {
		t.nextInlined = -1
		return false
	}
	_, ok := t.inlinedAt[int32(i)]
	return ok
}

// inlinedAncestor returns node i or its nearest ancestor that is printed at a reference, -1 when there is none.
func (t *Tree) inlinedAncestor(i int32) int32 {
	for ; i >= 0; i = t.Nodes[i].Parent {
		if _, ok := t.inlinedAt[i]; ok {
			return i
		}
	}
	return -1
}

// maxHops limits how many references a path is followed through.
const maxHops = 16

// appendPath prints a reference to node i: the path at which the node was printed.
func (t *Tree) appendPath(dst []byte, i int32) []byte {
	if len(t.inlinedAt) == 0 {
		return AppendReference(dst, t.printedAt(int(i)))
	}
	rest := ""
	for range maxHops {
		up := t.inlinedAncestor(i)
		if up < 0 {
			break
		}
		rest = strings.TrimPrefix(string(t.printedAt(int(i))), string(t.printedAt(int(up)))) + rest
		i = t.inlinedAt[up]
	}
	return AppendReference(dst, string(t.printedAt(int(i)))+rest)
}
