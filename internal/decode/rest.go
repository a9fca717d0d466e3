package decode

// Extent says how many bytes of a body there are.
type Extent struct {
	// Len is the announced length in bytes. Start is the number of bytes from the first one on that the decoder was given, Captured
	// the number of all captured ones.
	Len, Start, Captured int
	// Short is the cause of missing bytes: Cut or Lost.
	Short Cause
}

// Rest ends the tree of a body: it gives the bytes that no field owns, from offset at on, and the missing bytes to nodes. err is
// the first error of decoding, or nil. The result is what the nodes sum up to, and err or, if it is nil, the error that missing bytes are.
//
// If not every byte has exactly one owner then, a decoder is wrong or the tree is full, and the whole body becomes opaque.
func (t *Tree) Rest(at int, e Extent, err *Error) (Sums, *Error) {
	t.CloseTo(0)
	if at < e.Start {
		if err == nil {
			t.Role("trailing", at, e.Start)
		} else {
			t.Leaf(Opaque, Whole, "opaque", 0, at, e.Start)
		}
	}
	missing := e.Len - e.Captured
	if e.Len-e.Start > missing {
		// These bytes were captured, but they follow a gap or were not needed.
		t.Leaf(Opaque, Whole, "opaque", 0, e.Start+missing, e.Len)
	}
	if missing > 0 {
		t.Leaf(Missing, Whole, "missing", 0, e.Start, e.Start+missing)
		if err == nil {
			err = &Error{Cause: e.Short, At: e.Start, Expected: "the rest of the body"}
		}
	}
	sums := t.Sums()
	if sums.total() == e.Len {
		return sums, err
	}
	full := t.Full()
	t.Reset()
	t.Leaf(Opaque, Whole, "opaque", 0, 0, e.Captured)
	if missing > 0 {
		t.Leaf(Missing, Whole, "missing", 0, e.Captured, e.Len)
	}
	if err == nil || full {
		err = &Error{Cause: Limit, Expected: "a body of fewer values"}
	}
	return t.Sums(), err
}

// FailValue makes the bytes from at to end opaque, where the value at node value could not be read further; its first byte is at
// offset start. They belong to the innermost object, list or map that was read last. If nothing of the value was read, the value
// itself is opaque, named by label, name and index.
func (t *Tree) FailValue(value, start, at, end int, l Label, name string, index int) {
	if end <= at {
		return
	}
	if start < at {
		l, name = Whole, "opaque"
	}
	leaf := t.Leaf(Opaque, l, name, index, at, end)
	if leaf == nil {
		return
	}
	last := len(t.Nodes) - 1
	for i := value; i < last; {
		n := &t.Nodes[i]
		switch {
		case int(n.End) < last: // something precedes it: overhead, or an element that was read
			i = int(n.End)
			continue
		case n.Kind != Object && n.Kind != List && n.Kind != Map:
			return
		}
		leaf.Parent = int32(i)
		n.End = int32(last + 1)
		i++
	}
}

// NotDecoded returns the error of a body whose only defect is an opaque value at offset at.
func NotDecoded(at int) *Error {
	return &Error{Cause: Unsupported, At: at, Expected: "a decoder for these values"}
}

// IsUnread reports whether the wire has something of a value that was not read.
func (n *Node) IsUnread() bool { return n.Kind == Opaque && n.Num == 0 || n.Kind == Missing }

// Decoded returns how far the body of a tree with these sums was decoded, "full", "partly", "envelope" or "none", and its first error: err or, if that is
// nil, the one of its first opaque value. envelope is set if anything but values was read.
func (t *Tree) Decoded(s *Sums, err *Error, envelope bool) (string, *Error) {
	if s.unread < 0 && err == nil {
		return "full", nil
	}
	if err == nil {
		err = NotDecoded(int(t.Nodes[s.unread].Off))
	}
	switch {
	case t.hasValues():
		return "partly", err
	case envelope:
		return "envelope", err
	}
	return "none", err
}

// hasValues reports whether anything of an argument, a result or an exception was read.
func (t *Tree) hasValues() bool {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if !n.IsUnread() && (n.Parent >= 0 && t.Nodes[n.Parent].Name == "args" || n.Parent < 0 && (n.Name == "result" || n.Name == "exception")) {
			return true
		}
	}
	return false
}
