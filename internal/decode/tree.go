package decode

import "slices"

// Kind says what a node of a body's tree is.
type Kind uint8

const (
	// Overhead is bytes that carry no value: a class name, field names, a length, a reference table. Its Name says
	// which ("class", "field", "length", "ref", "type", "end" …).
	Overhead Kind = iota
	Null
	Bool    // Num 0 or 1
	Int     // Num; an integer of any width up to 64 bits. Text where it has no sign and does not fit: Num has the same bits
	Float32 // Float
	Float64 // Float; Text where the wire has digits that are not the shortest
	Char    // Text: one UTF-16 unit
	String  // Text
	Bytes   // Raw
	Date    // Text: RFC 3339, with Z when it is an instant, without zone when it is local
	Decimal // Text: a decimal number of any size
	Enum    // Class, Text: the constant's name; or Num: its ordinal, with Text ""
	List    // children are its elements
	Map     // children are key, value, key, value …
	Object  // Class; children are fields, named; see [Tree.SetType]
	Ref     // Num: index of the target (in Tree.Nodes)
	Alias   // Num: index of a later node, one of its own fields, that it stands for
	Opaque  // measured, not decoded; Num 1: it takes no bytes
	Custom  // bytes that user code wrote (writeObject, Externalizable): Raw
	Missing // announced bytes that the capture does not have
)

// Label says how a node is named within its parent.
type Label uint8

const (
	// ByIndex: element number Index of a list, or an argument.
	ByIndex Label = iota
	// ByField: a field of an object or a part of the envelope, named Name. In a list or a map it is a field of its class that
	// is neither an element nor an entry; it is not printed.
	ByField
	// ByKey: key number Index of a map, named by its text where it is a string. Its bytes are values, at its entry's path.
	ByKey
	// ByMember: a key like ByKey of a value that is written as a map and may be an object. Its bytes are a name, part "#field".
	ByMember
	// ByEntry: the value that belongs to the key before it.
	ByEntry
	// ByRole: overhead, named "#"+Name.
	ByRole
	// Whole: the node stands for its parent's own content and adds nothing to the path (part "opaque" is one).
	Whole
)

// Node is one thing on the wire: a value, or a piece of overhead. Nodes stand in preorder: the children of node i
// are the nodes from i+1 to End-1.
type Node struct {
	Kind  Kind
	Label Label
	// Index is the place among the siblings of that label (element, argument, key), from 0; of a field 0 or [Undeclared].
	Index int32
	// End is the index of the first node after this node's subtree, Parent that of its container (-1: none).
	End, Parent int32
	// Off and Len are the bytes that this node itself owns (its children's bytes are theirs), from the start of the
	// body. A container owns none; its opcode, type and length are Overhead children.
	Off, Len int32
	// Same is 1 + the index of the earlier node of the same object if the wire refers to it and the node is a copy, because its text or
	// number is printed again; else 0.
	Same  int32
	Num   int64
	Float float64
	Name  string // field name, role of overhead, text of the key of an entry
	Class string // Java class name, source form
	Text  string
	Raw   []byte // borrowed from the body; of a String its text in UTF-8 if [Tree.Borrow] is set, and then Text may be empty
}

// String returns the text of a String, which may be kept.
func (n *Node) String() string {
	if n.Raw != nil {
		return string(n.Raw)
	}
	return n.Text
}

// beginsWithAt reports whether the text of a String begins with "@".
func (n *Node) beginsWithAt() bool {
	return len(n.Raw) > 0 && n.Raw[0] == '@' || n.Raw == nil && n.Text != "" && n.Text[0] == '@'
}

// Undeclared is the index of a field of an object that the writer has and the schema or the class path does not.
const Undeclared = -1

// Tree is a body taken apart. Top-level nodes are fields of the envelope (dubboVersion, path, serviceVersion,
// method, parameterTypes, flag, errorMessage, event), the list "args", the value "result" or "exception", and the
// map "attachments", in wire order. A nil *Tree records nothing: decoders call its methods without a check.
//
// Formats add values with Open/Close (containers) and Leaf. Memory is bounded: beyond MaxNodes Full is true and
// further nodes are refused, which a decoder reports as cause Limit.
type Tree struct {
	Nodes []Node
	// WithValues asks decoders to fill Text, Raw, Class, Num and Float. Without it only spans and labels are kept.
	// Names and classes are always filled, since paths are made of them.
	WithValues bool
	// Borrow lets decoders leave texts in Raw, where they are valid as long as the body is: see [Node.String].
	Borrow bool
	// Redact makes AppendJSON print types and lengths in place of values.
	Redact bool
	// MaxNodes bounds memory; 0 is DefaultMaxNodes.
	MaxNodes int

	open   []int32
	paths  pathWriter // kept for its memory, as are joined, chain and path
	joined []byte
	chain  []int32
	path   []byte
	levels int // brackets and braces that AppendJSON has open
	// inlinedAt maps a node that is not printed at its own path to the reference that is printed as the node. inlining are
	// those nodes that are being printed, nextInlined the one that AppendJSON is about to print.
	inlinedAt   map[int32]int32
	inlining    []int32
	nextInlined int32
	types       []*DeclaredType // of objects, whose Num is 1 + the index
	idle        int             // bodies since one that needed more than usualNodes
}

// DefaultMaxNodes is the number of nodes that a tree takes: about 150 bytes each.
const DefaultMaxNodes = 2 << 20

// One giant body must not keep its memory for the rest of the capture, but large ones often come together: memory for more than usualNodes is
// freed when idleBodies in a row have needed no more than that, memory for more than mostKept (70 MB) at once.
const (
	usualNodes = 1 << 16
	mostKept   = 1 << 19
	idleBodies = 256
)

// Reset empties the tree and keeps its memory.
func (t *Tree) Reset() {
	if t == nil {
		return
	}
	if cap(t.Nodes) > usualNodes {
		if t.idle++; len(t.Nodes) > usualNodes {
			t.idle = 0
		}
		if t.idle == idleBodies || cap(t.Nodes) > mostKept {
			t.Nodes, t.idle = nil, 0
		}
	}
	t.Nodes = t.Nodes[:0]
	t.open = t.open[:0]
	t.types = t.types[:0]
	clear(t.inlinedAt)
}

// Full reports whether the tree refuses further nodes.
func (t *Tree) Full() bool { return !t.Room(1) }

// Room reports whether the tree takes n more nodes.
func (t *Tree) Room(n int) bool { return t == nil || len(t.Nodes)+n <= t.maxNodes() }

func (t *Tree) maxNodes() int {
	if t.MaxNodes == 0 {
		return DefaultMaxNodes
	}
	return t.MaxNodes
}

// restNodes is how many nodes of opaque and missing bytes a full tree takes.
const restNodes = 8

// Values reports whether texts and numbers are wanted.
func (t *Tree) Values() bool { return t != nil && t.WithValues }

// Leaf adds a node without children that owns the bytes from off to end, and returns it for filling. It returns nil on a nil
// tree. A full tree takes only opaque and missing bytes. The pointer is valid until the next call.
func (t *Tree) Leaf(k Kind, l Label, name string, index, off, end int) *Node {
	if t == nil || t.Full() && (k != Opaque && k != Missing || len(t.Nodes) >= t.maxNodes()+restNodes) {
		return nil
	}
	return t.add(k, l, name, index, off, end)
}

// add is Leaf for a tree that takes the node.
func (t *Tree) add(k Kind, l Label, name string, index, off, end int) *Node {
	i := len(t.Nodes)
	if i == cap(t.Nodes) {
		return t.grow(k, l, name, index, off, end)
	}
	parent := int32(-1)
	if len(t.open) > 0 {
		parent = t.open[len(t.open)-1]
	}
	t.Nodes = t.Nodes[:i+1]
	n := &t.Nodes[i]
	*n = Node{} // and then field by field, which is faster than to copy a node
	n.Kind, n.Label, n.Name, n.Index, n.Parent = k, l, name, int32(index), parent
	n.Off, n.Len, n.End = int32(off), int32(end-off), int32(i+1)
	return n
}

// grow is add for a tree that has no memory for the node. It is apart because add is faster without a call.
func (t *Tree) grow(k Kind, l Label, name string, index, off, end int) *Node {
	t.Nodes = slices.Grow(t.Nodes, max(1, min(len(t.Nodes), t.maxNodes()+restNodes-len(t.Nodes))))
	return t.add(k, l, name, index, off, end)
}

// Role adds a piece of overhead named "#"+name to the open container.
func (t *Tree) Role(name string, off, end int) {
	if t == nil || end == off {
		return
	}
	t.Leaf(Overhead, ByRole, name, 0, off, end)
}

// Open adds a container and makes it the parent of what follows, until Close. It returns the node's index, for
// references to it (-1 on a nil or full tree).
func (t *Tree) Open(k Kind, l Label, name string, index, off int) int {
	if t == nil {
		return -1
	}
	if t.Full() {
		t.open = append(t.open, -1)
		return -1
	}
	t.add(k, l, name, index, off, off)
	i := len(t.Nodes) - 1
	t.open = append(t.open, int32(i))
	return i
}

// Node returns node i for filling, or nil when i is -1.
func (t *Tree) Node(i int) *Node {
	if t == nil || i < 0 {
		return nil
	}
	return &t.Nodes[i]
}

// SetNum sets Num of a node, which may be nil.
func (n *Node) SetNum(v int64) {
	if n != nil {
		n.Num = v
	}
}

// SetBool sets the value of a Bool, which may be nil.
func (n *Node) SetBool(v bool) {
	if n != nil && v {
		n.Num = 1
	}
}

// SetFloat sets Float of a node, which may be nil.
func (n *Node) SetFloat(v float64) {
	if n != nil {
		n.Float = v
	}
}

// SetText sets Text of a node, which may be nil.
func (n *Node) SetText(s string) {
	if n != nil {
		n.Text = s
	}
}

// Close ends the container opened last.
func (t *Tree) Close() {
	if t == nil || len(t.open) == 0 {
		return
	}
	i := t.open[len(t.open)-1]
	t.open = t.open[:len(t.open)-1]
	if i >= 0 {
		t.Nodes[i].End = int32(len(t.Nodes))
	}
}

// Depth returns the number of open containers.
func (t *Tree) Depth() int {
	if t == nil {
		return 0
	}
	return len(t.open)
}

// CloseTo ends containers until depth of them are open. A decoder that stopped halfway calls it to keep what it read.
func (t *Tree) CloseTo(depth int) {
	for t.Depth() > depth {
		t.Close()
	}
}
