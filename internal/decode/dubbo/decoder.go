package dubbo

import (
	"bytes"
	"hash/maphash"

	"dubbo-wire/internal/decode"
)

// Decoder reads the bodies of frames. It is not safe for concurrent use.
type Decoder struct {
	formats [32][]*serialization
	all     []*serialization
	unnamed [32]*decode.Format // what headers with ids of no serialization name, by id
	tree    decode.Tree
	msg     Message
	// nameBytes is about the memory of the names that are remembered.
	nameBytes int
	trees     int
	seed      maphash.Seed // of this process, so that no capture can be made for collisions
}

// serialization is a format at work: its reader, and the names that it read.
type serialization struct {
	format *decode.Format
	index  int    // among all of the decoder
	name   string // with the dialect
	r      decode.Reader
	names  map[string]*Names // by the bytes that they were read from
	// recent is some of them again, each in the place that the hash of its bytes says.
	recent []*Names
}

// maxNameBytes bounds the memory for request envelopes that are remembered; beyond it they are read again each time.
const maxNameBytes = 8 << 20

// NewDecoder returns a decoder for bodies of the given serializations. Where several have one id, the bytes decide
// between them, and where they do not, the first counts.
func NewDecoder(formats []decode.Format) *Decoder {
	d := &Decoder{seed: maphash.MakeSeed()}
	for i := range formats {
		f := &formats[i]
		r := &serialization{format: f, name: f.FullName(), index: i}
		d.formats[f.ID&maskID] = append(d.formats[f.ID&maskID], r)
		d.all = append(d.all, r)
	}
	return d
}

// Decode reads a frame's body as far as detail asks. dialects is what is known of its connection, nil for nothing. The
// message and its tree are valid until the next call.
//
// Where the header names a serialization that cannot read the start of the body, and another one can, the bytes decide:
// see [rpc.Message.HeaderFormat].
func (d *Decoder) Decode(f *Frame, detail Detail, dialects *Dialects) *Message {
	if dialects == nil {
		dialects = new(Dialects)
	}
	m := d.choose(f, detail, dialects)
	m.describe(f)
	m.Native = dialects
	return m
}

// choose reads a frame's body in the serialization that its header or its bytes name.
func (d *Decoder) choose(f *Frame, detail Detail, dialects *Dialects) *Message {
	header := d.named(f, dialects)
	if header == nil || header.format.Depth == decode.DepthNone {
		return d.decodeUnknown(f, detail, header, dialects)
	}
	chosen := d.foreign(f, header, dialects)
	if chosen == nil {
		chosen = header
	}
	m := d.decode(f, detail, chosen, dialects)
	if chosen == header && (m.Err != nil || m.Names != nil && m.Names.strange) {
		b := detector{d, f, m, header, dialects}
		if why := b.doubt(); why != certain {
			if other := b.detect(why); other != nil {
				chosen = other
			}
			m = d.decode(f, detail, chosen, dialects) // again, since looking for another reads, too
		}
	}
	if chosen != header {
		m.HeaderFormat = header.format
	}
	if m.Names != nil || m.ResultKind >= 0 {
		dialects.seen |= 1 << chosen.index
	}
	return m
}

// decode reads a body in one serialization, nil where there is none, and in the layout of its connection if that fits.
func (d *Decoder) decode(f *Frame, detail Detail, chosen *serialization, dialects *Dialects) *Message {
	m := d.decodeIn(f, detail, chosen, dialects.layout)
	if m.Kind == Request && chosen != nil && chosen.format.Depth != decode.DepthNone {
		if m.Names != nil && !m.Names.malformed {
			dialects.hasLayout = true
		} else {
			return d.decodeForeignLayout(f, detail, chosen, dialects)
		}
	}
	return m
}

// decodeIn reads a body in one serialization, nil where there is none, and one layout.
func (d *Decoder) decodeIn(f *Frame, detail Detail, chosen *serialization, layout Layout) *Message {
	m := &d.msg
	*m = Message{}
	m.ResultKind = -1
	if chosen != nil {
		m.Format, m.Serialization = chosen.format, chosen.name
	}
	if m.Kind = kindOf(f, m.Format); m.Kind == Request {
		m.Layout = layouts[layout].name
	}
	b := body{m: m, f: f, d: d, serialization: chosen, layout: layout}
	if chosen != nil && b.readWithoutTree(detail) {
		return m
	}
	if detail > Envelope {
		d.trees++
		d.tree.Reset()
		d.tree.WithValues = detail >= Parts // some values are only known to be wrong when they are read
		m.Tree = &d.tree
	}
	short := f.Short
	if short == decode.None && len(f.Body) < f.BodyLen {
		short = decode.Limit // more than was wanted of it
	}
	if m.Format != nil && m.Kind <= Response {
		b.r = chosen.reader()
		b.r.Reset(f.Body, short, m.Tree)
	}
	switch {
	case m.Kind == Heartbeat || m.Kind == Event:
		b.event()
	case m.Format == nil:
		m.Err = &decode.Error{Cause: decode.Unsupported, Expected: "a known serialization"}
	default:
		b.read(detail)
	}
	if b.r != nil && m.Err == nil {
		m.Err = b.r.Err()
	}
	if f, ok := b.r.(decode.Faulter); ok && m.Err == nil {
		m.Err = f.Fault()
	}
	if m.Tree != nil {
		b.rest()
		m.Decoded = decoded(m)
		m.Parts = m.Tree.Bytes()
	}
	if detail == Parts {
		m.Tree, m.Decoded = nil, ""
		if m.Names != nil && m.Names.Generic {
			b.genericMethod()
		}
	}
	return m
}

// Trees returns how many bodies were read into a tree so far.
func (d *Decoder) Trees() int { return d.trees }

// readWithoutTree reads what is wanted of a body without a tree, if that is possible; else it leaves the message as
// it was and returns false.
func (b *body) readWithoutTree(detail Detail) bool {
	m := b.m
	switch {
	case detail == Envelope && m.Kind == Request:
		if n := b.serialization.skim(b.d, b.f.Body); n != nil && !n.Generic {
			m.Names = n
			return true
		}
	case detail == Envelope && m.Kind == Response:
		if b.f.Status == StatusOK && m.Format.SkimKind != nil {
			m.ResultKind = m.Format.SkimKind(b.f.Body)
			return m.ResultKind >= 0
		}
	case detail == Parts && m.Kind <= Response && len(b.f.Body) == b.f.BodyLen:
		b.r = b.serialization.reader()
		b.r.Reset(b.f.Body, decode.Malformed, nil)
		if b.count() {
			return true
		}
		m.Names, m.ResultKind, m.Parts, m.Err, b.r = nil, -1, decode.PartBytes{}, nil, nil
	}
	return false
}

func (r *serialization) reader() decode.Reader {
	if r.r == nil {
		r.r = r.format.New()
	}
	return r.r
}

// Of a body that crosses packets, so many bytes are looked at, at least: of a response none of the serializations needs
// more to say what kind of result it is; a request's envelope is seldom longer.
const (
	enoughResponse = 256
	enoughRequest  = 512
)

// Enough reports whether b, the start of a frame's body, is all of it that Decode needs for Envelope, so that the rest
// need not be kept.
func (d *Decoder) Enough(h *Header, b []byte, dialects *Dialects) bool {
	formats := d.formats[h.SerializationID()]
	switch {
	case h.Event():
		return false
	case len(formats) == 0: // which one it is can only be told by what it starts with
		return len(b) >= enoughRequest || !h.Request() && len(b) >= enoughResponse
	case len(formats) > 1 && wantsWhole(formats, dialects):
		return false
	case !h.Request():
		return len(b) >= enoughResponse
	case len(b) < enoughRequest:
		return false
	}
	r := d.pick(formats, h, b, dialects).reader()
	r.Reset(b, decode.Cut, nil)
	FieldEnvelope.skip(r, dialects.layout)
	// The method of a generic call is among the arguments.
	return r.Err() == nil && !bytes.Contains(b[:r.Offset()], []byte("$invoke"))
}

// Readable reports whether b, a whole body, starts as one with that header does: a request with the five texts of its
// envelope, a result with its kind, another response with its text.
func (d *Decoder) Readable(h *Header, b []byte) bool {
	formats := d.formats[h.SerializationID()]
	if h.Event() || len(formats) == 0 {
		return true
	}
	for _, f := range formats {
		if f.format.Depth == decode.DepthNone {
			return true
		}
		r := f.reader()
		r.Reset(b, decode.Malformed, nil)
		h.firstField().skip(r, LayoutDubbo)
		if r.Err() == nil || h.Request() && f.namesCall(b, LayoutUnknown) {
			return true
		}
	}
	// Another serialization may have written it.
	f := Frame{Header: *h, Body: b}
	in := detector{d: d, f: &f}
	for _, r := range d.all {
		if r.format.ID&maskID != h.SerializationID() && in.startsAs(r) {
			return true
		}
	}
	return false
}

// kindOf tells heartbeats from other events by their body: what the serialization writes for null, or nothing at all.
// Where the serialization is not known: heartbeats want an answer, or are one; other events do not.
func kindOf(f *Frame, format *decode.Format) Kind {
	switch {
	case !f.Event() && f.Request():
		return Request
	case !f.Event():
		return Response
	case f.BodyLen == 0:
		return Heartbeat
	case format == nil || len(format.Heartbeats) == 0 || len(f.Body) < f.BodyLen:
		if f.TwoWay() || !f.Request() {
			return Heartbeat
		}
		return Event
	}
	for _, h := range format.Heartbeats {
		if bytes.Equal(h, f.Body) {
			return Heartbeat
		}
	}
	return Event
}
