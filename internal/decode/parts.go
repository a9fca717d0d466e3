package decode

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Class says what bytes of a body are for.
type Class uint8

const (
	ClassValues      Class = iota // what the application passed
	ClassNames                    // class and field names
	ClassAttachments              // attachments, keys and values
	ClassEnvelope                 // version, path, method, types, result kind, error text
	ClassOverhead                 // lengths, references, type marks
	ClassOpaque                   // not decoded
	ClassCompressed               // of a compressed body: what its bytes are for is known only without the compression
	ClassMissing                  // announced, not in the capture
)

func (c Class) String() string {
	return [...]string{"values", "names", "attachments", "envelope", "overhead", "opaque", "compressed", "missing"}[c]
}

// PartBytes is the number of bytes of each class in a body, without ClassMissing.
type PartBytes [ClassMissing]int32

// Sums is what the nodes of a tree sum up to.
type Sums struct {
	// Parts is the bytes of each class.
	Parts   PartBytes
	missing int
	unread  int // the index of the first node that was not read, -1 if there is none
}

// total returns the bytes of all nodes.
func (s *Sums) total() int {
	n := s.missing
	for _, part := range s.Parts {
		n += int(part)
	}
	return n
}

// Sums adds up the nodes of the tree.
func (t *Tree) Sums() Sums {
	s := Sums{unread: -1}
	for top := 0; top < len(t.Nodes); {
		root := &t.Nodes[top]
		end := int(root.End)
		own := ClassValues // of most nodes below root
		if root.isAttachments() {
			own = ClassAttachments
		}
		for i := top; i < end; i++ {
			n := &t.Nodes[i]
			if n.Kind > Overhead && n.Kind < Opaque && n.Label != ByMember && i > top {
				s.Parts[own] += n.Len
				continue
			}
			switch class := n.class(root, i == top); class {
			case ClassMissing:
				s.missing += int(n.Len)
			default:
				s.Parts[class] += n.Len
			}
			if s.unread < 0 && n.IsUnread() {
				s.unread = i
			}
		}
		top = end
	}
	return s
}

// Bytes adds up the bytes of the tree by class.
func (t *Tree) Bytes() PartBytes { return t.Sums().Parts }

// CompressedPath is the path of the bytes of a compressed body.
const CompressedPath = "compressed"

// Part is a labelled span of a body: one leaf of its anatomy.
type Part struct {
	Path  string
	Class Class
	// Off and Bytes are its place in the body and its size, in bytes.
	Off, Bytes int
}

// Parts appends what EachPart yields to dst.
func (t *Tree) Parts(dst []Part, depth int) []Part {
	t.EachPart(depth, func(path []byte, class Class, off, bytes int) {
		dst = append(dst, Part{Path: string(path), Class: class, Off: off, Bytes: bytes})
	})
	return dst
}

// EachPart calls f for the leaves of the tree in wire order, each byte once; neighbours with one path are joined. Paths are borrowed until f returns.
// depth bounds the path to that many segments (0: no bound): deeper leaves are joined under their ancestor.
func (t *Tree) EachPart(depth int, f func(path []byte, class Class, off, bytes int)) {
	j := joiner{f: f, path: t.joined}
	if t.inOrder() {
		t.leaves(depth, j.add)
	} else {
		t.sortedLeaves(depth, j.add)
	}
	j.end()
	t.joined = j.path
}

// inOrder reports whether the nodes own bytes in wire order.
func (t *Tree) inOrder() bool {
	last := int32(0)
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Len != 0 {
			if n.Off < last {
				return false
			}
			last = n.Off
		}
	}
	return true
}

// leaves calls f for the nodes that own bytes.
func (t *Tree) leaves(depth int, f func(path []byte, class Class, off, bytes int)) {
	p := &t.paths
	p.reset(depth)
	top := 0
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Parent < 0 {
			top = i
		}
		p.enter(t, int32(i))
		if n.Len == 0 {
			continue
		}
		path := p.path(n)
		if t.Redact && n.Kind != Opaque && n.Label != Whole {
			path = t.pathOf(t.lineage(i))
		}
		f(path, n.class(&t.Nodes[top], i == top), int(n.Off), int(n.Len))
	}
}

// sortedLeaves is leaves for formats with pools, which own bytes out of order.
func (t *Tree) sortedLeaves(depth int, f func(path []byte, class Class, off, bytes int)) {
	var own []Part
	t.leaves(depth, func(path []byte, class Class, off, bytes int) {
		own = append(own, Part{Path: string(path), Class: class, Off: off, Bytes: bytes})
	})
	slices.SortStableFunc(own, func(a, b Part) int { return a.Off - b.Off })
	for i := range own {
		f([]byte(own[i].Path), own[i].Class, own[i].Off, own[i].Bytes)
	}
}

// joiner joins neighbours with one path. It calls f for each part when the next one begins.
type joiner struct {
	f          func(path []byte, class Class, off, bytes int)
	path       []byte
	class      Class
	off, bytes int // bytes is 0 before the first part
}

func (j *joiner) add(path []byte, class Class, off, bytes int) {
	if j.bytes > 0 && j.off+j.bytes == off && string(j.path) == string(path) {
		j.bytes += bytes
		return
	}
	j.end()
	j.path, j.class, j.off, j.bytes = append(j.path[:0], path...), class, off, bytes
}

func (j *joiner) end() {
	if j.bytes > 0 {
		j.f(j.path, j.class, j.off, j.bytes)
	}
}

// class returns the class of the node's own bytes. root is the top-level node above it, or the node itself.
func (n *Node) class(root *Node, isRoot bool) Class {
	return classOf(n.Kind, n.Label, n.Name, isRoot, root.isAttachments())
}

// isAttachments reports whether a top-level node is the attachments.
func (n *Node) isAttachments() bool { return n.Label == ByField && n.Name == "attachments" }

// classOf returns the class of a node's own bytes: top is true at the top level, attachments below the attachments.
func classOf(k Kind, l Label, name string, top, attachments bool) Class {
	switch {
	case k == Opaque:
		return ClassOpaque
	case k == Missing:
		return ClassMissing
	case attachments, top && l == ByField && name == "attachments":
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

// NamesCall reports whether n is a field of the envelope that says what is called or how a call ended, rather than a text of
// the application: redaction keeps it. A text that is not what must be there, as in a body that was misread, is not kept. The
// tree must have values.
func (n *Node) NamesCall() bool {
	if n.Parent >= 0 || n.Label != ByField {
		return false
	}
	switch n.Name {
	case "flag", "argumentCount", "messageType", "sequenceId", "errorType":
		return true
	case "dubboVersion", "path", "serviceVersion", "method", "parameterTypes":
		return n.Kind != String || n.Text == "" || isEnvelopeText(n.Name, n.Text)
	case "serializeType":
		return isNames(n.Text, "")
	case "argTypes", "type":
		return IsClassName(n.Text)
	}
	return false
}

// isEnvelopeText reports whether text can be the field of the envelope with that name.
func isEnvelopeText(name, text string) bool {
	switch name {
	case "dubboVersion":
		return IsRelease(text)
	case "path":
		return isNames(text, "./:")
	case "serviceVersion":
		return isVersion(text)
	case "method":
		return isNames(strings.ReplaceAll(text, "_[", "_"), "") // Hessian over HTTP adds types, also of arrays
	}
	for len(text) > 0 { // as SplitDescriptor does
		n := descriptorLen(text)
		if n == 0 {
			return false
		}
		text = text[n:]
	}
	return true
}

// Path returns the written path of node i, as reports and printed references name it: args[0].user.name, attachments["a.b"], opaque. Where
// values are redacted, keys of maps are numbers.
func (t *Tree) Path(i int) string { return string(t.pathOf(t.lineage(i))) }

// lineage returns node i and its ancestors, the outermost one first. They are borrowed until the next call.
func (t *Tree) lineage(i int) []int32 {
	chain := t.chain[:0]
	for j := int32(i); j >= 0; j = t.Nodes[j].Parent {
		chain = append(chain, j)
	}
	slices.Reverse(chain)
	t.chain = chain
	return chain
}

// pathOf returns the path of the last of these nodes, each of which is within the one before it. It is borrowed until the next call.
func (t *Tree) pathOf(chain []int32) []byte {
	path := t.path[:0]
	if n := &t.Nodes[chain[len(chain)-1]]; !t.Redact {
		switch {
		case n.Kind == Opaque:
			t.path = append(path, opaquePath...) // at any depth
			return t.path
		case n.Label == Whole:
			t.path = append(path, n.Name...)
			return t.path
		}
	}
	for _, k := range chain {
		if len(path) >= maxPath {
			break
		}
		n := &t.Nodes[k]
		name := n.Name
		if t.Redact {
			if (n.Label == ByKey || n.Label == ByEntry) && !t.IsNamed(int(k)) {
				name = ""
			} else {
				name = t.FieldName(int(k))
			}
		}
		path = AppendSegment(path, n.Label, name, int(n.Index))
	}
	t.path = path
	return path
}

// maxPath limits a written path, in bytes; deeper nodes have the path of their ancestor. Without it a small, deeply nested
// body would print gigabytes of paths.
const maxPath = 1 << 10

// pathWriter builds the paths of nodes that are entered in preorder: each is its parent's path and one segment.
type pathWriter struct {
	depth int // segments at most; 0: no bound
	// collapse: all elements of a list and all entries of a map have one path, as [Anatomist] needs.
	collapse bool
	buf      []byte
	root     openPath // that of nodes without an ancestor
	open     []openPath
	whole    []byte // scratch for paths that are not their parents' and a segment

	// memory has collapsed paths, at is the node in it of the tree's node entered last. If that is noMemory, its path is in buf.
	memory pathMemory
	at     int32
}

// openPath is an ancestor of the node entered last: where its subtree and its path end.
type openPath struct {
	end           int32
	at            int32 // in the memory of paths, or noMemory
	length        int
	segments      int
	topLevelField bool
	attachments   bool // it is the attachments
	args          bool // it is the list of arguments
	members       bool // its keys are names
}

func (p *pathWriter) reset(depth int) {
	if p.collapse {
		p.memory.prepare(depth != p.depth)
	}
	p.depth = depth
	p.buf, p.open = p.buf[:0], p.open[:0]
}

// enter moves to node i, whose ancestors were entered before it.
func (p *pathWriter) enter(t *Tree, i int32) {
	n := &t.Nodes[i]
	k := len(p.open) - 1
	for k >= 0 && p.open[k].end <= i {
		k--
	}
	p.open = p.open[:k+1]
	up := &p.root
	if k >= 0 {
		up = &p.open[k]
		if n.Label == ByField && n.End == i+1 && up.at != noMemory { // as mostly
			if p.at = p.memory.field(up.at, n.Name); p.at != noMemory {
				return
			}
		}
	}
	segments := 0
	if p.collapse && up.at != noMemory {
		p.at, segments = p.remembered(n, up)
	} else {
		p.at = noMemory
		p.buf = p.buf[:up.length]
		segments = p.write(n, up)
	}
	if k >= 0 && (n.Label == ByKey || n.Label == ByMember) {
		up.members = n.Label == ByMember
	}
	if n.End > i+1 {
		top := n.Parent < 0 && n.Label == ByField
		p.open = append(p.open, openPath{
			end: n.End, at: p.at, length: p.length(), segments: segments, topLevelField: top, attachments: top && n.Name == "attachments",
			args: top && n.Name == "args",
		})
	}
}

// remembered returns the node of the memory that the step from a container leads to, and the segments of its path. If the memory has no room
// for it, that is noMemory, and the path is in buf.
func (p *pathWriter) remembered(n *Node, up *openPath) (at int32, segments int) {
	k := stepOf(n, up)
	if at = p.memory.child(up.at, &k); at != noMemory {
		return at, p.memory.nodes[at].segments
	}
	p.buf = append(p.buf[:0], p.memory.nodes[up.at].path...)
	segments = p.write(n, up)
	return p.memory.add(up.at, &k, p.buf, segments), segments
}

// write appends the segment of n to the path of its parent and returns the number of segments.
func (p *pathWriter) write(n *Node, up *openPath) (segments int) {
	segments = up.segments
	if (p.depth == 0 || segments < p.depth || up.topLevelField && n.Label == ByIndex) && len(p.buf) < maxPath {
		if !p.collapse || !p.element(n, up) {
			p.segment(n)
		}
		if !(up.topLevelField && n.Label == ByIndex) { // args[0] is one segment
			segments++
		}
	}
	return segments
}

// collapsed returns the path of the node entered last.
func (p *pathWriter) collapsed() string {
	if p.at == noMemory {
		return string(p.buf)
	}
	return p.memory.nodes[p.at].path
}

// number returns the number of that path in the memory, or noMemory.
func (p *pathWriter) number() int32 {
	if p.at != noMemory {
		return p.memory.nodes[p.at].text
	}
	return p.memory.number(p.buf)
}

// length returns the length of that path.
func (p *pathWriter) length() int {
	if p.at == noMemory {
		return len(p.buf)
	}
	return len(p.memory.nodes[p.at].path)
}

// element writes [*] for an element or an entry and reports whether n is one whose number or key does not belong in a
// collapsed path. Arguments keep their numbers and attachments their keys; a member that may be a field keeps its name, if
// that is an identifier.
func (p *pathWriter) element(n *Node, up *openPath) bool {
	switch n.Label {
	case ByIndex:
		if up.args {
			return false
		}
	case ByKey:
		if up.attachments && n.Name != "" {
			return false
		}
	case ByEntry:
		if n.Name != "" && (up.attachments || up.members && identifier(n.Name)) {
			return false
		}
	default:
		return false
	}
	p.buf = append(p.buf, anyElement...)
	return true
}

// identifier reports whether a field of a class can have the name s.
func identifier(s string) bool {
	if len(s) > maxSegment {
		return false
	}
	for i, c := range s {
		if c == '_' || c == '$' || unicode.IsLetter(c) || i > 0 && (c == '-' || unicode.IsDigit(c)) {
			continue
		}
		return false
	}
	return s != ""
}

// path returns the path of n, which was entered last. It is borrowed until the next call.
func (p *pathWriter) path(n *Node) []byte {
	switch {
	case n.Kind == Opaque:
		p.whole = append(p.whole[:0], opaquePath...) // at any depth
		return p.whole
	case n.Label == Whole:
		p.whole = append(p.whole[:0], n.Name...)
		return p.whole
	}
	return p.buf
}

func (p *pathWriter) segment(n *Node) {
	if p.collapse && (n.Label == ByField || n.Label == Whole) && !CanBeName(n.Name) { // it may be a value of a misread body
		p.buf = append(p.buf, anyElement...)
		return
	}
	p.buf = AppendSegment(p.buf, n.Label, n.Name, int(n.Index))
}

// AppendSegment appends to a path the segment of a node.
func AppendSegment(path []byte, l Label, name string, index int) []byte {
	switch {
	case l == ByIndex, (l == ByKey || l == ByEntry) && name == "": // a key's bytes count toward its entry
		path = append(path, '[')
		path = strconv.AppendInt(path, int64(index), 10)
		return append(path, ']')
	case l == ByRole:
		return append(append(appendDot(path), '#'), name...)
	case l == ByMember:
		return append(appendDot(path), "#field"...)
	}
	return appendName(path, name)
}

func appendDot(path []byte) []byte {
	if len(path) > 0 {
		path = append(path, '.')
	}
	return path
}

// maxSegment limits a name in a path, in bytes: a hostile class may have field names of kilobytes.
const maxSegment = 128

// appendName appends a field name or map key. It is quoted if it contains a character that paths use or that is not printable.
func appendName(path []byte, s string) []byte {
	if len(s) > maxSegment {
		end := maxSegment
		for end > maxSegment-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end] + "..."
	}
	if !plain(s) {
		path = append(path, '[')
		path = strconv.AppendQuote(path, s)
		return append(path, ']')
	}
	return append(appendDot(path), s...)
}

func plain(s string) bool {
	if s == "" || s == "opaque" || s == "missing" { // these are parts of their own
		return false
	}
	ascii := true
	for i := range len(s) {
		switch c := s[i]; {
		case quotedInPaths[c]:
			return false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return ascii || !strings.ContainsRune(s, utf8.RuneError)
}

// quotedInPaths has the bytes for which a name is quoted.
var quotedInPaths = func() (q [256]bool) {
	for c := range 0x20 {
		q[c] = true
	}
	q['.'], q['['], q[']'], q['"'], q[0x7f] = true, true, true, true, true
	return q
}()
