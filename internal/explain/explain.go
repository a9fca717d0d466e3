// Package explain shows one message to people: header and body as a tree of named parts, each beside its bytes, and where and
// why decoding stopped.
//
// A message that was decoded for values comes in as a [Subject], with what is known of its call; [New] turns it into rows, and
// a [Frame] prints them as text for terminals, as JSON, or as one page of HTML without further files. What a header's fields
// mean comes from the protocol, what bytes are for from the tree. A Frame borrows the message and its bytes, and is valid as
// long as they are. docs/explain.md describes the outputs.
package explain

import (
	"cmp"
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/pipeline"
)

// Subject is the frame to explain, and its context. A [Frame] borrows it.
type Subject struct {
	// Row is the frame; its message was decoded for values.
	Row *pipeline.Row
	// File is the name of its input, "" if the packets are in no file.
	File string
	// Stream is Wireshark's number of the connection (tcp.stream) in that file, -1 if it is not known.
	Stream int
	// Call is the call of the frame, nil if it has none or the call is not known.
	Call *Call
	// Secret says how much of the values is shown.
	Secret Secret
}

// Secret says how much of the values is shown.
type Secret uint8

const (
	// Open shows values and their bytes.
	Open Secret = iota
	// Redacted shows types and lengths; bytes of values are masked.
	Redacted
	// Hidden shows nothing of values.
	Hidden
)

// Call is the call of a frame. Request and Response are the numbers of its frames, 0 if there is none.
type Call struct {
	Request, Response int64
	Service, Method   string
	State             call.State
	// Status is the status of the response, or rpc.NoStatus.
	Status int32
	// Latency is in nanoseconds, -1 if it is not known.
	Latency int64
	// Error is the name of a failed call's error: the status, the class of the exception or the reason of the reset.
	// ErrorText is its text, if HasErrorText is set.
	Error, ErrorText string
	HasErrorText     bool
}

// CallOf copies what is needed of a borrowed call.
func CallOf(c *call.Call) *Call {
	k := &Call{State: c.State(), Latency: -1}
	if m := c.Request; m != nil {
		k.Request, k.Service, k.Method = m.Number, m.Service(), m.Method()
	}
	if m := c.Response; m != nil {
		k.Response, k.Status = m.Number, c.Answer().Status
	}
	if k.Error = c.ErrorName(); k.Error != "" && c.Aborted == "" {
		m := c.Answer()
		k.ErrorText, k.HasErrorText = cmp.Or(m.ErrorMessage, m.ExceptionMessage), m.HasErrorText
	}
	if ns, ok := c.Latency(); ok {
		k.Latency = ns
	}
	return k
}

// Frame is a frame as rows.
type Frame struct {
	subject *Subject
	// header is the header of the protocol, body the bytes of the body up to the first missing one. A compressed body is followed by
	// what it is without compression, which is content: the bytes that the tree is about.
	header  []byte
	body    []byte
	content []byte
	rows    []row
	damage  *damage
	// classes is the bytes of the body by class, missing the bytes that the capture lacks.
	classes decode.PartBytes
	missing int
	redact  bool
}

// New returns the frame of s as rows.
func New(s *Subject) *Frame {
	m := s.Row.Msg
	f := &Frame{subject: s, header: m.Head, body: m.Body, content: m.Content(), redact: s.Secret != Open}
	f.rows = append(f.rows, headerRows(m, s.Secret)...)
	if m.Plain != nil {
		f.body = slices.Concat(m.Body, m.Plain)
		f.rows = append(f.rows, compressedRow(m))
	}
	if t := s.Row.Msg.Tree; t != nil {
		t.Redact = f.redact
		f.classes = m.BodyParts()
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

// contentAt returns the offset of the content from the frame's first byte.
func (f *Frame) contentAt() int { return len(f.header) + len(f.body) - len(f.content) }

// eachClass calls add with the bytes of the body in each class, those that the capture lacks last.
func (f *Frame) eachClass(add func(class string, n int)) {
	for c, n := range f.classes {
		if n == 0 && decode.Class(c) == decode.ClassCompressed {
			continue
		}
		add(decode.Class(c).String(), int(n))
	}
	add(decode.ClassMissing.String(), f.missing)
}

// bytes returns the bytes of a row that the capture has, and whether they may be shown.
func (f *Frame) bytes(r *row) (b []byte, shown bool) {
	from, to := r.off, r.off+r.len
	switch {
	case to <= len(f.header):
		return f.header[from:to], !f.redact || !r.secret
	case from < len(f.header):
		return nil, true
	}
	from, to = from-len(f.header), to-len(f.header)
	if from >= len(f.body) {
		return nil, true
	}
	return f.body[from:min(to, len(f.body))], !f.redact || !r.secret
}
