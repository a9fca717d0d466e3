package hessian2

import (
	"fmt"
	"strconv"

	"dubbo-wire/internal/decode"
)

// Format is hessian2 as reports list it.
var Format = decode.Format{
	ID:       2,
	Name:     "hessian2",
	Depth:    decode.DepthFull,
	Releases: "all",
	Capture:  "hessian2.pcap.zst",
	// writeObject(null)
	Heartbeats: [][]byte{{'N'}},
	Skim:       skim,
	Scrub:      scrub,
	Starts:     decode.Starts{Request: startsRequest, Result: startsResult},
	New:        func() decode.Reader { return New() },
}

// startsRequest accepts a short text.
func startsRequest(b []byte) bool { return b[0] > 0 && b[0] < 0x20 && decode.VersionAt(b, 1) }

// startsResult accepts a small int from 0 to 5.
func startsResult(b []byte) bool { return b[0] >= 0x90 && b[0] <= 0x95 }

// Reader is the [decode.Reader] of hessian2. Its three tables live for a whole body, as the writer's do: a value may
// refer to a class, a type or an object of any value before it.
//
// The nodes it records follow the wire: an object's class definition, opcode and type are overhead below the object
// that needed them first, and so are a list's type and length. An object that stands for a date, a number or an enum
// constant keeps its fields as children, and thereby its paths; only its kind and text say what it stands for.
//
// When reading stops, the bytes taken are those that have a node, and what was opened is closed.
type Reader struct {
	c      decode.Cursor // its offset is the first byte that has no node yet
	t      *decode.Tree  // nil: only walk
	values bool          // texts and numbers are wanted

	classes []class
	fields  []string // names of the classes' fields; empty without a tree
	types   []listType
	// How many types there are, with and without a tree.
	typeCount int

	table    table // what references mean
	original bool  // the writer is the original library
	scout    *scout
	log      *scout // who listens to this walk, without a tree

	enums     []enumUse
	constants map[constant]struct{} // enum constants written out in this body

	names names
	join  []byte // scratch for strings in chunks

	counts count
	dirty  bool // a value was read since the tables were emptied
}

// class is an entry of the class table.
type class struct {
	name     string
	first, n int // its fields in Reader.fields
	means    meaning
	kind     kindOfClass // of one that means enumConstant
	counted  counted
	compact  string // the name of a long behind the fields, see compactOf
	lastEnum int    // its latest entry in Reader.enums, counted from 1
}

// listType is an entry of the type table, which lists and maps share.
type listType struct {
	name   string // Java source form
	floats bool   // its elements were floats before they were written as doubles
	sorted bool   // its elements compare themselves with each other
}

// target is an entry of the object table: what index n of a reference means.
type target struct {
	node  int32 // in the tree
	class int32 // in Reader.classes, -1 for a list or map
}

// New returns a Reader that waits for its first body.
func New() *Reader {
	return &Reader{names: make(names), constants: make(map[constant]struct{})}
}

// NewOriginal returns a Reader for what the original library (com.caucho) writes.
func NewOriginal() *Reader {
	r := New()
	r.original = true
	return r
}

// What a Reader keeps for the next body is bounded: the memory of a table in entries, that for joining strings in bytes.
const (
	maxKept = 1 << 14
	maxJoin = 1 << 20
)

// Reset starts a body.
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.c.Reset(body, short)
	r.t = t
	if r.dirty || cap(r.join) > maxJoin || len(r.names) >= maxNames {
		r.clear()
	}
}

// clear empties the tables, and gives back what is too large to keep.
func (r *Reader) clear() {
	r.dirty = false
	r.classes = emptied(r.classes)
	r.fields = emptied(r.fields)
	r.types = emptied(r.types)
	r.table.reset()
	r.enums = emptied(r.enums)
	if cap(r.join) > maxJoin {
		r.join = nil
	}
	r.typeCount = 0
	if len(r.constants) > 0 {
		if len(r.constants) > maxKept {
			r.constants = make(map[constant]struct{})
		}
		clear(r.constants)
	}
	if len(r.names) >= maxNames {
		clear(r.names)
	}
}

// emptied returns s without entries, without its memory if that is large.
func emptied[T any](s []T) []T {
	if cap(s) > maxKept {
		return nil
	}
	clear(s)
	return s[:0]
}

// Offset returns the bytes taken so far.
func (r *Reader) Offset() int { return r.c.Off }

// Err returns where and why reading stopped.
func (r *Reader) Err() *decode.Error { return r.c.Err() }

// Fail stops reading at the current offset, for formats that are hessian2 with a difference.
func (r *Reader) Fail(cause decode.Cause, expected, found string) { r.c.Fail(cause, expected, found) }

// begin reports whether a field can be read, and asks the tree what it wants.
func (r *Reader) begin() bool {
	r.values = r.t.Values()
	return r.c.OK()
}

// expectText is how errors name a field written by writeUTF.
const expectText = "a string"

// SkipText takes one string, or null.
func (r *Reader) SkipText() {
	if !r.begin() {
		return
	}
	if stop := r.nullOrText(); stop >= 0 {
		r.c.Off = stop
	}
}

// nullOrText returns the offset behind the string or null at the cursor, -1 after failing.
func (r *Reader) nullOrText() int {
	if b, ok := r.c.Peek(); ok && b == 'N' {
		return r.c.Off + 1
	}
	return r.textEnd(r.c.Off, expectText)
}

// Text takes one string, or null, and records it as field name.
func (r *Reader) Text(name string) (s string, null bool) {
	if !r.begin() {
		return "", false
	}
	at := r.c.Off
	stop := r.nullOrText()
	if stop < 0 {
		return "", false
	}
	p := place{label: decode.ByField, name: name}
	if r.c.Buf[at] == 'N' {
		r.leaf(decode.Null, p, stop)
		return "", true
	}
	n, ok := r.leaf(decode.String, p, stop)
	if !ok {
		return "", false
	}
	s = r.text(at, stop, true)
	if n != nil {
		n.Text = s
	}
	return s, false
}

// ResultKind takes the int that starts a response.
func (r *Reader) ResultKind() byte {
	if !r.begin() {
		return 0
	}
	const what = "a result kind, an int of 0 to 5 (90 to 95)"
	kind, stop := r.int(r.c.Off, what)
	if stop < 0 {
		return 0
	}
	if kind < 0 || kind > 5 {
		r.fail(decode.Malformed, what, strconv.Itoa(kind))
		return 0
	}
	if n, ok := r.leaf(decode.Int, place{label: decode.ByField, name: "flag"}, stop); !ok {
		return 0
	} else if n != nil {
		n.Num = int64(kind)
	}
	return byte(kind)
}

// Value takes one value of any kind. typ, the declared type, is used for what the wire does not say: a float is
// written as a double.
func (r *Reader) Value(l decode.Label, name string, index int, typ string) {
	if !r.begin() {
		return
	}
	r.dirty = true
	depth := r.t.Depth()
	p := place{label: l, name: name, index: index, float: typ == "F" || typ == "Ljava/lang/Float;"}
	if !r.value(p, 1) {
		r.t.CloseTo(depth)
	}
}

// Throwable takes the exception of a response: an object as any other.
func (r *Reader) Throwable() {
	r.Value(decode.ByField, "exception", 0, "")
}

// Attachments takes a map, null, or a reference to a map.
func (r *Reader) Attachments() {
	if !r.begin() {
		return
	}
	if b, ok := r.c.Peek(); ok {
		switch grammar[b].rule {
		case dict, null, reference:
		default:
			r.fail(decode.Malformed, "attachments: a map (48, 4d) or null (4e)", describe(b))
			return
		}
	}
	r.Value(decode.ByField, "attachments", 0, "")
}

// fail stops reading at the cursor and returns -1.
func (r *Reader) fail(cause decode.Cause, expected, found string) int {
	return r.failAt(r.c.Off, cause, expected, found)
}

// failAt is fail for a byte behind the cursor, in the value that starts there.
func (r *Reader) failAt(at int, cause decode.Cause, expected, found string) int {
	if r.c.OK() {
		r.c.Fail(cause, expected, found)
		if at > r.c.Off {
			r.c.Err().Wrong = at
		}
	}
	return -1
}

// short fails because the body ends early.
func (r *Reader) short(what string) int {
	left := len(r.c.Buf) - r.c.Off
	if r.c.Short != decode.Malformed {
		return r.fail(r.c.Short, what, fmt.Sprintf("%d captured bytes", left))
	}
	return r.fail(decode.Malformed, what, fmt.Sprintf("%d bytes to the end of the body", left))
}

// place is where a value stands: its label, and what is known of it from there.
type place struct {
	label decode.Label
	float bool // a double here was a float
	name  string
	index int
	slot  int32 // of a field, for the scout
	// What is known of an object here that may be an enum constant, and of the elements of a list here.
	enum, elements evidence
}

// room reports whether the tree takes another node; if not, reading stops.
func (r *Reader) room() bool {
	if r.t.Full() {
		r.fail(decode.Limit, "at most "+strconv.Itoa(len(r.t.Nodes))+" values and names in a body", "more")
		return false
	}
	return true
}

// leaf gives the bytes from the cursor to stop to a new node and moves the cursor there. The node is nil without a
// tree; ok is false when the tree is full.
func (r *Reader) leaf(k decode.Kind, p place, stop int) (n *decode.Node, ok bool) {
	if r.t != nil {
		if !r.room() {
			return nil, false
		}
		n = r.t.Leaf(k, p.label, p.name, p.index, r.c.Off, stop)
	}
	r.c.Off = stop
	return n, true
}

// role is leaf for overhead.
func (r *Reader) role(name string, stop int) bool {
	if r.t != nil {
		if !r.room() {
			return false
		}
		r.t.Role(name, r.c.Off, stop)
	}
	r.c.Off = stop
	return true
}

// open starts a list, map or object, which thereby enters the object table; -1 is its node without a tree.
func (r *Reader) open(k decode.Kind, p place, depth int) (node int, ok bool) {
	if depth > decode.MaxDepth {
		r.fail(decode.Limit, fmt.Sprintf("values nested at most %d deep", decode.MaxDepth), "deeper ones")
		return -1, false
	}
	r.table.add()
	if r.log != nil {
		r.log.open(k, p.slot)
	}
	if r.t == nil {
		return -1, true
	}
	if !r.room() {
		return -1, false
	}
	node = r.t.Open(k, p.label, p.name, p.index, r.c.Off)
	r.table.push(target{node: int32(node), class: -1})
	return node, true
}

// int returns the int at offset at and the offset behind it, -1 after failing.
func (r *Reader) int(at int, what string) (n, stop int) {
	if at >= len(r.c.Buf) {
		return 0, r.short(what)
	}
	g := grammar[r.c.Buf[at]]
	if g.rule != integer {
		return 0, r.failAt(at, decode.Malformed, what, describe(r.c.Buf[at]))
	}
	if stop = at + int(g.size); stop > len(r.c.Buf) {
		return 0, r.short(what)
	}
	return int(number(r.c.Buf[at:stop])), stop
}

// count is int for a number of things of at least one byte each behind it, which the body must have room for.
func (r *Reader) count(at int, what string) (n, stop int) {
	n, stop = r.int(at, what)
	switch {
	case stop < 0:
		return 0, -1
	case n < 0:
		return 0, r.failAt(at, decode.Malformed, what+", 0 or more", strconv.Itoa(n))
	case n > len(r.c.Buf)-stop && r.c.Short == decode.Malformed: // of a body that was cut, what is there is read
		return 0, r.failAt(at, decode.Malformed, fmt.Sprintf("%s, at most %d, one byte each", what, len(r.c.Buf)-stop), strconv.Itoa(n))
	}
	return n, stop
}
