package estimate

import "dubbo-wire/internal/decode"

// maxCompared limits the nodes that are compared to find an object again, for a message.
const maxCompared = 1 << 16

// rootsAgain finds arguments and results that protostuff has written twice: it writes references only to objects within the one that it was
// given. An object that refers to that one gets a copy of it, and the next one a reference to the copy. What has the class and the values of
// the object around it, down to the same cycle, is taken for that object. It returns the outer objects by their copies.
func rootsAgain(t *decode.Tree, tops ...int) map[int]int {
	c := comparison{t: t}
	var again map[int]int
	for _, top := range tops {
		if top < 0 {
			continue
		}
		roots := []int{top}
		if t.Nodes[top].Label == decode.ByField && t.Nodes[top].Name == "args" {
			roots = roots[:0]
			for i := top + 1; i < int(t.Nodes[top].End); i = int(t.Nodes[i].End) {
				roots = append(roots, i)
			}
		}
		for _, root := range roots {
			r := &t.Nodes[root]
			if r.Kind != decode.Object || r.Class == "" {
				continue
			}
			for i := root + 1; i < int(r.End) && c.compared < maxCompared; i++ {
				if n := &t.Nodes[i]; n.Kind != decode.Object || n.Class != r.Class {
					continue
				}
				c.equal = map[[2]int]bool{}
				if c.same(root, i, 0) {
					if again == nil {
						again = map[int]int{}
					}
					again[i] = root
					break
				}
			}
		}
	}
	return again
}

// comparison compares objects, of which some are references.
type comparison struct {
	t        *decode.Tree
	equal    map[[2]int]bool // pairs that are being compared, or are equal
	compared int
}

// same reports whether two nodes have the same values.
func (c *comparison) same(a, b, depth int) bool {
	a, b = c.followed(a), c.followed(b)
	if a == b || c.equal[[2]int{a, b}] {
		return true
	}
	if c.compared++; c.compared >= maxCompared || depth >= maxPiped {
		return false
	}
	x, y := &c.t.Nodes[a], &c.t.Nodes[b]
	if x.Kind != y.Kind || x.Class != y.Class || x.Num != y.Num || x.Float != y.Float || x.Text != y.Text || string(x.Raw) != string(y.Raw) {
		return false
	}
	c.equal[[2]int{a, b}] = true
	i, k := c.value(a+1, a), c.value(b+1, b)
	for i >= 0 && k >= 0 {
		v, w := &c.t.Nodes[i], &c.t.Nodes[k]
		if v.Label != w.Label || v.Label == decode.ByField && v.Name != w.Name || !c.same(i, k, depth+1) {
			return false
		}
		i, k = c.value(int(v.End), a), c.value(int(w.End), b)
	}
	return i < 0 && k < 0
}

// value returns the first value in a node from another one on, -1 without one.
func (c *comparison) value(from, in int) int {
	for i := from; i < int(c.t.Nodes[in].End); i = int(c.t.Nodes[i].End) {
		if c.t.Nodes[i].Kind != decode.Overhead {
			return i
		}
	}
	return -1
}

func (c *comparison) followed(i int) int {
	for range maxPiped {
		n := &c.t.Nodes[i]
		if n.Kind != decode.Ref || int(n.Num) < 0 || int(n.Num) >= len(c.t.Nodes) {
			break
		}
		i = int(n.Num)
	}
	return i
}
