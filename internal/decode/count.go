package decode

// counted is what a Recorder without a tree knows of the nodes that a tree would have: what their bytes are for, and how
// many there are.
type counted struct {
	parts PartBytes
	nodes int
	open  []container
	// values: they are not empty, and the outermost of them is something else than the attachments; attachments: it is those.
	values, attachments bool
	// opaqueAt is where the first opaque value stands, opaque whether there is one.
	opaqueAt int
	opaque   bool
	void     bool
	hidden   bool // within [Recorder.Hidden]
}

func (c *counted) reset() { *c = counted{open: c.open[:0]} }

// container is one that is open: what its own bytes are for, and whether it has some.
type container struct {
	class Class
	owns  bool
}

// class returns what the bytes of a node are for, as [Node.class] does.
func (c *counted) class(k Kind, l Label, name string) Class {
	top := len(c.open) == 0
	switch {
	case k == Opaque:
		return ClassOpaque
	case c.attachments, top && l == ByField && name == "attachments":
		return ClassAttachments
	case k == Overhead && (name == "class" || name == "field"), l == ByMember:
		return ClassNames
	case k == Overhead:
		return ClassOverhead
	case top && l == ByField && name != "result" && name != "exception":
		return ClassEnvelope
	}
	return ClassValues
}

// count adds up n bytes of a node at offset off.
func (c *counted) count(k Kind, l Label, name string, off, n int) {
	c.nodes++
	if k == Opaque && !c.opaque {
		c.opaque, c.opaqueAt = true, off
	}
	c.parts[c.class(k, l, name)] += int32(n)
}

// begin starts a container and returns the number of its node, -1 when there would be none.
func (c *counted) begin(k Kind, l Label, name string) int {
	c.nodes++
	own := container{class: c.class(k, l, name)}
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

// countedMark is a place in what was counted.
type countedMark struct {
	parts             PartBytes
	nodes, open       int
	owns, attachments bool
	values            bool
	opaque, void      bool
	hidden            bool
	opaqueAt          int
}

func (c *counted) mark() countedMark {
	k := len(c.open)
	return countedMark{
		parts: c.parts, nodes: c.nodes, open: k, owns: k > 0 && c.open[k-1].owns, attachments: c.attachments, values: c.values,
		opaque: c.opaque, opaqueAt: c.opaqueAt, void: c.void, hidden: c.hidden,
	}
}

func (c *counted) rewind(m countedMark) {
	c.parts, c.nodes, c.attachments, c.values = m.parts, m.nodes, m.attachments, m.values
	c.opaque, c.opaqueAt, c.void = m.opaque, m.opaqueAt, m.void
	c.hidden = m.hidden
	if m.open <= len(c.open) {
		c.open = c.open[:m.open]
	}
	if m.open > 0 && m.open == len(c.open) {
		c.open[m.open-1].owns = m.owns
	}
}

// NeedTree says that what the bytes are for cannot be told without a tree.
func (r *Recorder) NeedTree() { r.counted.void = true }

// Run is Leaf for n values side by side, elements of the open list from number 0 on. Only without a tree.
func (r *Recorder) Run(k Kind, n int) {
	if r.Tree == nil && n > 0 {
		r.Leaf(k, ByIndex, "", 0)
		r.counted.nodes += n - 1
	}
}

// Counting reports whether bytes are counted, without a tree, within a container that is open: then Tally may be used.
func (r *Recorder) Counting() bool {
	return r.Tree == nil && r.err == nil && (r.counted.values || r.counted.attachments)
}

// Tally counts what was read since the last node, so many bytes of it overhead and the rest values, of so many nodes: what
// calls of Open, Leaf, Role, Fill and Close would count together.
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

// Recount gives n bytes that were counted as values to another class: what a reader with a tree does by changing nodes.
func (r *Recorder) Recount(to Class, n int) {
	if r.Tree == nil && !r.counted.attachments {
		r.counted.parts[ClassValues] -= int32(n)
		r.counted.parts[to] += int32(n)
	}
}

// Discount takes back what was counted since m: its bytes are about to be counted as something else.
func (r *Recorder) Discount(m Mark) {
	if r.Tree == nil {
		r.counted.rewind(m.counted)
	}
}

// maxCounted is how many nodes are counted: fewer than a tree takes, by more than an envelope needs.
const maxCounted = DefaultMaxNodes - 64

// Summer is a Reader that counts what bytes are for while it walks without a tree: every [Recorder]. The sum is that of
// the tree which the same calls would have made, if the Reader's format says so ([Format.Counts]).
type Summer interface {
	// Open and Close begin and end a container that is the protocol's.
	Open(k Kind, l Label, name string, index int) int
	Close()
	// Sum returns how many bytes each class has; ok is false where only a tree would tell.
	Sum() (sum PartBytes, ok bool)
	// SetSum replaces the sum.
	SetSum(sum PartBytes)
	// Resume goes on at offset at, up to which SetSum says what the bytes are for.
	Resume(at int)
	// FirstOpaque returns where the first opaque value stands.
	FirstOpaque() (at int, ok bool)
}

// Sum returns what the bytes are for that were read without a tree since Reset. ok is false where only a tree tells, and
// after an error.
func (r *Recorder) Sum() (sum PartBytes, ok bool) {
	return r.counted.parts, r.OK() && !r.counted.void && r.counted.nodes <= maxCounted
}

// SetSum replaces the sum.
func (r *Recorder) SetSum(sum PartBytes) { r.counted.parts = sum }

// FirstOpaque returns where the first opaque value stands of those that were read without a tree.
func (r *Recorder) FirstOpaque() (at int, ok bool) { return r.counted.opaqueAt, r.counted.opaque }
