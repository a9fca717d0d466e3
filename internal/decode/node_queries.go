package decode

// These methods serve reports that show a tree node by node.

// Paths returns a function that returns the path of node i as [Part.Path] has it. Callers call it for every node in order.
// Where values are redacted, keys of maps are numbers.
func (t *Tree) Paths() func(i int) string {
	var p pathWriter
	return func(i int) string {
		p.enter(t, int32(i))
		n := &t.Nodes[i]
		if t.Redact && n.Kind != Opaque && n.Label != Whole {
			return t.Path(i)
		}
		return string(p.path(n))
	}
}

// Classes returns a function that returns the class of the bytes that node i itself owns. Callers call it for every node in
// order.
func (t *Tree) Classes() func(i int) Class {
	top := 0
	return func(i int) Class {
		if t.Nodes[i].Parent < 0 {
			top = i
		}
		return t.Nodes[i].class(&t.Nodes[top], i == top)
	}
}

// IsName reports whether node i is a key of a map that is a name rather than a value.
func (t *Tree) IsName(i int) bool {
	l := t.Nodes[i].Label
	return (l == ByKey || l == ByMember) && t.named(i)
}

// Elements returns the number of values in container i; keys and values of a map count separately.
func (t *Tree) Elements(i int) (n int) {
	for c, end := t.next(i, i+1), t.end(i); c < end; c = t.next(i, t.end(c)) {
		n++
	}
	return n
}
