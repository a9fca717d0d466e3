package dubbo

import (
	"fmt"
	"strings"
	"unicode"

	"dubbo-wire/internal/decode"
)

// detector finds the serialization of a body if the one in its header cannot read its start.
//
// Every serialization has its own form of the five texts of a request and of the kind of a result, so few can read the bytes
// of another one. A body that several can read proves nothing, unless the connection or the rest of the body distinguishes
// them. Heartbeats and other events prove nothing, either.
type detector struct {
	d        *Decoder
	f        *Frame
	m        *Message       // as read in the serialization of the header
	named    *serialization // the serialization in the header
	dialects *Dialects
}

// doubt is the reason to look for another serialization.
type doubt uint8

const (
	certain doubt = iota
	// inValues: the start was read, but other serializations may write the same start; the rest is malformed.
	inValues
	// inStart: the start was captured but could not be read.
	inStart
)

func (b *detector) doubt() doubt {
	m := b.m
	if m.Format.Depth == decode.DepthNone || m.Kind > Response || len(b.f.Body) == 0 || b.dialects.failed == maxFailed {
		return certain
	}
	malformed := m.Err != nil && m.Err.Cause == decode.Malformed
	switch {
	case m.Names != nil && m.Names.strange:
		return inStart
	case m.Names != nil || m.ResultKind >= 0 || m.HasErrorText:
		if malformed && b.f.Complete() {
			return inValues
		}
		return certain
	case malformed:
		return inStart
	}
	return certain
}

// foreign returns the serialization of other bodies of the connection with the same id in their header, if it is never that of
// the header and this body starts in the same way or is an event. Otherwise it returns nil.
func (d *Decoder) foreign(f *Frame, named *serialization, dialects *Dialects) *serialization {
	known := dialects.foreignFor(f.SerializationID())
	if known < 0 || named != nil && dialects.seen>>named.index&1 != 0 {
		return nil
	}
	if f.Event() {
		return d.all[known] // its null is a heartbeat
	}
	if b := (detector{d: d, f: f, named: named, dialects: dialects}); !b.startsAs(d.all[known]) {
		return nil
	}
	return d.all[known]
}

// maxFailed is the maximum number of failed searches per connection. It limits the cost of damage.
const maxFailed = 64

// detect returns the serialization of the bytes, nil if it is ambiguous.
func (b *detector) detect(why doubt) *serialization {
	if why == certain {
		return nil
	}
	id := b.f.SerializationID()
	known := b.dialects.foreignFor(id)
	// The connection does not help with the first request in a serialization. Later ones are like it, or damaged.
	first := b.f.Request() && (b.named == nil || b.dialects.seen>>b.named.index&1 == 0)
	var able []*serialization
	seen := 0
	for _, r := range b.d.all {
		if r.format.ID&maskID == id || !b.startsAs(r) {
			continue
		}
		if r.index == known && why == inStart {
			return r
		}
		if b.dialects.seen>>r.index&1 != 0 {
			able = append([]*serialization{r}, able...)
			seen++
		} else if why == inStart || first {
			able = append(able, r)
		}
	}
	var told *serialization
	switch {
	case why == inStart && (seen == 1 || len(able) == 1 && b.f.Request()):
		told = able[0]
	default:
		// A response starts with one byte, and some serializations write the same requests, so the whole body decides.
		for _, r := range able {
			if b.readsAll(r) {
				told = r
				break
			}
		}
		if told == nil {
			told = b.onlyOpaque(able)
		}
	}
	switch {
	case told == nil:
		b.dialects.failed++
	case why == inStart || first:
		b.dialects.setForeign(id, told.index)
	}
	return told
}

// startsAs reports whether r reads the start of the body and finds what Dubbo writes there.
func (b *detector) startsAs(r *serialization) bool {
	if r.format.Depth == decode.DepthNone {
		return false
	}
	if r.format.Tell != nil && r.format.Tell(b.f.Body, bodyKind(&b.f.Header)) == decode.Foreign {
		return false
	}
	in := r.reader()
	in.Reset(b.f.Body, decode.Cut, nil)
	switch b.f.firstField() {
	case FieldResultKind:
		return in.ResultKind() <= 5 && in.Err() == nil
	case FieldErrorText:
		text, null := in.Text("errorMessage")
		return in.Err() == nil && !null && in.Offset() == len(b.f.Body) && printable(text)
	}
	return r.namesCall(b.f.Body, LayoutDubbo) || r.namesCall(b.f.Body, LayoutDubbox)
}

// namesCall reports whether the body of a request starts with an envelope in that layout and with valid texts.
func (r *serialization) namesCall(b []byte, l Layout) bool {
	if !l.writes(r) {
		return false
	}
	var n Names
	in := r.reader()
	in.Reset(b, decode.Cut, nil)
	n.read(in, l, r.format.Optimized)
	if in.Err() != nil {
		return false
	}
	n.split(nil)
	return !n.strange && printable(n.Service) && printable(n.Version) && n.Method != "" && printable(n.Method)
}

// decodeForeignLayout reads a request that does not fit the layout of its connection: in the layout that fits, or up to the
// method. If the first texts cannot be read, the result is m, that of the connection's layout.
func (d *Decoder) decodeForeignLayout(m *Message, f *Frame, detail Detail, chosen *serialization, dialects *Dialects) *Message {
	overwritten := false
	for l := LayoutDubbo; l < LayoutUnknown; l++ {
		if l == dialects.layout || !chosen.namesCall(f.Body, l) {
			continue
		}
		if d.fits(f, chosen, l) {
			dialects.layout, dialects.hasLayout = l, true
			return d.decodeIn(f, detail, chosen, l)
		}
		overwritten = true
	}
	if !chosen.namesCall(f.Body, LayoutUnknown) {
		if overwritten {
			m = d.decodeIn(f, detail, chosen, dialects.layout)
		}
		return m
	}
	// It has no names if a length in the body goes beyond its end, which namesCall allows.
	m = d.decodeIn(f, detail, chosen, LayoutUnknown)
	if dialects.hasLayout && m.Err != nil && m.Names != nil { // other requests of the connection were read, so this one is damaged
		m.Err.Cause, m.Err.Expected = decode.Malformed, "JVM type descriptors"
		names := *m.Names
		names.Layout, names.Hash = "", 0
		m.Names = &names
	}
	return m
}

// fits reports whether a request has nothing after its envelope in the layout l that contradicts it.
func (d *Decoder) fits(f *Frame, chosen *serialization, l Layout) bool {
	if len(f.Body) < f.BodyLen {
		return true
	}
	m := d.decodeIn(f, Values, chosen, l)
	return (m.Err == nil || m.Err.Cause != decode.Malformed) && !hasTrailing(m)
}

// readsAll reports whether r reads a complete body to its end.
func (b *detector) readsAll(r *serialization) bool {
	if len(b.f.Body) < b.f.BodyLen || r.format.Depth < decode.DepthFull {
		return false
	}
	m := b.d.decode(b.f, Values, r, b.dialects)
	return m.Err == nil && m.Decoded == "full" && !hasTrailing(m)
}

// onlyOpaque returns the only serialization that reads everything but opaque values, nil if none or several do.
func (b *detector) onlyOpaque(able []*serialization) (one *serialization) {
	if len(b.f.Body) < b.f.BodyLen || !b.f.Request() {
		return nil
	}
	for _, r := range able {
		if r.format.Depth >= decode.DepthFull {
			continue
		}
		if m := b.d.decode(b.f, Values, r, b.dialects); m.Err != nil && m.Err.Cause != decode.Unsupported || hasTrailing(m) {
			continue
		}
		if one != nil {
			return nil
		}
		one = r
	}
	return one
}

// decodeUnknown reads a body whose header has an unknown id, or the id that Dubbo reserves for its users. Their serialization
// may be a known one under another id. custom is the format of the reserved id, else nil; its bodies count as another
// serialization only if that one reads all of them.
func (d *Decoder) decodeUnknown(f *Frame, detail Detail, custom *serialization, dialects *Dialects) *Message {
	chosen := d.foreign(f, custom, dialects)
	id := f.SerializationID()
	if b := (detector{d: d, f: f, named: custom, dialects: dialects}); chosen == nil && f.Request() && !f.Event() && dialects.failed < maxFailed {
		chosen = b.detect(inStart)
		if chosen != nil && custom != nil && !b.readsAll(chosen) {
			chosen = nil
			dialects.setForeign(id, -1)
			dialects.failed++
		}
	}
	if chosen == nil {
		return d.decode(f, detail, custom, dialects)
	}
	m := d.decode(f, detail, chosen, dialects)
	if custom != nil {
		m.HeaderFormat = custom.format
	} else {
		if d.unnamed[id] == nil {
			d.unnamed[id] = &decode.Format{ID: id, Name: fmt.Sprintf("id %d", id)}
		}
		m.HeaderFormat = d.unnamed[id]
	}
	if m.Names != nil || m.ResultKind >= 0 {
		dialects.seen |= 1 << chosen.index
	}
	return m
}

// hasTrailing reports whether bytes are left after the last field.
func hasTrailing(m *Message) bool {
	if m.Printed != nil { // to its end
		return false
	}
	n := m.Tree.Nodes
	return len(n) > 0 && n[len(n)-1].Parent < 0 && n[len(n)-1].Name == "trailing"
}

// printable reports whether s is valid UTF-8 without control characters.
func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return r == unicode.ReplacementChar || unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
	}) < 0
}
