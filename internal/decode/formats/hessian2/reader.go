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
	SkimKind:   skimKind,
	Scrub:      scrub,
	ScrubBody:  newBodyScrubber,
	Starts:     decode.Starts{Request: startsRequest, Result: startsResult},
	New:        func() decode.Reader { return New() },
	Counts:     true,

	TextsInPlace: true,
}

// startsRequest accepts a short text.
func startsRequest(b []byte) bool { return b[0] > 0 && b[0] < 0x20 && decode.VersionAt(b, 1) }

// startsResult accepts a small int from 0 to 5.
func startsResult(b []byte) bool {
	kind, _ := skimKind(b)
	return kind >= 0
}

// skimKind returns the value of a small int from 0 to 5 and its size in bytes, else -1.
func skimKind(b []byte) (kind int8, size int) {
	if len(b) > 0 && b[0] >= 0x90 && b[0] <= 0x95 {
		return int8(b[0] - 0x90), 1
	}
	return -1, 0
}

// Reader is the [decode.Reader] of hessian2. Its three tables live for a whole body, as the writer's do: a value may
// refer to a class, a type or an object of any value before it.
//
// The nodes it records follow the wire: an object's class definition, opcode and type are overhead below the object
// that needed them first, and so are a list's type and length. An object that stands for a date, a number or an enum
// constant keeps its fields as children, and with them its paths; only its kind and text change.
//
// When reading stops, every byte that was taken has a node, and all containers are closed.
type Reader struct {
	decode.Recorder // its offset is the first byte that has no node yet

	classes []class
	fields  []string   // names of the classes' fields; empty without a tree
	types   []listType // empty without a tree
	nTypes  int

	listTypes map[string]listType // of earlier bodies, by their bytes

	// plain has, by opcode of an object of one byte, 1 + the number of fields of its class, 0 for a class that was not met and
	// one whose objects have another number of places in the table or something after their fields.
	plain [16]int32
	// stack and its depth are those of values.
	stack  *[decode.MaxDepth]int
	nested int

	table    table // the targets of references
	original bool  // the writer is the original library
	dubbo3   bool  // the writer is a release of Dubbo 3, and a body is one value
	first    bool  // the grammar is that of Hessian 1
	detector *detector
	observer *detector // is told what this walk meets; without a tree

	enums     []enumUse
	constants map[constant]struct{} // enum constants written out in this body

	printing                 printing
	definitions, attachments repeats // without a tree

	named map[string]int // the classes of a body of Hessian 1, which has no table of them
	join  []byte         // scratch for strings in chunks
	dirty bool           // a value was read since the tables were emptied
}

// class is an entry of the class table.
type class struct {
	name     string
	first, n int // its fields in Reader.fields
	means    meaning
	kind     kindOfClass // of one that means enumConstant
	counted  counted
	compact  string // the name of the long after the fields, see compactOf
	lastEnum int    // its latest entry in Reader.enums, counted from 1
}

// listType is an entry of the type table, which lists and maps share.
type listType struct {
	name   string // Java source form
	floats bool   // its elements were floats before they were written as doubles
	sorted bool   // its elements compare themselves with each other
}

// New returns a Reader that waits for its first body.
func New() *Reader {
	return &Reader{constants: make(map[constant]struct{})}
}

// NewOriginal returns a Reader for what the original library (com.caucho) writes.
func NewOriginal() *Reader {
	r := New()
	r.original = true
	return r
}

// Dubbo3 implements [decode.ReleaseReader].
func (r *Reader) Dubbo3() { r.dubbo3 = true }

// Bounds of what a Reader keeps for the next body: of a table in entries, of the scratch for strings in bytes.
const (
	maxKept = 1 << 14
	maxJoin = 1 << 20
)

// Reset starts a body.
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	if r.dirty || cap(r.join) > maxJoin {
		r.clear()
	}
	r.table.counting = t == nil && r.observer == nil
	r.printing.to = nil
	r.first = false
}

// clear empties the tables, and gives back what is too large to keep.
func (r *Reader) clear() {
	r.dirty = false
	r.classes = emptied(r.classes)
	r.plain = [16]int32{}
	r.fields = emptied(r.fields)
	r.types, r.nTypes = emptied(r.types), 0
	r.table.reset()
	r.enums = emptied(r.enums)
	if cap(r.join) > maxJoin {
		r.join = nil
	}
	if len(r.named) > maxKept {
		r.named = nil
	}
	clear(r.named)
	if len(r.constants) > 0 {
		if len(r.constants) > maxKept {
			r.constants = make(map[constant]struct{})
		}
		clear(r.constants)
	}
}

// emptied returns s without entries, and without its memory if that is large.
func emptied[T any](s []T) []T {
	if cap(s) > maxKept {
		return nil
	}
	clear(s)
	return s[:0]
}

// expectText is how errors name a field written by writeUTF.
const expectText = "a string"

// SkipText takes one string, or null.
func (r *Reader) SkipText() {
	if !r.OK() {
		return
	}
	if stop := r.nullOrText(); stop >= 0 {
		r.Off = stop
		r.Pass()
	}
}

// nullOrText returns the offset after the string or null at the cursor, -1 after failing.
func (r *Reader) nullOrText() int {
	if b, ok := r.Peek(); ok && b == 'N' {
		return r.Off + 1
	}
	return r.textEnd(r.Off, expectText)
}

// Text takes one string, or null, and records it as field name.
func (r *Reader) Text(name string) (s string, null bool) {
	if !r.OK() {
		return "", false
	}
	at := r.Off
	stop := r.nullOrText()
	if stop < 0 {
		return "", false
	}
	p := &place{label: decode.ByField, name: name}
	if r.Buf[at] == 'N' {
		r.leaf(decode.Null, p, stop)
		r.Settle(r.Tree.Depth())
		return "", true
	}
	n, ok := r.leaf(decode.String, p, stop)
	if !ok {
		r.Settle(r.Tree.Depth())
		return "", false
	}
	s = r.text(at, stop, true)
	if n != nil {
		n.Text = s
	}
	return s, false
}

// Int takes one int and records it as field name.
func (r *Reader) Int(name string) int32 {
	if !r.OK() {
		return 0
	}
	v, stop := r.int(r.Off, "an int")
	if stop < 0 {
		return 0
	}
	r.Off = stop
	return r.IntField(name, int32(v))
}

// ResultKind takes the int that starts a response.
func (r *Reader) ResultKind() byte {
	if !r.OK() {
		return 0
	}
	const what = "a result kind, an int of 0 to 5 (90 to 95)"
	kind, stop := r.int(r.Off, what)
	if stop < 0 {
		return 0
	}
	if kind < 0 || kind > 5 {
		r.fail(decode.Malformed, what, strconv.Itoa(kind))
		return 0
	}
	n, ok := r.leaf(decode.Int, &place{label: decode.ByField, name: "flag"}, stop)
	switch {
	case !ok:
		r.Settle(r.Tree.Depth())
		return 0
	case n != nil:
		n.Num = int64(kind)
	}
	return byte(kind)
}

// bytesOnly reports whether bytes are counted, and nothing else is asked for.
func (r *Reader) bytesOnly() bool {
	return r.Counting() && r.observer == nil && r.printing.to == nil
}

// Value takes one value of any kind. The declared type typ says what the wire does not: a float is written as a double.
func (r *Reader) Value(l decode.Label, name string, index int, typ string) {
	if !r.OK() {
		return
	}
	r.dirty = true
	if r.printing.to != nil {
		r.print(l, name, index, typ)
		return
	}
	r.nested = 0
	depth := r.Tree.Depth()
	p := place{label: l, name: name, index: index, float: typ == "F" || typ == "Ljava/lang/Float;"}
	switch {
	case r.first:
		r.value1(&p)
	case r.bytesOnly():
		r.values(1)
	default:
		r.value(&p)
	}
	r.Settle(depth)
}

// Throwable takes the exception of a response: an object as any other.
func (r *Reader) Throwable() {
	r.Value(decode.ByField, "exception", 0, "")
}

// Attachments takes a map, null, or a reference to a map.
func (r *Reader) Attachments() {
	if !r.OK() {
		return
	}
	if b, ok := r.Peek(); ok {
		switch grammar[b].rule {
		case dict, null, reference:
		default:
			r.fail(decode.Malformed, "attachments: a map (48, 4d) or null (4e)", describe(b))
			return
		}
	}
	if !r.countAttachments() {
		r.Value(decode.ByField, "attachments", 0, "")
	}
}

// fail stops reading at the cursor and returns -1.
func (r *Reader) fail(cause decode.Cause, expected, found string) int {
	return r.failAt(r.Off, cause, expected, found)
}

// failAt is fail where the wrong byte is at offset at, in the value that starts at the cursor.
func (r *Reader) failAt(at int, cause decode.Cause, expected, found string) int {
	if r.OK() {
		r.Fail(cause, expected, found)
		if at > r.Off {
			r.Err().Wrong = at
		}
	}
	return -1
}

// failShort fails because the body ends early.
func (r *Reader) failShort(what string) int {
	left := strconv.Itoa(len(r.Buf) - r.Off)
	if r.Short != decode.Malformed {
		return r.fail(r.Short, what, left+" captured bytes")
	}
	return r.fail(decode.Malformed, what, left+" bytes to the end of the body")
}

// place is where a value stands: its label, and what the place says about the value.
type place struct {
	label decode.Label
	float bool // a double here was a float
	name  string
	index int
	slot  int32 // of a field, for the detector
	// The evidence that an object here, or an element of a list here, is an enum constant.
	enum, elements evidence
}

// leaf gives the bytes from the cursor to stop to a new node and moves the cursor there. The node is nil without a
// tree; ok is false when the tree is full.
func (r *Reader) leaf(k decode.Kind, p *place, stop int) (n *decode.Node, ok bool) {
	r.Off = stop
	n = r.Leaf(k, p.label, p.name, p.index)
	return n, r.OK()
}

// role is leaf for overhead.
func (r *Reader) role(name string, stop int) bool {
	r.Off = stop
	if r.Counting() {
		n := r.Pending()
		if name == "class" || name == "field" {
			r.Tally(0, 1)
			r.Recount(decode.ClassNames, n)
		} else {
			r.Tally(n, 1)
		}
		return true
	}
	r.Role(name)
	return r.OK()
}

// open starts a list, map or object. Its node is negative where none is recorded.
func (r *Reader) open(k decode.Kind, p *place) (node int, ok bool) {
	if r.table.n >= decode.DefaultMaxNodes {
		r.fail(decode.Limit, fmt.Sprintf("at most %d objects in a body", decode.DefaultMaxNodes), "more")
	}
	if !r.Enter() {
		return -1, false
	}
	if r.Counting() {
		r.Tally(0, 1)
		return within, true
	}
	node = r.Open(k, p.label, p.name, p.index)
	return node, r.OK()
}

// within stands for the node of a container that lies in another one, where bytes are counted and nothing is recorded.
const within = -2

// close ends what open began.
func (r *Reader) close(node int) bool {
	r.Leave()
	if node != within {
		r.Close()
	}
	return true
}

// int returns the int at offset at and the offset after it, -1 after failing.
func (r *Reader) int(at int, what string) (n, stop int) {
	if at >= len(r.Buf) {
		return 0, r.failShort(what)
	}
	if op := r.Buf[at]; op >= 0x80 && op <= 0xbf { // most ints are
		return int(op) - 0x90, at + 1
	}
	g := grammar[r.Buf[at]]
	if g.rule != integer {
		return 0, r.failAt(at, decode.Malformed, what, describe(r.Buf[at]))
	}
	if stop = at + int(g.size); stop > len(r.Buf) {
		return 0, r.failShort(what)
	}
	return int(number(r.Buf[at:stop])), stop
}

// count is int for a number of elements of at least one byte each. The rest of the body must have room for them.
func (r *Reader) count(at int, what string) (n, stop int) {
	n, stop = r.int(at, what)
	switch {
	case stop < 0:
		return 0, -1
	case n < 0:
		return 0, r.failAt(at, decode.Malformed, what+", 0 or more", strconv.Itoa(n))
	case n > len(r.Buf)-stop && r.Short == decode.Malformed: // of a body that was cut, what is there is read
		return 0, r.failAt(at, decode.Malformed, fmt.Sprintf("%s, at most %d, one byte each", what, len(r.Buf)-stop), strconv.Itoa(n))
	}
	return n, stop
}
