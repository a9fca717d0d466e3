package decode

import (
	"strconv"
)

// Recorder reads a body from front to back and assigns every byte to exactly one node: a Leaf or a Role owns the bytes that
// were read since the previous node. Readers of serializations that write values in the order of their tree embed one.
// Without a Tree it counts bytes by class instead of recording nodes.
type Recorder struct {
	Cursor
	Tree    *Tree // may be nil
	owned   int   // the offset up to which bytes belong to a node
	depth   int   // values entered and not left
	names   nameCache
	counted counted
}

// Reset starts a body; see [Reader].
func (r *Recorder) Reset(buf []byte, short Cause, t *Tree) {
	r.Cursor.Reset(buf, short)
	r.Tree = t
	r.owned = 0
	r.depth = 0
	r.counted.reset()
}

// Leaf adds a node that owns the bytes read since the last one and returns it for filling, nil when there is none.
func (r *Recorder) Leaf(k Kind, l Label, name string, index int) *Node {
	if r.Tree == nil {
		if r.err == nil {
			if c := &r.counted; c.values && k > Overhead && k < Opaque && l != ByMember {
				c.nodes++
				c.parts[ClassValues] += int32(r.Off - r.owned)
			} else {
				c.count(k, l, name, r.owned, r.Off-r.owned)
			}
			r.owned = r.Off
		}
		return nil
	}
	if r.err != nil || r.Tree.Full() {
		r.noRoom()
		return nil
	}
	n := r.Tree.add(k, l, name, index, r.owned, r.Off)
	r.owned = r.Off
	return n
}

// LeafAt adds a node that owns the bytes from off to end, which were read earlier: an entry of a pool that stands before the
// values that use it.
func (r *Recorder) LeafAt(k Kind, l Label, name string, index, off, end int) *Node {
	if r.Tree == nil {
		if r.err == nil {
			r.counted.count(k, l, name, off, end-off)
		}
		return nil
	}
	if !r.room() {
		return nil
	}
	return r.Tree.add(k, l, name, index, off, end)
}

// Absent adds a node for a value of which the wire has nothing: it is printed as opaque, and is not something left unread.
func (r *Recorder) Absent(l Label, name string, index int) {
	if r.Tree == nil {
		if r.err == nil {
			r.counted.nodes++
		}
		return
	}
	if n := r.Leaf(Opaque, l, name, index); n != nil {
		n.Num = 1
	}
}

// Role assigns the bytes read since the last node, if any, to a piece of overhead in the open container.
func (r *Recorder) Role(name string) {
	if r.Off > r.owned {
		r.role(name)
	}
}

func (r *Recorder) role(name string) {
	if c := &r.counted; r.Tree == nil && r.err == nil && c.values {
		class := ClassOverhead
		if name == "class" || name == "field" {
			class = ClassNames
		}
		c.nodes++
		c.parts[class] += int32(r.Off - r.owned)
		r.owned = r.Off
		return
	}
	r.Leaf(Overhead, ByRole, name, 0)
}

// Pending returns how many bytes were read since the last node.
func (r *Recorder) Pending() int { return r.Off - r.owned }

// Pass leaves the bytes read since the last node without a node.
func (r *Recorder) Pass() {
	if r.OK() {
		r.owned = r.Off
	}
}

// Fill assigns the bytes read since the last node to node i, the open container, itself. A container owns one span; further
// bytes become overhead.
func (r *Recorder) Fill(i int) {
	if !r.OK() {
		return
	}
	if r.Tree == nil {
		r.counted.fill(r.Off - r.owned)
	} else if n := r.Tree.Node(i); n != nil {
		if n.Len > 0 {
			r.Role("value")
			return
		}
		n.Off, n.Len = int32(r.owned), int32(r.Off-r.owned)
	}
	r.owned = r.Off
}

// Hidden calls read for something that is not shown as a value, such as the comparator of a map, and assigns its bytes to
// one piece of overhead.
func (r *Recorder) Hidden(role string, read func()) {
	if !r.OK() {
		return
	}
	t, from, counted := r.Tree, r.owned, r.counted.mark()
	r.Tree, r.counted.hidden = nil, true
	read()
	r.Tree, r.owned, r.counted.hidden = t, from, counted.hidden
	if t == nil && r.OK() {
		r.counted.rewind(counted)
	}
	r.Role(role)
}

// Hiding reports whether [Recorder.Hidden] reads.
func (r *Recorder) Hiding() bool { return r.counted.hidden }

// Open starts a container and returns the index of its node, -1 when there is none. Without a tree it returns a negative
// number where a tree would have no node.
func (r *Recorder) Open(k Kind, l Label, name string, index int) int {
	if !r.room() {
		return -1
	}
	if r.Tree == nil {
		return r.counted.begin(k, l, name)
	}
	return r.Tree.Open(k, l, name, index, r.owned)
}

// Close ends the container opened last. After an error it leaves that to Settle.
func (r *Recorder) Close() {
	switch {
	case !r.OK():
	case r.Tree == nil:
		r.counted.end()
	default:
		r.Tree.Close()
	}
}

// Offset returns the bytes of the body taken so far.
func (r *Recorder) Offset() int { return r.Off }

// Name returns b, which is UTF-8, as a string. Equal names share one copy across bodies.
func (r *Recorder) Name(b []byte) string { return r.names.get(b) }

// Values reports whether texts and numbers are wanted.
func (r *Recorder) Values() bool { return r.Tree.Values() }

// Enter goes one level deeper; beyond MaxDepth it fails with cause Limit and returns false. Leave ends the level.
func (r *Recorder) Enter() bool {
	if r.err == nil && r.depth < MaxDepth {
		r.depth++
		return true
	}
	return r.tooDeep()
}

//go:noinline
func (r *Recorder) tooDeep() bool {
	r.Fail(Limit, "values nested at most "+strconv.Itoa(MaxDepth)+" deep", "deeper nesting")
	return false
}

// Level returns how many values were entered and not left.
func (r *Recorder) Level() int { return r.depth }

// Leave ends what Enter began.
func (r *Recorder) Leave() { r.depth-- }

// Nest is Enter n times, which the caller knows to succeed, or Leave -n times.
func (r *Recorder) Nest(n int) { r.depth += n }

// A Mark is a state of a Recorder that Rewind returns to.
type Mark struct {
	off, owned, depth, open, nodes int
	counted                        countedMark
}

// Mark returns the current state.
func (r *Recorder) Mark() Mark {
	m := Mark{off: r.Off, owned: r.owned, depth: r.depth, open: r.Tree.Depth()}
	if r.Tree != nil {
		m.nodes = len(r.Tree.Nodes)
	} else {
		m.counted = r.counted.mark()
	}
	return m
}

// Rewind goes back to m and forgets what was read and recorded after it. An error stays.
func (r *Recorder) Rewind(m Mark) {
	r.Off, r.owned, r.depth = m.off, m.owned, m.depth
	r.Tree.CloseTo(m.open)
	if r.Tree != nil {
		r.Tree.Nodes = r.Tree.Nodes[:m.nodes]
	} else {
		r.counted.rewind(m.counted)
	}
}

// Settle ends a read that began when depth containers were open. After an error it gives back the bytes that no node owns,
// so that the error's offset, the reader's offset and the nodes agree, and closes the containers opened since.
func (r *Recorder) Settle(depth int) {
	if r.OK() {
		return
	}
	r.err.At = r.owned
	r.Off = r.owned
	r.Tree.CloseTo(depth)
}

// Resume forgets the error and goes on at offset at. The caller records earlier bytes that have no node.
func (r *Recorder) Resume(at int) {
	r.err = nil
	r.Off = at
	r.owned = at
	r.depth = 0
}

func (r *Recorder) room() bool {
	if r.err == nil && !r.Tree.Full() {
		return true
	}
	return r.noRoom()
}

//go:noinline
func (r *Recorder) noRoom() bool {
	if r.err == nil {
		r.Fail(Limit, "at most "+strconv.Itoa(len(r.Tree.Nodes))+" values in a body", "more")
	}
	return false
}
