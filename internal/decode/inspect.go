package decode

// What reports that show a tree node by node ask of it.

// Paths returns a function that returns the written path of node i, as [Part] has it; it is to be called for each node in
// turn. Where values are redacted, keys of maps are numbers.
func (t *Tree) Paths() func(i int) string {
	var p pathWriter
	p.reset(0)
	return func(i int) string {
		p.enter(t, int32(i))
		n := &t.Nodes[i]
		if t.Redact && n.Kind != Opaque && n.Label != Whole {
			return t.reference(i)
		}
		return p.text(n)
	}
}

// Classes returns a function that returns what the own bytes of node i are for; it is to be called for each node in turn.
func (t *Tree) Classes() func(i int) Class {
	top := 0
	return func(i int) Class {
		if t.Nodes[i].Parent < 0 {
			top = i
		}
		return t.Nodes[i].class(&t.Nodes[top], i == top)
	}
}

// Reference returns the path of node i as values refer to it.
func (t *Tree) Reference(i int) string { return t.reference(i) }

// IsName reports whether node i is the key of a map that is a name rather than a value.
func (t *Tree) IsName(i int) bool {
	l := t.Nodes[i].Label
	return (l == ByKey || l == ByMember) && t.named(i)
}

// Elements returns how many values node i has as a container; of a map, keys and values.
func (t *Tree) Elements(i int) (n int) {
	t.children(i, func(int) { n++ })
	return n
}

// IsNamed reports whether the entry of a map that node i is the key or the value of has a name for a key.
func (t *Tree) IsNamed(i int) bool { return t.namedEntry(int32(i)) }
