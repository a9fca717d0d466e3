package decode

import "bytes"

// pathMemory has the collapsed paths of earlier nodes, so that the path of a node that comes again is found, not written. It is a tree:
// the bodies of a method, the elements of a list and the objects of a class take the same steps again, mostly in the same order.
type pathMemory struct {
	nodes []rememberedPath
	far   map[farStep]int32 // the indexes of children, to find those that are not where they are expected
	// texts has the number of each path: nodes that got there by different steps may have the same one.
	texts map[string]int32
}

// rememberedPath is a node of a pathMemory.
type rememberedPath struct {
	path     string
	text     int32 // the number of the path
	id       int32 // 1 + its index in Anatomist.all, 0 if that is not known
	segments int
	children []pathChild
	last     int32    // the index of the child that was found last
	own      bool     // see isOwn
	row      fieldRow // of the field at the path, if it is own
}

type pathChild struct {
	step pathStep
	at   int32
	then int32 // the index of the child that followed this one the last time
}

// pathStep is what a collapsed path depends on, beside that of the parent.
type pathStep struct {
	label Label
	index int32
	name  string
}

type farStep struct {
	from int32
	step pathStep
}

const (
	// noMemory stands for a node whose path is not remembered.
	noMemory = -1
	// maxRemembered limits the nodes of a memory. They are kept from one body to the next.
	maxRemembered = 1 << 14
)

// stepOf returns the step from a container to n.
func stepOf(n *Node, up *openPath) pathStep {
	switch n.Label {
	case ByIndex:
		if up.args {
			return pathStep{label: ByIndex, index: n.Index + 1}
		}
		return pathStep{label: ByIndex}
	case ByMember:
		return pathStep{label: ByMember}
	case ByKey:
		if up.attachments {
			return pathStep{label: ByKey, name: n.Name}
		}
		return pathStep{label: ByKey}
	case ByEntry:
		if up.attachments || up.members && identifier(n.Name) {
			return pathStep{label: ByEntry, name: n.Name}
		}
		return pathStep{label: ByEntry}
	}
	return pathStep{label: n.Label, name: n.Name}
}

func (m *pathMemory) forget() { m.nodes = m.nodes[:0] }

// prepare makes the memory ready for a body, and forgets everything if it is full or if forget is set.
func (m *pathMemory) prepare(forget bool) {
	if len(m.nodes) > 0 && len(m.nodes) < maxRemembered && !forget {
		return
	}
	m.nodes = append(m.nodes[:0], rememberedPath{})
	m.far, m.texts = make(map[farStep]int32), make(map[string]int32)
}

// number returns the number of a path, or noMemory.
func (m *pathMemory) number(path []byte) int32 {
	if n, ok := m.texts[string(path)]; ok {
		return n
	}
	return noMemory
}

// child returns the node that a step leads to, noMemory if it is not known.
func (m *pathMemory) child(from int32, s *pathStep) int32 {
	n := &m.nodes[from]
	if len(n.children) == 0 {
		return noMemory
	}
	last := &n.children[n.last]
	if last.step == *s { // elements of a list
		return last.at
	}
	k := last.then
	if n.children[k].step != *s {
		var ok bool
		if k, ok = m.far[farStep{from, *s}]; !ok {
			return noMemory
		}
		last.then = k
	}
	n.last = k
	return n.children[k].at
}

// isOwn reports whether a path is longer than the first bytes, which are that of the parent, and not by [*] alone.
func isOwn(path []byte, parent int) bool {
	return len(path) > parent && !bytes.HasSuffix(path[parent:], []byte(anyElement))
}

// field returns the node that the step to a field leads to, noMemory if it is not the one that is expected.
func (m *pathMemory) field(from int32, name string) int32 {
	n := &m.nodes[from]
	if len(n.children) == 0 {
		return noMemory
	}
	k := n.children[n.last].then
	c := &n.children[k]
	if c.step.name != name || c.step.label != ByField {
		return noMemory
	}
	n.last = k
	return c.at
}

// add remembers the path that a step leads to and returns its node, noMemory if there is no room.
func (m *pathMemory) add(from int32, s *pathStep, path []byte, segments int) int32 {
	if len(m.nodes) >= maxRemembered {
		return noMemory
	}
	at := int32(len(m.nodes))
	text, ok := m.texts[string(path)]
	if !ok {
		text = int32(len(m.texts))
		m.texts[string(path)] = text
	}
	own := isOwn(path, len(m.nodes[from].path))
	m.nodes = append(m.nodes, rememberedPath{path: string(path), text: text, segments: segments, own: own})
	n := &m.nodes[from]
	k := int32(len(n.children))
	if k > 0 {
		n.children[n.last].then = k
	}
	n.children = append(n.children, pathChild{step: *s, at: at})
	n.last = k
	m.far[farStep{from, *s}] = k
	return at
}
