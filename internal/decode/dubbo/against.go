package dubbo

import (
	"fmt"
	"strings"
	"unicode"

	"dubbo-wire/internal/decode"
)

// bytesOf is the question which serialization a body is in, when the one that its header names could not read its start.
//
// Every serialization writes the five texts of a request and the kind of a result in a form of its own, so that few can
// read what another one wrote. Nothing is concluded from a body that more than one can read, unless the connection or the
// rest of the body tells them apart; nor from heartbeats and other events.
type bytesOf struct {
	d        *Decoder
	f        *Frame
	m        *Message // as the header's serialization read it
	header   *reading
	dialects *Dialects
}

// doubt says whether another serialization is to be looked for.
type doubt uint8

const (
	certain doubt = iota
	// inValues: the start was read, as other serializations write it, too; what follows is malformed.
	inValues
	// inStart: the start could not be read, though it is there.
	inStart
)

func (b *bytesOf) doubt() doubt {
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

// before returns the serialization that other bodies under the id of this header were in, where none of them was in the
// header's, and this one starts as those do, or is an event; else nil.
func (d *Decoder) before(f *Frame, reading *reading, dialects *Dialects) *reading {
	known := int(dialects.foreign[f.SerializationID()]) - 1
	if known < 0 || reading != nil && dialects.seen>>reading.index&1 != 0 {
		return nil
	}
	if f.Event() {
		return d.all[known] // what it writes for null is a heartbeat
	}
	if b := (bytesOf{d: d, f: f, header: reading, dialects: dialects}); !b.starts(d.all[known]) {
		return nil
	}
	return d.all[known]
}

// maxFailed is after how many bodies of a connection that nothing can read no further one is tried: damage costs no more
// than that.
const maxFailed = 64

// other returns the serialization that the bytes are in, nil where that cannot be told.
func (b *bytesOf) other(why doubt) *reading {
	if why == certain {
		return nil
	}
	id := b.f.SerializationID()
	known := int(b.dialects.foreign[id]) - 1
	// Of the first request in a serialization the connection says nothing; later ones are as it was, or damaged.
	first := b.f.Request() && (b.header == nil || b.dialects.seen>>b.header.index&1 == 0)
	var able []*reading
	seen := 0
	for _, r := range b.d.all {
		if r.format.ID&maskID == id || !b.starts(r) {
			continue
		}
		if r.index == known && why == inStart {
			return r
		}
		if b.dialects.seen>>r.index&1 != 0 {
			able = append([]*reading{r}, able...)
			seen++
		} else if why == inStart || first {
			able = append(able, r)
		}
	}
	var told *reading
	switch {
	case why == inStart && (seen == 1 || len(able) == 1 && b.f.Request()):
		told = able[0]
	default:
		// A response starts with one byte, and some serializations write requests alike: the whole body tells.
		for _, r := range able {
			if b.reads(r) {
				told = r
				break
			}
		}
		if told == nil {
			told = b.asFar(able)
		}
	}
	switch {
	case told == nil:
		b.dialects.failed++
	case why == inStart || first:
		b.dialects.foreign[id] = uint8(told.index + 1)
	}
	return told
}

// starts reports whether r reads the start of the body, and what it reads is what Dubbo writes there.
func (b *bytesOf) starts(r *reading) bool {
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
	var n Names
	n.read(in)
	_, types := decode.SplitDescriptor(n.Descriptor)
	return in.Err() == nil && types && isRelease(n.ProtocolVersion) && printable(n.Service) && printable(n.Version) &&
		n.Method != "" && printable(n.Method)
}

// reads reports whether r reads the body to its end; that is only to be known of one that is there as a whole.
func (b *bytesOf) reads(r *reading) bool {
	if len(b.f.Body) < b.f.BodyLen || r.format.Depth < decode.DepthFull {
		return false
	}
	m := b.d.decode(b.f, Values, r)
	return m.Err == nil && m.Decoded == "full" && !trails(m)
}

// asFar returns the one of several that leaves only values opaque, and none of the bytes wrong; nil if it is not one.
func (b *bytesOf) asFar(able []*reading) (one *reading) {
	if len(b.f.Body) < b.f.BodyLen || !b.f.Request() {
		return nil
	}
	for _, r := range able {
		if r.format.Depth >= decode.DepthFull {
			continue
		}
		if m := b.d.decode(b.f, Values, r); m.Err != nil && m.Err.Cause != decode.Unsupported || trails(m) {
			continue
		}
		if one != nil {
			return nil
		}
		one = r
	}
	return one
}

// decodeUnknown reads a body whose header has an id of no serialization, or the one that Dubbo leaves to its users: theirs
// may be a known one under another id. custom is the user's, nil where there is none; bytes of its are only taken for another
// serialization where that reads all of them.
func (d *Decoder) decodeUnknown(f *Frame, detail Detail, custom *reading, dialects *Dialects) *Message {
	reading := d.before(f, custom, dialects)
	id := f.SerializationID()
	if b := (bytesOf{d: d, f: f, header: custom, dialects: dialects}); reading == nil && f.Request() && !f.Event() && dialects.failed < maxFailed {
		reading = b.other(inStart)
		if reading != nil && custom != nil && !b.reads(reading) {
			reading, dialects.foreign[id] = nil, 0
			dialects.failed++
		}
	}
	if reading == nil {
		return d.decode(f, detail, custom)
	}
	m := d.decode(f, detail, reading)
	if custom != nil {
		m.HeaderFormat = custom.format
	} else {
		if d.unnamed[id] == nil {
			d.unnamed[id] = &decode.Format{ID: id, Name: fmt.Sprintf("id %d", id)}
		}
		m.HeaderFormat = d.unnamed[id]
	}
	if m.Names != nil || m.ResultKind >= 0 {
		dialects.seen |= 1 << reading.index
	}
	return m
}

// trails reports whether bytes are left behind the last field.
func trails(m *Message) bool {
	n := m.Tree.Nodes
	return len(n) > 0 && n[len(n)-1].Parent < 0 && n[len(n)-1].Name == "trailing"
}

// isRelease reports whether s is a version as Dubbo writes its own: 2.0.2, 2.5.3, 3.3.0-beta.1.
func isRelease(s string) bool {
	if len(s) < 3 || len(s) > 32 || s[0] < '0' || s[0] > '9' || !strings.Contains(s, ".") {
		return false
	}
	for _, c := range s {
		if c != '.' && c != '-' && c != '_' && !(c >= '0' && c <= '9') && !(c|0x20 >= 'a' && c|0x20 <= 'z') {
			return false
		}
	}
	return true
}

// printable reports whether s has no control characters and no broken ones.
func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return r == unicode.ReplacementChar || unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
	}) < 0
}
