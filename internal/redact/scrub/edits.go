package scrub

import (
	"bytes"
	"math"
	"slices"
	"sort"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// edit is a node whose bytes are to be replaced, and the strategy: the first one that keeps the walk is used.
type edit struct {
	node     int32
	off, end int32 // its bytes
	strategy uint8
	salt     byte
	found    bool   // the value was found there
	dated    bool   // it is part of a date or time
	digits   bool   // it is part of a number that is written as text, or of a date
	pieces   []span // of a text with other bytes in it: all but the last
}

// span is bytes of a body.
type span struct{ off, end int32 }

// place identifies where bytes that cannot be decoded recur in many messages: the strategy that worked once is tried first
// there.
type place struct {
	format string
	kind   decode.Kind
	short  int32  // bytes, of a few
	path   uint64 // a hash of the names from the value to the root
}

// maxLearned bounds the places that are remembered.
const maxLearned = 4096

// job is one message whose values are being replaced.
type job struct {
	s    *Scrubber
	m    *rpc.Message // as decoded, last after a value became filler
	body []byte       // the copy that is changed
	// original is the message without what is known of its connection, again the same with the changed body; format is that of its body.
	original rpc.Message
	again    rpc.Message
	native   rpc.Native // what is known of the connection
	format   *decode.Format
	// dialect is the serialization that detection finds in the original; checkDialect says that the copy must give the same.
	dialect      string
	checkDialect bool
	walksLeft    int          // how often the body may still be decoded
	walked       *decode.Tree // of the last copy that kept the walk
	fillsLeft    int          // how many values may still become filler one by one
	fills        []span       // the bytes of these; countFills makes each byte part of one, and puts them in order
	refs         []int32      // nodes that are references by path
	reason       string
}

// maxFills is how many values of a message become filler one by one before all of them do.
const maxFills = 8

// maxWalks bounds how often a message is decoded again.
const maxWalks = 200

// replaceValues replaces the values in body, a copy of the body of m.
func (s *Scrubber) replaceValues(body []byte, m *rpc.Message) {
	if len(body) == 0 {
		return
	}
	j := &s.job
	*j = job{s: s, m: m, body: body, original: *m, native: m.Native, format: m.Format, refs: j.refs, walksLeft: maxWalks, fillsLeft: maxFills}
	j.original.Native = nil
	defer func() { *j = job{refs: j.refs} }() // which keeps nothing of the message
	cause := ""
	switch {
	case m.Kind.Control() && j.isPlainEvent():
		return
	case m.Tree == nil || m.Format == nil || m.Format.Depth == decode.DepthNone:
		cause = "unknown serialization"
	case m.Kind.Control():
		cause = "event"
	}
	if cause != "" {
		s.addFilled(cause, s.fillContent(m, func(at, end int) { fill(body[at:end], s.original[at:end]) }))
		return
	}
	j.detectDialect()
	j.planEdits()
	if s.misread = m.Tree.Misread(body, m.Err); s.misread {
		j.fillAll()
		return
	}
	for bad := j.run(); bad >= 0; bad = j.run() {
		if !j.fillEdit(bad) {
			j.fillAll()
			return
		}
	}
}

// planEdits lists what is to be replaced.
func (j *job) planEdits() {
	s := j.s
	s.markKept(j.m)
	s.edits, j.refs = s.edits[:0], j.refs[:0]
	for i := range j.m.Tree.Nodes {
		j.planEdit(i)
	}
}

// fillEdit makes filler of the bytes of edit k, for which no strategy keeps the walk, and plans again from the tree that
// results. It returns false if the message then no longer says the same of its call.
func (j *job) fillEdit(k int) bool {
	s, e := j.s, &j.s.edits[k]
	if j.fillsLeft--; j.fillsLeft < 0 {
		return false
	}
	for p := range e.spans {
		fill(s.original[p.off:p.end], bytes.Clone(s.original[p.off:p.end]))
		j.fills = append(j.fills, p)
	}
	copy(j.body, s.original)
	decoders := &s.refilled[j.fillsLeft&1] // what it returns must outlive the next walks, and be compared with the one before
	m := j.original
	m.Body, m.Native = bytes.Clone(s.original), j.native
	now := decoders.DecodeAs(&m, j.format)
	was := j.m
	if !sameCall(now, was) || (now.Operation == nil) != (was.Operation == nil) ||
		now.Operation != nil && (now.Operation.Service != was.Operation.Service || now.Operation.Version != was.Operation.Version || now.Operation.Method != was.Operation.Method) {
		return false
	}
	j.m = now
	j.planEdits()
	return true
}

// detectDialect sets dialect where the number in the header does not decide the serialization.
func (j *job) detectDialect() {
	s, m := j.s, j.m
	if !s.onlyOne(m) || m.HeaderFormat != nil || m.Err != nil {
		j.checkDialect = true
		j.dialect = s.decoders.Decode(&j.original, rpc.Envelope).Serialization
	}
}

// planEdit adds the edit of node i if it is to be replaced.
func (j *job) planEdit(i int) {
	s, n := j.s, &j.m.Tree.Nodes[i]
	end := min(int(n.Off+n.Len), len(j.body))
	if j.isPath(n) {
		j.refs = append(j.refs, int32(i))
		return
	}
	if n.Len == 0 || int(n.Off) >= end || s.kept[i] || strategies(n) == 0 {
		return
	}
	e := edit{node: int32(i), off: n.Off, end: int32(end)}
	if len(s.learned) > 0 && j.learns(n) {
		e.strategy = s.learned[j.place(i)]
	}
	for up := n.Parent; up >= 0; up = j.m.Tree.Nodes[up].Parent {
		switch j.m.Tree.Nodes[up].Kind {
		case decode.Date:
			e.dated, e.digits = true, true
		case decode.Decimal:
			e.digits = true
		case decode.Object:
			continue
		}
		break
	}
	if n.Kind == decode.String && n.Label == decode.ByField && n.Text != "" {
		e.pieces = j.pieces(i)
	}
	s.edits = append(s.edits, e)
}

// pieces returns the earlier pieces of the text that node i ends so far. They are nodes with the same name and the same text,
// none of which has all of its bytes.
func (j *job) pieces(i int) []span {
	s, nodes := j.s, j.m.Tree.Nodes
	n := &nodes[i]
	if len(s.edits) == 0 || int(n.Len) >= len(n.Text) {
		return nil
	}
	e := s.edits[len(s.edits)-1]
	before := &nodes[e.node]
	if before.Kind != n.Kind || before.Label != n.Label || before.Name != n.Name || before.Parent != n.Parent || before.Text != n.Text ||
		int(before.Len) >= len(n.Text) {
		return nil
	}
	s.edits = s.edits[:len(s.edits)-1]
	return append(e.pieces, span{e.off, e.end})
}

// place returns the place of node i.
func (j *job) place(i int) place {
	nodes := j.m.Tree.Nodes
	h := uint64(14695981039346656037)
	for k := int32(i); k >= 0; k = nodes[k].Parent {
		n := &nodes[k]
		h = (h ^ uint64(n.Label)) * 1099511628211
		for _, s := range [...]string{n.Name, n.Class} {
			for c := range len(s) {
				h = (h ^ uint64(s[c])) * 1099511628211
			}
			h = (h ^ 0xff) * 1099511628211
		}
	}
	return place{j.m.Serialization, nodes[i].Kind, min(nodes[i].Len, 3), h}
}

// run applies the edits, and applies those that change the walk again with their next strategy. It returns the edit that has
// no strategy left, -1 when all is done.
func (j *job) run() (bad int) {
	s := j.s
	for k := range s.edits {
		j.apply(k)
	}
	good := 0 // edits that are known to keep the walk
	for {
		bad := -1
		if j.keepsWalk() {
			if bad = j.firstUnchanged(); bad < 0 {
				break
			}
			good = min(good, bad)
		} else if bad = j.firstBad(good); bad >= 0 {
			good = bad
		}
		if bad < 0 || j.walksLeft <= 0 {
			j.fillAll()
			return -1
		}
		e := &s.edits[bad]
		e.strategy++
		if s.trace != nil {
			s.trace(j.m, int(e.node), e.strategy, j.reason)
		}
		if int(e.strategy) >= strategies(&j.m.Tree.Nodes[e.node]) {
			return bad
		}
		if len(s.learned) < maxLearned && j.learns(&j.m.Tree.Nodes[e.node]) {
			s.learned[j.place(int(e.node))] = e.strategy
		}
		for k := bad; k < len(s.edits); k++ {
			j.apply(k)
		}
	}
	if j.avoidMagic() {
		j.countFiller()
	}
	return -1
}

// learns reports whether the strategy for a node is that of others in its place: not that of bytes of which the rest is missing, which may be a part of anything.
func (j *job) learns(n *decode.Node) bool {
	missing := j.m.Err != nil && (j.m.Err.Cause == decode.Cut || j.m.Err.Cause == decode.Lost)
	return !missing && (n.Kind == decode.Opaque || n.Kind == decode.Custom)
}

// apply applies edit k.
func (j *job) apply(k int) {
	s := j.s
	e := &s.edits[k]
	n := &j.m.Tree.Nodes[e.node]
	b := j.body[e.off:e.end]
	most := uint8(strategies(n))
	for {
		j.undo(e)
		if len(e.pieces) > 0 {
			b = nil
			for p := range e.spans {
				b = append(b, j.body[p.off:p.end]...)
			}
		}
		s.salt, s.calendar = e.salt, e.dated
		if e.found = j.replace(b, n, e); e.found || e.strategy+1 >= most {
			break
		}
		e.strategy++
	}
	if len(e.pieces) > 0 {
		for p := range e.spans {
			b = b[copy(j.body[p.off:p.end], b):]
		}
	}
	s.salt, s.plain, s.calendar = 0, false, false
}

// undo restores the original bytes of an edit.
func (j *job) undo(e *edit) {
	for p := range e.spans {
		copy(j.body[p.off:p.end], j.s.original[p.off:p.end])
	}
}

// spans calls yield for each run of bytes that the edit may change.
func (e *edit) spans(yield func(span) bool) {
	for _, p := range e.pieces {
		if !yield(p) {
			return
		}
	}
	yield(span{e.off, e.end})
}

// firstBad returns the first edit from number good on that changes the walk; all before it together do not. Later edits are
// undone. It returns -1 if there is none.
func (j *job) firstBad(good int) int {
	s := j.s
	lo, hi := good, len(s.edits) // the first lo edits keep the walk, the first hi change it
	if lo >= hi {
		return -1
	}
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		for k := lo; k < len(s.edits); k++ {
			if k < mid {
				j.apply(k)
			} else {
				j.undo(&s.edits[k])
			}
		}
		if j.keepsWalk() {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// covers reports whether the edit may change the byte at offset at.
func (e *edit) covers(at int) bool {
	for p := range e.spans {
		if int(p.off) <= at && at < int(p.end) {
			return true
		}
	}
	return false
}

// firstUnchanged returns the first edit that left a value unchanged because no strategy found it in its bytes; -1 if there is
// none.
func (j *job) firstUnchanged() int {
	for k := range j.s.edits {
		e := &j.s.edits[k]
		if e.strategy < strategyReference || e.strategy == strategyKeep || e.end-e.off < markEvery {
			continue
		}
		was, now := &j.m.Tree.Nodes[e.node], &j.walked.Nodes[e.node]
		switch was.Kind {
		case decode.String, decode.Char, decode.Date, decode.Decimal:
			if was.Text == "" && countLetters(j.body[e.off:e.end]) >= markEvery && bytes.Equal(j.body[e.off:e.end], j.s.original[e.off:e.end]) {
				return k // the start of a text whose end is missing
			}
			if was.Text == now.Text && len(was.Text) >= markEvery && !j.isName(was.Text) {
				return k
			}
		case decode.Int:
			if was.Num == now.Num && !isExtreme(was.Num) {
				return k
			}
		case decode.Float32, decode.Float64:
			if was.Float == now.Float && was.Text == now.Text && math.Abs(was.Float) > 1e-37 && math.Abs(was.Float) < 1e38 {
				return k
			}
		case decode.Bytes:
			if string(was.Raw) == string(now.Raw) && len(was.Raw) > 0 {
				return k
			}
		}
	}
	return -1
}

// isExtreme reports whether a number is a constant of Java rather than a value of the application: 0, MIN_VALUE, MAX_VALUE.
func isExtreme(n int64) bool {
	return n == math.MaxInt64 || n == math.MinInt64 || n == math.MaxInt32 || n == math.MinInt32 || n == 0
}

// countLetters counts the letters and digits of b.
func countLetters(b []byte) (n int) {
	for _, c := range b {
		if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' {
			n++
		}
	}
	return n
}

// isName reports whether a text stays elsewhere in the body: the name of an attachment may be a reference to the value of an
// argument.
func (j *job) isName(text string) bool {
	for i, kept := range j.s.kept {
		n := &j.m.Tree.Nodes[i]
		if kept && n.Text == text || n.Class == text || n.Name == text && n.Label != decode.ByKey && n.Label != decode.ByEntry {
			return true
		}
	}
	return false
}

// fillAll turns all values into filler: the body can no longer be decoded, but no value is left in it.
func (j *job) fillAll() {
	s := j.s
	copy(j.body, s.original)
	j.countFills()
	nodes := j.m.Tree.Nodes
	sum := 0
	for i := range nodes {
		n := &nodes[i]
		if end := min(int(n.Off+n.Len), len(j.body)); int(n.Off) < end && !s.kept[i] && (strategies(n) > 0 || s.misread && n.HoldsNames()) {
			fill(j.body[n.Off:end], s.original[n.Off:end])
			sum += j.notCounted(n.Off, int32(end))
		}
	}
	s.addFilled(notReplaceable, sum)
}

// magicTries is the salts for values that make the magic of the protocol, in turn.
var magicTries = [...]byte{1, 2, 3, 4, 5, 6, 7, 8}

// eachNewMagic calls f for each offset of body, the copy of original, where it has the magic of a protocol and the original has not. f may change
// the copy. It returns whether there was one.
func eachNewMagic(body, original, magic []byte, f func(at int)) (found bool) {
	if len(magic) == 0 {
		return false
	}
	for at := 0; ; at++ {
		k := bytes.Index(body[at:], magic)
		if k < 0 {
			return found
		}
		if at += k; !bytes.HasPrefix(original[at:], magic) {
			found = true
			f(at)
		}
	}
}

// avoidMagic changes values again where they make the magic of the protocol, which would be taken for the start of a message
// after a loss. It returns false if all values became filler.
func (j *job) avoidMagic() bool {
	s, magic := j.s, j.m.Protocol.Magic
	for _, try := range magicTries {
		found := eachNewMagic(j.body, s.original, magic, func(at int) {
			for k := range s.edits {
				if e := &s.edits[k]; e.covers(at) || e.covers(at+len(magic)-1) {
					e.salt = try
					j.apply(k)
				}
			}
		})
		if !found || j.walksLeft <= 0 {
			break
		}
		if !j.keepsWalk() {
			j.fillAll()
			return false
		}
	}
	return true
}

// countFills counts the bytes that became filler one by one, each once: a value may have held another one before it became filler.
func (j *job) countFills() {
	slices.SortFunc(j.fills, func(a, b span) int { return int(a.off - b.off) })
	list, sum := j.fills[:0], 0
	for _, p := range j.fills {
		if k := len(list); k > 0 {
			p.off = max(p.off, list[k-1].end)
		}
		if p.off < p.end {
			list = append(list, p)
			sum += int(p.end - p.off)
		}
	}
	j.fills = list
	j.s.addFilled(notReplaceable, sum)
}

// notCounted returns how many of the bytes from off to end countFills did not count.
func (j *job) notCounted(off, end int32) int {
	n := int(end - off)
	first := sort.Search(len(j.fills), func(i int) bool { return j.fills[i].end > off })
	for _, p := range j.fills[first:] {
		if p.off >= end {
			break
		}
		n -= int(min(p.end, end) - max(p.off, off))
	}
	return n
}

// countFiller counts what became filler.
func (j *job) countFiller() {
	j.countFills()
	for k := range j.s.edits {
		e := &j.s.edits[k]
		n := &j.m.Tree.Nodes[e.node]
		cause := ""
		switch n.Kind {
		case decode.Opaque:
			cause = decode.Unsupported.String()
			if j.m.Err != nil {
				cause = j.m.Err.Cause.String()
			}
		case decode.Custom:
			cause = "user code"
		case decode.Overhead:
			switch {
			case n.Name != "text":
				cause = "behind the end"
			case e.strategy > 0:
				cause = notReplaceable
			default:
				continue
			}
		default:
			if e.strategy == strategyKeep {
				j.s.left += j.notCounted(e.off, e.end)
			}
			continue
		}
		j.s.addFilled(cause, j.notCounted(e.off, e.end))
	}
}

// isPlainEvent reports whether the body of a control message may stay: it is a heartbeat, or one of the protocol's own events.
func (j *job) isPlainEvent() bool {
	if j.m.Format == nil {
		return false
	}
	isOriginal := func(heartbeat []byte) bool { return bytes.Equal(heartbeat, j.s.original) }
	if j.m.Kind == rpc.Heartbeat && slices.ContainsFunc(j.m.Format.Heartbeats, isOriginal) {
		return true
	}
	if j.m.Format.Depth == decode.DepthNone {
		return false
	}
	tree := decode.Tree{WithValues: true}
	r := j.m.Format.New()
	r.Reset(j.s.original, decode.Malformed, &tree)
	r.Value(decode.ByField, "event", 0, "Ljava/lang/String;")
	if r.Err() != nil || r.Offset() != len(j.s.original) || j.m.BodyLen != len(j.s.original) {
		return false
	}
	for i := range tree.Nodes {
		if n := &tree.Nodes[i]; n.Kind == decode.Null || n.Kind == decode.String && slices.Contains(j.m.Protocol.Events, n.Text) {
			return true
		}
	}
	return false
}
