package report

import (
	"cmp"
	"slices"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/sizes"
)

// PathNode is a segment of the paths of bodies, with the paths below it.
type PathNode struct {
	Name string
	// Bytes includes all paths below it; Classes divides them by class.
	Bytes   int64
	Classes [decode.ClassMissing + 1]int64
	// Own is the bytes of this path alone, by class. Messages is the number of messages with the path, a lower bound if it has
	// several classes.
	Own      [decode.ClassMissing + 1]int64
	Messages int64
	Children []*PathNode
	// Left is the number of omitted paths, LeftBytes their bytes.
	Left      int
	LeftBytes int64
}

// PathTree returns the tree of the given number of paths with most bytes. Children with most bytes come first; other paths are counted
// in the node where they would be.
func PathTree(a *sizes.Anatomy, paths int) *PathNode {
	root := &PathNode{}
	for i, p := range a.Paths() {
		n := root
		segments := PathSegments(p.Path)
		for k := 0; ; k++ {
			n.Bytes += p.Bytes
			n.Classes[p.Class] += p.Bytes
			if k == len(segments) {
				n.Own[p.Class] += p.Bytes
				n.Messages = max(n.Messages, p.Messages)
				break
			}
			next := n.child(segments[k])
			if next == nil && i >= paths {
				n.Left++
				n.LeftBytes += p.Bytes
				break
			}
			if next == nil {
				next = &PathNode{Name: segments[k]}
				n.Children = append(n.Children, next)
			}
			n = next
		}
	}
	root.sort()
	return root
}

func (n *PathNode) child(name string) *PathNode {
	for _, c := range n.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func (n *PathNode) sort() {
	slices.SortStableFunc(n.Children, func(a, b *PathNode) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
	for _, c := range n.Children {
		c.sort()
	}
}

// Most returns the class with most bytes.
func Most(classes *[decode.ClassMissing + 1]int64) decode.Class {
	most := decode.Class(0)
	for c, b := range classes {
		if b > classes[most] {
			most = decode.Class(c)
		}
	}
	return most
}
