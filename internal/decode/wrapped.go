package decode

// ShowWrapped shows node i, an object that was closed last, as the collection or map in its field of that name, or as the list of that
// map's keys. It returns the node of the field, -1 if that is not possible.
func (r *Recorder) ShowWrapped(i int, name string, keys bool) int {
	if keys {
		r.NeedTree() // values become overhead
	}
	if !r.OK() { // the object may have no node
		return -1
	}
	n := r.Tree.Node(i)
	if n == nil {
		return -1
	}
	wrapped := -1
	for c := i + 1; c < int(n.End); c = int(r.Tree.Nodes[c].End) {
		if f := &r.Tree.Nodes[c]; f.Label == ByField && f.Name == name {
			wrapped = c
		}
	}
	if wrapped > 0 && r.Tree.Nodes[wrapped].Kind == Ref { // to another field of the object, which must not become a reference to itself
		if of := int(r.Tree.Nodes[wrapped].Num); of > i && of < int(n.End) {
			wrapped = of
		}
	}
	if wrapped < 0 || keys && !r.Tree.showKeys(wrapped) {
		return -1
	}
	n.Kind, n.Num = Alias, int64(wrapped)
	return wrapped
}

// showKeys shows the map at node i as the list of its keys. It returns false if that is not a map, or its values have parts.
func (t *Tree) showKeys(i int) bool {
	nodes := t.Nodes
	for nodes[i].Kind == Alias {
		i = int(nodes[i].Num)
	}
	if nodes[i].Kind != Map {
		return false
	}
	end := int(nodes[i].End)
	for c := i + 1; c < end; c = int(nodes[c].End) {
		if nodes[c].Label == ByEntry && int(nodes[c].End) > c+1 {
			return false
		}
	}
	nodes[i].Kind = List
	for c := i + 1; c < end; c = int(nodes[c].End) {
		switch n := &nodes[c]; n.Label {
		case ByKey:
			n.Label, n.Name = ByIndex, ""
		case ByEntry:
			n.Kind, n.Label, n.Name = Overhead, ByRole, "value"
		}
	}
	return true
}
