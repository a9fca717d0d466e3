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
	unnamed [32]*decode.Format // formats for unknown ids, by id
	// typedResults says for which ids the request tells how its response is read.
	typedResults [32]bool
	tree         decode.Tree
	first        decode.Tree     // of the first argument of a generic call
	printed      *decode.Printed // takes what usual bodies print, which then have no tree; nil: nothing is printed
	msg          Message
	// dialects are those of the body that is decoded, and distrusted is why it is read without classes of the application, nil if it is
	// not.
	dialects   *Dialects
	distrusted *decode.Error
	// older: bodies are read as an older release of the library wrote them.
	older bool
	// nameBytes is the approximate memory of the cached names.
	nameBytes int
	// likes are cached names by the hash of their descriptors.
	likes [1 << 8]*Names
	trees int
	seed  maphash.Seed // random in each process, so that a capture cannot force collisions
}

// serialization is a format with its reader and the names that it has read.
type serialization struct {
	format *decode.Format
	index  int    // in Decoder.all
	name   string // with the dialect
	r      decode.Reader
	// classes is the same reader if it has classes of the application, else nil.
	classes decode.ClassReader
	names   map[string]*Names // by the bytes they were read from
	// recent is a cache of names, indexed by the hash of their bytes.
	recent []*Names
}

// maxNameBytes limits the memory of cached request envelopes. Beyond it, envelopes are read again each time.
const maxNameBytes = 8 << 20

// NewDecoder returns a decoder for bodies in the given serializations. If several have the same id, the bytes of a body
// choose between them; if they do not tell, the first one is used.
func NewDecoder(formats []decode.Format) *Decoder {
	d := &Decoder{seed: maphash.MakeSeed()}
	for i := range formats {
		f := &formats[i]
		r := &serialization{format: f, name: f.FullName(), index: i}
		d.typedResults[f.ID&maskID] = d.typedResults[f.ID&maskID] || f.TypedResults
		d.formats[f.ID&maskID] = append(d.formats[f.ID&maskID], r)
		if len(d.formats[f.ID&maskID]) > maxTold {
			panic("dubbo: more formats share an id than Dialects can tell apart")
		}
		d.all = append(d.all, r)
	}
	return d
}

// Print makes usual bodies print to p in place of having a tree, if all values of them are decoded. nil: none.
func (d *Decoder) Print(p *decode.Printed) { d.printed = p }

// Decode reads the body of a frame as far as detail requires. dialects is what is known about the connection; it may be nil.
// The message and its tree are valid until the next call.
//
// If the serialization in the header cannot read the start of the body and another one can, the body is read in the other
// one; see [rpc.Message.HeaderFormat].
func (d *Decoder) Decode(f *Frame, detail Detail, dialects *Dialects) *Message {
	if dialects == nil {
		dialects = new(Dialects)
	}
	d.dialects = dialects
	m := d.choose(f, detail, dialects)
	m.describe(f)
	m.Native = dialects
	return m
}

// choose reads the body of a frame in the serialization that the header names or the bytes show.
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
			m = d.decode(f, detail, chosen, dialects) // again, because the search reads bodies, too
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

// decode reads a body in a serialization, which may be nil, and in the layout of its connection if that fits.
func (d *Decoder) decode(f *Frame, detail Detail, chosen *serialization, dialects *Dialects) *Message {
	m := d.decodeIn(f, detail, chosen, dialects.layout)
	if m.Kind == Request && chosen != nil && chosen.format.Depth != decode.DepthNone {
		if m.Names != nil && !m.Names.malformed {
			dialects.hasLayout = true
		} else {
			return d.decodeForeignLayout(m, f, detail, chosen, dialects)
		}
	}
	return m
}

// decodeIn reads a body in a serialization, which may be nil, and a layout.
func (d *Decoder) decodeIn(f *Frame, detail Detail, chosen *serialization, layout Layout) (m *Message) {
	if chosen != nil && detail > Envelope {
		chosen.reader()
		d.setOlder(chosen, d.dialects.isOlder(layout))
	}
	if chosen != nil && detail > Envelope && chosen.classes != nil {
		m = d.decodeWithClasses(f, detail, chosen, layout)
	} else {
		m = d.decodeOnce(f, detail, chosen, layout)
		if detail > Envelope && (m.Err != nil && m.Err.Cause == decode.Malformed || m.Err == nil && chosen != nil && chosen.r.Offset() < len(f.Body)) {
			m = d.decodeAsOther(m, f, detail, chosen, layout)
		}
	}
	if detail == Parts && m.Names != nil && m.Names.Generic {
		b := body{m: m, f: f, d: d, r: chosen.r, serialization: chosen, layout: layout}
		b.genericMethod()
	}
	return m
}

func (d *Decoder) decodeOnce(f *Frame, detail Detail, chosen *serialization, layout Layout) *Message {
	m := &d.msg
	*m = Message{}
	m.ResultKind = -1
	if chosen != nil {
		m.Format, m.Serialization = chosen.format, chosen.name
	}
	m.Kind = kindOf(f, m.Format)
	b := body{m: m, f: f, d: d, serialization: chosen, layout: layout}
	if chosen != nil && b.readWithoutTree(detail) {
		return m
	}
	if detail > Envelope {
		d.trees++
		d.tree.Reset()
		d.tree.WithValues = detail >= Parts // some errors appear only when values are read
		m.Tree = &d.tree
	}
	short := f.Short
	if short == decode.None && len(f.Body) < f.BodyLen {
		short = decode.Limit // only the start of the body was kept
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
	}
	if detail == Parts {
		m.Tree, m.Decoded = nil, ""
	}
	return m
}

// Trees returns the number of bodies that were read into a tree.
func (d *Decoder) Trees() int { return d.trees }

// readWithoutTree reads a body without a tree, as far as detail requires. If that is not possible, it returns false and
// leaves the message as it was.
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
			m.ResultKind, _ = m.Format.SkimKind(b.f.Body)
			return m.ResultKind >= 0
		}
	case (detail == Parts || detail == Values && b.d.printed != nil) && m.Kind <= Response && len(b.f.Body) == b.f.BodyLen:
		if detail == Values {
			b.printed = b.d.printed
		}
		b.r = b.serialization.reader()
		b.r.Reset(b.f.Body, decode.Malformed, nil)
		if b.count() {
			return true
		}
		m.Names, m.ResultKind, m.Parts, m.Err, m.attachmentsAt, b.r = nil, -1, decode.PartBytes{}, nil, 0, nil
		m.Group, b.printed = "", nil
	}
	return false
}

func (r *serialization) reader() decode.Reader {
	if r.r == nil {
		r.r = r.format.New()
		r.classes, _ = r.r.(decode.ClassReader)
	}
	return r.r
}

const (
	// enough is the minimum number of bytes that are kept of a body that crosses packets. No serialization needs more for the kind of a
	// result, and the envelope of a request is seldom longer.
	enough = 256
	// afterEnvelope is how many bytes after the envelope are kept, because some readers look at what follows a value.
	afterEnvelope = 64
	// requestStart is how much of a request is read to see where its envelope ends.
	requestStart  = 512
	usuallyEnough = requestStart + afterEnvelope
)

// Enough returns how many bytes of b, the start of the body of a frame, are all that Decode needs for Envelope, so that the rest need
// not be kept, or 0 if it needs more.
func (d *Decoder) Enough(h *Header, b []byte, dialects *Dialects) int {
	formats := d.formats[h.SerializationID()]
	switch {
	case h.Event(), len(b) < enough, h.Request() && len(b) < requestStart:
		return 0
	case len(formats) == 0 && h.Request(): // only the start of the body can tell the serialization
		return requestStart
	case len(formats) > 1 && wantsWhole(formats, dialects):
		return 0
	case !h.Request():
		return enough
	}
	r := d.pick(formats, h, b, dialects).reader()
	r.Reset(b, decode.Cut, nil)
	FieldEnvelope.skip(r, dialects.layout)
	if r.Err() != nil || bytes.Contains(b[:r.Offset()], []byte("$invoke")) { // the method of a generic call is among the arguments
		return 0
	}
	return min(max(enough, r.Offset()+afterEnvelope), len(b))
}

// Readable reports whether b, a complete body, can be read from its start as the header requires: a request with the five
// texts of its envelope, a result with its kind, another response with its text.
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
	// The body may be in another serialization.
	f := Frame{Header: *h, Body: b}
	in := detector{d: d, f: &f}
	for _, r := range d.all {
		if r.format.ID&maskID != h.SerializationID() && in.startsAs(r) {
			return true
		}
	}
	return false
}

// kindOf distinguishes heartbeats from other events by their body: a heartbeat has null in its serialization, or nothing. If
// the serialization is unknown, an event that expects a response, or is one, is a heartbeat.
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
