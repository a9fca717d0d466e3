package scrub

import (
	"bytes"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
)

// edit is a node whose bytes are to be replaced, and in which way: the first one that leaves the walk as it was counts.
type edit struct {
	node    int32
	way     uint8
	salt    byte
	off     int32
	end     int32
	changes bool // the way changes bytes
}

// place is where values come again in many frames: what broke the walk there once will again.
type place struct {
	format      string
	kind        decode.Kind
	label       decode.Label
	name, class string
}

// maxLearned bounds the places that are remembered.
const maxLearned = 4096

// job is a frame at work.
type job struct {
	s    *Scrubber
	f    *dubbo.Frame
	m    *dubbo.Message
	body []byte // that is being changed
	own  *dubbo.Decoder
	flag byte // of the header, with the id of the format that wrote the body
	// told is the name of the format that the whole list takes the body for, where that is looked at.
	told   string
	asked  bool
	budget int // walks that may still be made
}

// maxWalks is how often a frame is read again at most.
const maxWalks = 200

// scrub replaces the values in body, which is that of f.
func (s *Scrubber) scrub(body []byte, f *dubbo.Frame, m *dubbo.Message) {
	if len(body) == 0 {
		return
	}
	j := job{s: s, f: f, m: m, body: body, flag: f.Flags, budget: maxWalks}
	if m.Tree == nil || m.Format == nil || m.Format.Depth == decode.DepthNone {
		if m.Kind > dubbo.Response && j.event() {
			return
		}
		fill(body, s.original)
		s.note("unknown serialization", len(body))
		return
	}
	j.decoders()
	if m.Kind > dubbo.Response {
		if !j.event() {
			fill(body, s.original)
			s.note("event", len(body))
		}
		return
	}
	s.keep(m)
	s.edits = s.edits[:0]
	for i := range m.Tree.Nodes {
		j.plan(i)
	}
	j.run()
}

// decoders finds the decoder of the body's format, and what the others take the body for.
func (j *job) decoders() {
	s, m := j.s, j.m
	name := m.Format.FullName()
	j.own = s.alone[name]
	if j.own == nil {
		j.own = dubbo.NewDecoder([]decode.Format{*m.Format})
		s.alone[name] = j.own
	}
	j.flag = j.f.Flags&^0x1f | m.Format.ID&0x1f
	same := 0
	for i := range s.formats {
		if s.formats[i].ID == j.f.SerializationID() {
			same++
		}
	}
	if same != 1 || m.Header != nil || m.Err != nil {
		j.asked = true
		var nothing dubbo.Dialects
		j.told = s.all.Decode(j.f, dubbo.Envelope, &nothing).Serialization
	}
}

// plan adds the edit of node i, if it is to be replaced.
func (j *job) plan(i int) {
	s, n := j.s, &j.m.Tree.Nodes[i]
	end := min(int(n.Off+n.Len), len(j.body))
	if n.Len == 0 || int(n.Off) >= end || s.kept[i] || ways(n) == 0 {
		return
	}
	s.edits = append(s.edits, edit{node: int32(i), off: n.Off, end: int32(end), way: s.learned[j.place(i)]})
}

// place returns where node i stands.
func (j *job) place(i int) place {
	nodes := j.m.Tree.Nodes
	n := &nodes[i]
	p := place{format: j.m.Serialization, kind: n.Kind, label: n.Label, name: n.Name}
	if n.Label == decode.ByEntry || n.Label == decode.ByKey {
		p.name = ""
	}
	if n.Parent >= 0 {
		p.class = nodes[n.Parent].Class
	}
	return p
}

// run makes the edits, and makes those again in another way that change the walk.
func (j *job) run() {
	s := j.s
	for k := range s.edits {
		j.apply(k)
	}
	good := 0 // edits that are known to be right
	for !j.same() {
		bad := j.first(good)
		if bad < 0 || j.budget <= 0 {
			j.giveUp()
			return
		}
		good = bad
		e := &s.edits[bad]
		e.way++
		if int(e.way) >= ways(&j.m.Tree.Nodes[e.node]) {
			j.giveUp()
			return
		}
		if len(s.learned) < maxLearned {
			s.learned[j.place(int(e.node))] = e.way
		}
		for k := bad; k < len(s.edits); k++ {
			j.apply(k)
		}
	}
	j.unmagic()
	j.account()
}

// apply makes edit k.
func (j *job) apply(k int) {
	s := j.s
	e := &s.edits[k]
	n := &j.m.Tree.Nodes[e.node]
	b := j.body[e.off:e.end]
	most := uint8(ways(n))
	for {
		copy(b, s.original[e.off:e.end])
		s.salt = e.salt
		if done := j.replace(b, n, e.way); done || e.way+1 >= most {
			break
		}
		e.way++
	}
	s.salt, s.plain = 0, false
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
		for k := lo; k < hi; k++ {
			if k < mid {
				j.apply(k)
			} else {
				e := &s.edits[k]
				copy(j.body[e.off:e.end], s.original[e.off:e.end])
			}
		}
		for k := hi; k < len(s.edits); k++ {
			e := &s.edits[k]
			copy(j.body[e.off:e.end], s.original[e.off:e.end])
		}
		if j.same() {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
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

var magic = []byte{0xda, 0xbb}

// unmagic changes values again where they make the magic of Dubbo, which would be taken for a frame's start behind a loss.
func (j *job) unmagic() {
	s := j.s
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
				if e := &s.edits[k]; int(e.off) <= at+1 && at < int(e.end) {
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
			cause = "behind the end"
		default:
			continue
		}
		j.s.note(cause, int(e.end-e.off))
	}
}

// event reports whether the body of an event may stay: it says that it is a heartbeat, or what Dubbo's own events say.
func (j *job) event() bool {
	if j.m.Kind == dubbo.Heartbeat && j.m.Format != nil && j.known() {
		return true
	}
	if j.m.Format == nil || j.m.Format.Depth == decode.DepthNone {
		return false
	}
	tree := decode.Tree{WithValues: true}
	r := j.m.Format.New()
	r.Reset(j.s.original, decode.Malformed, &tree)
	r.Value(decode.ByField, "event", 0, "Ljava/lang/String;")
	if r.Err() != nil || r.Offset() != len(j.s.original) || j.f.BodyLen != len(j.s.original) {
		return false
	}
	for i := range tree.Nodes {
		if n := &tree.Nodes[i]; n.Kind == decode.Null || n.Kind == decode.String && (n.Text == "R" || n.Text == "W") {
			return true
		}
	}
	return false
}

// known reports whether the body is one of those that its format writes for a heartbeat.
func (j *job) known() bool {
	for _, h := range j.m.Format.Heartbeats {
		if bytes.Equal(h, j.s.original) {
			return true
		}
	}
	return false
}
