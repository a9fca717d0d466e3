package java

import "dubbo-wire/internal/decode"

// NewInside returns a reader of compacted streams that are part of another serialization's body.
func NewInside() *Reader { return &Reader{compact: true} }

// NewWhole returns a reader of streams that are part of another serialization's body and hold their classes' fields, so
// that they end where their object does.
func NewWhole() *Reader { return new(Reader) }

// Inside reads a stream of one object, which starts at offset at of body and goes to its end, into node i of t, which is
// open. It returns where it stopped: at the end of body when it read all, or the end of the object where classes have
// their fields. Nodes own the bytes before that.
//
// Classes of the application are first assumed to have no fields, as most exceptions have none: the assumption holds if the
// object then ends with the stream. Otherwise their fields become members without names.
func (r *Reader) Inside(body []byte, at int, t *decode.Tree, i int) (stopped int) {
	depth, nodes := t.Depth(), len(t.Nodes)
	before := t.Nodes[i]
	r.read(body, at, t, i, true)
	if r.assumed && r.Off < len(body) {
		t.CloseTo(depth)
		t.Nodes = t.Nodes[:nodes]
		t.Nodes[i] = before
		r.read(body, at, t, i, false)
	}
	t.CloseTo(depth)
	return r.Off
}

// More reads one more object of the stream that Inside began, which has no head of its own. Body and tree are the same.
func (r *Reader) More(at, i int) (stopped int) {
	depth := r.Tree.Depth()
	r.Resume(at)
	r.value(i)
	r.Tree.CloseTo(depth)
	return r.Off
}

// Referred reports whether the object at an offset behind the first one is only a reference to one that the stream had before, inside
// another one. It returns where it ends and what [Reader.Refer] needs.
func (r *Reader) Referred(at int) (end int, h int32, ok bool) {
	if at >= len(r.Buf) || r.Buf[at] != tcReference {
		return at, 0, false
	}
	r.Resume(at + 1)
	h, ok = r.refer()
	if ok = ok && r.OK(); ok {
		to := &r.handles[h]
		ok = to.node >= 0 && to.kind != toClass && to.kind != toString
	}
	end = r.Off
	r.Resume(at)
	return end, h, ok
}

// Refer makes n, a node of the tree that [Reader.Inside] was given, what a handle refers to.
func (r *Reader) Refer(n *decode.Node, h int32) { r.repeat(n, h) }

func (r *Reader) read(body []byte, at int, t *decode.Tree, i int, assume bool) {
	r.Reset(body, decode.Malformed, t)
	r.embedded, r.assumeNoFields = true, assume
	r.rootNode, r.undivided = i, false
	r.Resume(at)
	r.head()
	r.value(i)
}

// value takes an object into node i, which is open.
func (r *Reader) value(i int) {
	switch tc := r.Byte("an object"); {
	case !r.OK():
	case tc == tcArray:
		r.Tree.Node(i).Kind = decode.List
		r.array(i, whole)
	case tc == tcObject || tc == tcEnum || tc == tcClass:
		r.content(i, tc)
	default:
		r.FailAt(r.Off-1, decode.Unsupported, "an object", foundTag(tc))
	}
	r.Settle(r.Tree.Depth())
}
