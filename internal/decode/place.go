package decode

import (
	"cmp"
	"slices"
)

// Place is where a value stands that has its class in front of its data: the label, and how far that head goes.
type Place struct {
	Label Label
	Name  string
	Index int
	Start int // the value's first byte
	Head  int // the end of the head
	// Length is the end of a length in front of the head, 0 where there is none.
	Length    int
	Named     bool // the head has the name of a class
	Throwable bool // the value is an exception, whatever its class
}

// HeadRole is the kind of overhead that the head is: "class" with a name, else "type".
func (p *Place) HeadRole() string {
	if p.Named {
		return "class"
	}
	return "type"
}

// At returns the place of a value that starts here.
func (r *Recorder) At(l Label, name string, index int) Place {
	return Place{Label: l, Name: name, Index: index, Start: r.Off, Head: r.Off}
}

// Scalar is Leaf for a value whose head, if it has the name of a class, is a part of its own.
func (r *Recorder) Scalar(p Place, k Kind) *Node {
	if !p.Named && p.Length == 0 {
		return r.Leaf(k, p.Label, p.Name, p.Index)
	}
	i := r.Open(k, p.Label, p.Name, p.Index)
	r.Heads(p)
	r.Fill(i)
	r.Close()
	if !r.OK() {
		return nil
	}
	return r.Tree.Node(i)
}

// Heads gives the length in front of a value and the name of its class to overhead of their own.
func (r *Recorder) Heads(p Place) {
	if p.Length > 0 {
		r.UpTo(p.Length, "length")
	}
	if p.Named {
		r.UpTo(p.Head, "class")
	}
}

// Begin is Open for a value of a class with a JVM name, whose head is overhead.
func (r *Recorder) Begin(p Place, k Kind, class string) int {
	i := r.Open(k, p.Label, p.Name, p.Index)
	if n := r.Tree.Node(i); n != nil {
		n.Class = JavaName(class)
	}
	r.UpTo(p.Head, p.HeadRole())
	return i
}

// Content calls read for the values in the container that was opened last, one level deeper, and closes it.
func (r *Recorder) Content(read func()) {
	if r.Enter() {
		read()
		r.Leave()
	}
	r.Close()
}

// UpTo gives the bytes before end that no node owns to a piece of overhead.
func (r *Recorder) UpTo(end int, role string) {
	if !r.OK() {
		return
	}
	off := r.Off
	r.Off = end
	r.Role(role)
	r.Off = off
}

// Words records a scalar with a text, which is made only where it is wanted.
func (r *Recorder) Words(p Place, k Kind, text func() string) {
	if !r.OK() {
		return
	}
	if n := r.Scalar(p, k); n != nil && (r.Values() || p.Label == ByKey) {
		n.Text = text()
	}
}

// Integer records an integer.
func (r *Recorder) Integer(p Place, v int64) {
	r.Scalar(p, Int).SetNum(v)
}

// Boolean records a boolean.
func (r *Recorder) Boolean(p Place, v bool) {
	r.Scalar(p, Bool).SetBool(v)
}

// Real records a Float32 or a Float64.
func (r *Recorder) Real(p Place, k Kind, v float64) {
	r.Scalar(p, k).SetFloat(v)
}

// FillRaw sets Raw of a node, which may be nil, where values are wanted.
func (r *Recorder) FillRaw(n *Node, raw []byte) {
	if n != nil && r.Values() {
		n.Raw = raw
	}
}

// FillUTF8 sets Text of a node, which may be nil, where values are wanted.
func (r *Recorder) FillUTF8(n *Node, raw []byte) {
	if n != nil && r.Values() {
		n.Text = UTF8(raw)
	}
}

// FailClass stops at data whose end only the class tells; what names them.
func (r *Recorder) FailClass(what, class string) {
	r.FailWithout(class, what+" "+class, "fields that cannot be separated without the class definition")
}

// FailWithout stops at data that cannot be read without the definition of a class.
func (r *Recorder) FailWithout(class, expected, found string) {
	if r.OK() {
		r.Fail(Unsupported, expected, found)
		r.err.Class = class
	}
}

// NextNode returns the index that the next node has, -1 without a tree.
func (r *Recorder) NextNode() int {
	if r.Tree == nil {
		return -1
	}
	return len(r.Tree.Nodes)
}

// ClassOf gives the value of node i its class where the value is one node and has none. JSON does not print it; a value that is
// written again has to be of the same class.
func (r *Recorder) ClassOf(i int, class string) {
	if r.Tree == nil || i < 0 || i >= len(r.Tree.Nodes) {
		return
	}
	switch n := &r.Tree.Nodes[i]; n.Kind {
	case Bool, Int, Float32, Float64, Char, Date, Decimal:
		if n.Class == "" {
			n.Class = class
		}
	}
}

// NodeAt returns the index of the text whose bytes begin at off, -1 if there is none. The nodes must be in the order of their bytes.
func (r *Recorder) NodeAt(off int) int {
	nodes := r.Tree.Nodes
	at, _ := slices.BinarySearchFunc(nodes, int32(off), func(n Node, off int32) int { return cmp.Compare(n.Off, off) })
	for ; at < len(nodes) && nodes[at].Off == int32(off); at++ {
		if nodes[at].Kind == String {
			return at
		}
	}
	return -1
}

// NameKey names the key of a map that is node i by its text and returns that, "" where the key is not a string.
func (r *Recorder) NameKey(i int) string {
	if i < 0 || i >= len(r.Tree.Nodes) || r.Tree.Nodes[i].Kind != String {
		return ""
	}
	n := r.Tree.Node(i)
	n.Name = n.Text
	return n.Text
}

// MaxRepeated bounds the elements of a body that have no bytes: those of lists of n times the same element.
const MaxRepeated = 1 << 12

// Repeat adds elements 1 to n-1 of a list of n times the same element, which is node first. mayCopy reports whether a text of that many
// bytes may be copied; other elements are references.
func (r *Recorder) Repeat(first, n int, mayCopy func(bytes int) bool) {
	if r.Tree == nil {
		r.Run(Ref, n-1)
		return
	}
	for k := 1; k < n && r.OK(); k++ {
		p := r.Leaf(Ref, ByIndex, "", k)
		if p == nil {
			return
		}
		switch of := &r.Tree.Nodes[first]; {
		case of.Kind == List, of.Kind == Map, of.Kind == Object, of.Kind == Custom, of.Kind == Alias, of.Kind == Opaque, !mayCopy(len(of.Text) + len(of.Raw)):
			p.Num = int64(first)
		default:
			p.Kind, p.Num, p.Float, p.Class, p.Text, p.Raw = of.Kind, of.Num, of.Float, of.Class, of.Text, of.Raw
			p.Same = int32(first) + 1
		}
	}
}

// Written gives places to the values that a method of a class wrote: each is that of a field, or one in a list named #custom.
type Written struct {
	listed bool // the list is open
	n      int  // values in it
}

// Place returns the place of the next value; field is "" if it is of none that is known.
func (w *Written) Place(r *Recorder, field string) Place {
	if field != "" {
		w.End(r)
		return r.At(ByField, field, 0)
	}
	if !w.listed {
		w.listed = true
		r.Open(List, ByField, "#custom", 0)
	}
	w.n++
	return r.At(ByIndex, "", w.n-1)
}

// End closes the list, if it is open.
func (w *Written) End(r *Recorder) {
	if w.listed {
		w.listed = false
		r.Close()
	}
}
