package scrub

import (
	"bytes"
	"math"
	"slices"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// edit is a node whose bytes are to be replaced, and in which way: the first one that leaves the walk as it was counts.
type edit struct {
	node     int32
	off, end int32 // its bytes
	way      uint8
	salt     byte
	found    bool   // the value was found there
	dated    bool   // it is part of a date or time
	digits   bool   // it is part of a number that is written as text, or of a date
	pieces   []span // of a text that other bytes go through: those before the last
}

// span is bytes of a body.
type span struct{ off, end int32 }

// place is where bytes that nobody can read come again in many frames: as much of them as had to stay once will again.
type place struct {
	format string
	kind   decode.Kind
	short  int32  // bytes, of a few
	path   uint64 // a hash of the names from the value to the root
}

// maxLearned bounds the places that are remembered.
const maxLearned = 4096

// job is a frame at work.
type job struct {
	s    *Scrubber
	m    *rpc.Message // as it was read, or as it was read last after a value was given up on
	body []byte       // that is being changed
	// original is the message as it was, but for what is known of its connection; format wrote its body.
	original rpc.Message
	format   *decode.Format
	// told is the name of the format that the whole list takes the body for, where that is looked at.
	told   string
	asked  bool
	budget int          // walks that may still be made
	now    *decode.Tree // of the last walk that was right
	rest   int          // values that may still be given up on one by one
	refs   []int32      // nodes that are references by paths
	why    string
}

// maxRests is how many values of a frame become filler one by one, before all of them do.
const maxRests = 8

// maxWalks is how often a frame is read again at most.
const maxWalks = 200

// scrub replaces the values in body, which is that of m.
func (s *Scrubber) scrub(body []byte, m *rpc.Message) {
	if len(body) == 0 {
		return
	}
	j := job{s: s, m: m, body: body, original: *m, format: m.Format, budget: maxWalks, rest: maxRests}
	j.original.Native = nil
	if m.Tree == nil || m.Format == nil || m.Format.Depth == decode.DepthNone {
		if m.Kind.Control() && j.event() {
			return
		}
		fill(body, s.original)
		s.note("unknown serialization", len(body))
		return
	}
	j.ask()
	if m.Kind.Control() {
		if !j.event() {
			fill(body, s.original)
			s.note("event", len(body))
		}
		return
	}
	j.plans()
	for bad := j.run(); bad >= 0; bad = j.run() {
		if !j.without(bad) {
			j.giveUp()
			return
		}
	}
}

// plans makes a list of what is to be replaced.
func (j *job) plans() {
	s := j.s
	s.keep(j.m)
	s.edits, j.refs = s.edits[:0], j.refs[:0]
	for i := range j.m.Tree.Nodes {
		j.plan(i)
	}
}

// without makes filler of what edit k is of, which can be replaced in no way that leaves the walk as it was, and starts again
// with the walk that results. It returns false where that says something else of the message than the original.
func (j *job) without(k int) bool {
	s, e := j.s, &j.s.edits[k]
	if j.rest--; j.rest < 0 {
		return false
	}
	for p := range e.spans {
		fill(s.original[p.off:p.end], bytes.Clone(s.original[p.off:p.end]))
		s.note(notReplaceable, int(p.end-p.off))
	}
	copy(j.body, s.original)
	var fresh rpc.Decoders // what it returns must outlive the next walks
	m := fresh.DecodeAs(j.with(bytes.Clone(s.original)), j.format)
	was := j.m
	if !sameCall(m, was) || (m.Operation == nil) != (was.Operation == nil) ||
		m.Operation != nil && (m.Operation.Service != was.Operation.Service || m.Operation.Version != was.Operation.Version || m.Operation.Method != was.Operation.Method) {
		return false
	}
	j.m = m
	j.plans()
	return true
}

// with returns the message with another body.
func (j *job) with(body []byte) *rpc.Message {
	m := j.original
	m.Body = body
	return &m
}

// ask finds what all formats together take the body for, where that is not plain.
func (j *job) ask() {
	s, m := j.s, j.m
	same := 0
	for i := range s.formats {
		if int16(s.formats[i].ID) == m.SerializationID {
			same++
		}
	}
	if same != 1 || m.HeaderFormat != nil || m.Err != nil {
		j.asked = true
		j.told = s.decoders.Decode(&j.original, rpc.Envelope).Serialization
	}
}

// plan adds the edit of node i, if it is to be replaced.
func (j *job) plan(i int) {
	s, n := j.s, &j.m.Tree.Nodes[i]
	end := min(int(n.Off+n.Len), len(j.body))
	if j.isPath(n) {
		j.refs = append(j.refs, int32(i))
		return
	}
	if n.Len == 0 || int(n.Off) >= end || s.kept[i] || ways(n) == 0 {
		return
	}
	e := edit{node: int32(i), off: n.Off, end: int32(end)}
	if len(s.learned) > 0 && (n.Kind == decode.Opaque || n.Kind == decode.Custom) {
		e.way = s.learned[j.place(i)]
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

// pieces returns those of a text that node i is the last of, so far. The others are nodes of the same name, with the same
// text; none has all of its bytes.
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

// place returns where node i stands.
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

// run makes the edits, and makes those again in another way that change the walk. It returns the edit that there is no way
// left for, -1 when all is done.
func (j *job) run() (bad int) {
	s := j.s
	for k := range s.edits {
		j.apply(k)
	}
	good := 0 // edits that are known to be right
	for {
		bad := -1
		if j.same() {
			if bad = j.stale(); bad < 0 {
				break
			}
			good = min(good, bad)
		} else if bad = j.first(good); bad >= 0 {
			good = bad
		}
		if bad < 0 || j.budget <= 0 {
			j.giveUp()
			return -1
		}
		e := &s.edits[bad]
		e.way++
		if s.trace != nil {
			s.trace(j.m, int(e.node), e.way, j.why)
		}
		if int(e.way) >= ways(&j.m.Tree.Nodes[e.node]) {
			return bad
		}
		if k := j.m.Tree.Nodes[e.node].Kind; len(s.learned) < maxLearned && (k == decode.Opaque || k == decode.Custom) {
			s.learned[j.place(int(e.node))] = e.way
		}
		for k := bad; k < len(s.edits); k++ {
			j.apply(k)
		}
	}
	j.avoidMagic()
	j.account()
	return -1
}

// apply makes edit k.
func (j *job) apply(k int) {
	s := j.s
	e := &s.edits[k]
	n := &j.m.Tree.Nodes[e.node]
	b := j.body[e.off:e.end]
	most := uint8(ways(n))
	for {
		j.undo(e)
		if len(e.pieces) > 0 {
			b = nil
			for p := range e.spans {
				b = append(b, j.body[p.off:p.end]...)
			}
		}
		s.salt, s.calendar = e.salt, e.dated
		if e.found = j.replace(b, n, e); e.found || e.way+1 >= most {
			break
		}
		e.way++
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

// first returns the first edit from number good on that changes the walk; all before it together do not. The edits behind
// it are undone. -1 when there is none.
func (j *job) first(good int) int {
	s := j.s
	lo, hi := good, len(s.edits) // the walk is right with the first lo edits, and wrong with the first hi
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
		if j.same() {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// has reports whether the byte at offset at is one of those that the edit may change.
func (e *edit) has(at int) bool {
	for p := range e.spans {
		if int(p.off) <= at && at < int(p.end) {
			return true
		}
	}
	return false
}

// stale returns the first edit that left a value as it was, of those that found none in its bytes; -1 when there is none.
func (j *job) stale() int {
	for k := range j.s.edits {
		e := &j.s.edits[k]
		if e.way < wayLeave || e.way == wayStays || e.end-e.off < markEvery {
			continue
		}
		was, now := &j.m.Tree.Nodes[e.node], &j.now.Nodes[e.node]
		switch was.Kind {
		case decode.String, decode.Char, decode.Date, decode.Decimal:
			if was.Text == "" && letters(j.body[e.off:e.end]) >= markEvery && bytes.Equal(j.body[e.off:e.end], j.s.original[e.off:e.end]) {
				return k // the start of a text whose end is not there
			}
			if was.Text == now.Text && len(was.Text) >= markEvery && !j.isName(was.Text) {
				return k
			}
		case decode.Int:
			if was.Num == now.Num && !extreme(was.Num) {
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

// extreme reports whether a number is a constant of Java rather than anybody's value: MIN_VALUE, MAX_VALUE.
func extreme(n int64) bool {
	return n == math.MaxInt64 || n == math.MinInt64 || n == math.MaxInt32 || n == math.MinInt32 || n == 0
}

// letters counts those of b that are letters or digits.
func letters(b []byte) (n int) {
	for _, c := range b {
		if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' {
			n++
		}
	}
	return n
}

// isName reports whether a text is one that stays elsewhere in the body: the name of an attachment may be a reference to the
// value of an argument.
func (j *job) isName(text string) bool {
	for i, kept := range j.s.kept {
		n := &j.m.Tree.Nodes[i]
		if kept && n.Text == text || n.Class == text || n.Name == text && n.Label != decode.ByKey && n.Label != decode.ByEntry {
			return true
		}
	}
	return false
}

// giveUp turns all values into filler: nobody can read what is left, but nothing is left of them.
func (j *job) giveUp() {
	s := j.s
	copy(j.body, s.original)
	nodes := j.m.Tree.Nodes
	sum := 0
	for i := range nodes {
		n := &nodes[i]
		if end := min(int(n.Off+n.Len), len(j.body)); int(n.Off) < end && !s.kept[i] && ways(n) > 0 {
			fill(j.body[n.Off:end], s.original[n.Off:end])
			sum += end - int(n.Off)
		}
	}
	s.note(notReplaceable, sum)
}

// avoidMagic changes values again where they make the magic of the protocol, which would be taken for the start of a message
// after a loss.
func (j *job) avoidMagic() {
	s, magic := j.s, j.m.Protocol.Magic
	if len(magic) == 0 {
		return
	}
	const tries = 8
	for try := byte(1); try <= tries; try++ {
		at, found := -1, false
		for from := 0; ; from = at + 1 {
			k := bytes.Index(j.body[from:], magic)
			if k < 0 {
				break
			}
			at = from + k
			if bytes.HasPrefix(s.original[at:], magic) {
				continue
			}
			found = true
			for k := range s.edits {
				if e := &s.edits[k]; e.has(at) || e.has(at+len(magic)-1) {
					e.salt = try
					j.apply(k)
				}
			}
		}
		if !found || j.budget <= 0 {
			return
		}
		if !j.same() {
			j.giveUp()
			return
		}
	}
}

// account notes what became filler.
func (j *job) account() {
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
			case e.way > 0:
				cause = notReplaceable
			default:
				continue
			}
		default:
			if e.way == wayStays {
				j.s.left += int(e.end - e.off)
			}
			continue
		}
		j.s.note(cause, int(e.end-e.off))
	}
}

// event reports whether the body of an event may stay: it says that it is a heartbeat, or what Dubbo's own events say.
func (j *job) event() bool {
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
		if n := &tree.Nodes[i]; n.Kind == decode.Null || n.Kind == decode.String && (n.Text == "R" || n.Text == "W") {
			return true
		}
	}
	return false
}
