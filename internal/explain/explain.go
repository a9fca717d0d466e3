// Package explain takes one frame apart for people: header and body as a tree of named parts, each beside its bytes, the
// place where reading stopped and what was wrong there. It prints it as text for terminals, as JSON, and as a page of HTML
// that needs nothing but itself.
package explain

import (
	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/pipeline"
)

// Subject is the frame to explain, and what is known around it. Nothing of it is kept.
type Subject struct {
	// Row is the frame with a message that was decoded for values.
	Row *pipeline.Row
	// File is the name of its input.
	File string
	// Stream is Wireshark's number of the connection (tcp.stream) in that file; -1 where it is not known.
	Stream int
	// Call is the call it belongs to; nil where it belongs to none, or that is not known.
	Call *Call
	// Secret says what of values is shown.
	Secret Secret
}

// Secret says what of the values is shown.
type Secret uint8

const (
	// Open shows values and their bytes.
	Open Secret = iota
	// Redacted shows types and lengths; bytes of values are masked.
	Redacted
	// Hidden shows nothing of values.
	Hidden
)

// Call is what a report says of the frame's call: the numbers of its frames, 0 where there is none.
type Call struct {
	Request, Response int64
	Service, Method   string
	State             call.State
	// Status is the response's.
	Status int32
	// Latency is in nanoseconds, -1 where it is not known.
	Latency int64
}

// CallOf returns what is needed of a call, which is borrowed.
func CallOf(c *call.Call) *Call {
	k := &Call{State: c.State(), Latency: -1}
	if m := c.Request; m != nil {
		k.Request, k.Service, k.Method = m.Number, m.Service(), m.Method()
	}
	if m := c.Response; m != nil {
		k.Response, k.Status = m.Number, c.Answer().Status
	}
	if ns, ok := c.Latency(); ok {
		k.Latency = ns
	}
	return k
}

// Frame is a frame taken apart.
type Frame struct {
	subject *Subject
	// header is the protocol's, body what was captured of the rest up to the first missing byte.
	header []byte
	body   []byte
	rows   []row
	damage *damage
	// classes is the bytes by what they are for; missing bytes are not in the capture.
	classes decode.PartBytes
	missing int
	redact  bool
}

// New takes the subject's frame apart.
func New(s *Subject) *Frame {
	m := s.Row.Msg
	f := &Frame{subject: s, header: m.Head, body: m.Body, redact: s.Secret != Open}
	f.rows = append(f.rows, headerRows(m)...)
	if t := s.Row.Msg.Tree; t != nil {
		t.Redact = f.redact
		f.classes = t.Bytes()
		f.rows = append(f.rows, bodyRows(t, s)...)
	}
	var open []int
	for i := range f.rows {
		for len(open) > 0 && f.rows[open[len(open)-1]].depth >= f.rows[i].depth {
			f.rows[open[len(open)-1]].end = i
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
	for _, i := range open {
		f.rows[i].end = len(f.rows)
	}
	f.missing = m.BodyLen
	for _, n := range f.classes {
		f.missing -= int(n)
	}
	f.damage = damageOf(f)
	return f
}

// eachClass calls add with the bytes of the body in each class, those that the capture lacks last.
func (f *Frame) eachClass(add func(class string, n int)) {
	for c, n := range f.classes {
		add(decode.Class(c).String(), int(n))
	}
	add(decode.ClassMissing.String(), f.missing)
}

// bytes returns the bytes of a row that the capture has, and whether they may be shown.
func (f *Frame) bytes(r *row) (b []byte, shown bool) {
	from, to := r.off, r.off+r.len
	switch {
	case to <= len(f.header):
		return f.header[from:to], true
	case from < len(f.header):
		return nil, true
	}
	from, to = from-len(f.header), to-len(f.header)
	if from >= len(f.body) {
		return nil, true
	}
	return f.body[from:min(to, len(f.body))], !f.redact || !r.secret
}
