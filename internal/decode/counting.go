package decode

// counted is what a Recorder without a tree knows about the nodes that a tree would have: the bytes of each class and the
// number of nodes.
type counted struct {
	sums
	open []container
}

// sums are the parts of counted that a mark has a copy of.
type sums struct {
	parts PartBytes
	nodes int
	// values: containers are open, and the outermost one is not the attachments. attachments: the outermost one is.
	values, attachments bool
	// opaqueAt is the offset of the first opaque value, opaque whether there is one.
	opaqueAt  int
	opaque    bool
	needsTree bool
	hidden    bool // within [Recorder.Hidden]
}

func (c *counted) reset() { *c = counted{open: c.open[:0]} }

// container is an open container: the class of its own bytes, and whether it has any.
type container struct {
	class Class
	owns  bool
}

// count adds up n bytes of a node at offset off.
func (c *counted) count(k Kind, l Label, name string, off, n int) {
	c.nodes++
	if k == Opaque && !c.opaque {
		c.opaque, c.opaqueAt = true, off
	}
	c.parts[classOf(k, l, name, len(c.open) == 0, c.attachments)] += int32(n)
}

// begin starts a container and returns the number of its node, -1 when a tree would have none.
func (c *counted) begin(k Kind, l Label, name string) int {
	c.nodes++
	own := container{class: classOf(k, l, name, len(c.open) == 0, c.attachments)}
	if len(c.open) == 0 {
		c.attachments = own.class == ClassAttachments
		c.values = !c.attachments
	}
	c.open = append(c.open, own)
	if c.hidden {
		return -1
	}
	return c.nodes
}

func (c *counted) end() {
	if k := len(c.open); k > 0 {
		c.open = c.open[:k-1]
		if k == 1 {
			c.values, c.attachments = false, false
		}
	}
}

// fill adds up n bytes of the open container itself.
func (c *counted) fill(n int) {
	k := len(c.open) - 1
	switch {
	case n == 0 || k < 0:
	case c.open[k].owns:
		c.count(Overhead, ByRole, "value", 0, n)
	default:
		c.open[k].owns = true
		c.parts[c.open[k].class] += int32(n)
	}
}

// countedMark is a state of counted that rewind returns to.
type countedMark struct {
	sums
	open int
	owns bool // whether the innermost open container has bytes
}

func (c *counted) mark() countedMark {
	k := len(c.open)
	return countedMark{sums: c.sums, open: k, owns: k > 0 && c.open[k-1].owns}
}

func (c *counted) rewind(m countedMark) {
	c.sums = m.sums
	if m.open <= len(c.open) {
		c.open = c.open[:m.open]
	}
	if m.open > 0 && m.open == len(c.open) {
		c.open[m.open-1].owns = m.owns
	}
}

// NeedTree records that the classes of this body's bytes are known only with a tree.
func (r *Recorder) NeedTree() { r.counted.needsTree = true }

// Run is Leaf for the first n elements of the open list at once. It does nothing with a tree.
func (r *Recorder) Run(k Kind, n int) {
	if r.Tree == nil && n > 0 {
		r.Leaf(k, ByIndex, "", 0)
		r.counted.nodes += n - 1
	}
}

// Counting reports whether Tally may be called: there is no tree, and a container is open.
func (r *Recorder) Counting() bool {
	return r.Tree == nil && r.err == nil && (r.counted.values || r.counted.attachments)
}

// Tally counts the bytes read since the last node as that many nodes: overhead bytes of overhead, the rest values. It
// replaces calls of Open, Leaf, Role, Fill and Close.
func (r *Recorder) Tally(overhead, nodes int) {
	c, n := &r.counted, int32(r.Off-r.owned)
	c.nodes += nodes
	if c.attachments {
		c.parts[ClassAttachments] += n
	} else {
		c.parts[ClassOverhead] += int32(overhead)
		c.parts[ClassValues] += n - int32(overhead)
	}
	r.owned = r.Off
}

// TallyPooled is Tally for n bytes that were read earlier, all of them values, and [Recorder.LeafAt] for them at once.
func (r *Recorder) TallyPooled(n, nodes int) {
	c := &r.counted
	c.nodes += nodes
	if c.attachments {
		c.parts[ClassAttachments] += int32(n)
	} else {
		c.parts[ClassValues] += int32(n)
	}
}

// Recount moves n bytes from values to another class. With a tree a reader changes the nodes instead.
func (r *Recorder) Recount(to Class, n int) {
	if r.Tree == nil && !r.counted.attachments {
		r.counted.parts[ClassValues] -= int32(n)
		r.counted.parts[to] += int32(n)
	}
}

// Discount removes what was counted since m, whose bytes the caller counts otherwise.
func (r *Recorder) Discount(m Mark) {
	if r.Tree == nil {
		r.counted.rewind(m.counted)
	}
}

// maxCounted limits the nodes that are counted: a tree takes these and the nodes of an envelope.
const maxCounted = DefaultMaxNodes - 64

// Summer is a Reader that counts the bytes of each class when it reads without a tree, as every [Recorder] does. The sum
// equals that of the tree that the same calls would have made, if the Reader's format says so ([Format.Counts]).
type Summer interface {
	// Open and Close begin and end a container of the protocol.
	Open(k Kind, l Label, name string, index int) int
	Close()
	// Sum returns the bytes of each class; ok is false where only a tree tells.
	Sum() (sum PartBytes, ok bool)
	// SetSum replaces the sum.
	SetSum(sum PartBytes)
	// Resume goes on at offset at; SetSum has the sum of the bytes before it.
	Resume(at int)
	// FirstOpaque returns the offset of the first opaque value.
	FirstOpaque() (at int, ok bool)
}

// Sum returns the bytes of each class that were read without a tree since Reset. ok is false where only a tree tells, and
// after an error.
func (r *Recorder) Sum() (sum PartBytes, ok bool) {
	return r.counted.parts, r.OK() && !r.counted.needsTree && r.counted.nodes <= maxCounted
}

// SetSum replaces the sum.
func (r *Recorder) SetSum(sum PartBytes) { r.counted.parts = sum }

// FirstOpaque returns the offset of the first opaque value that was read without a tree.
func (r *Recorder) FirstOpaque() (at int, ok bool) { return r.counted.opaqueAt, r.counted.opaque }
