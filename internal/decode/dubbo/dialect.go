package dubbo

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// Dialects is what the bodies of a connection, in both directions, have shown about its serializations. The zero value is
// ready.
type Dialects struct {
	// told is the format that a body last identified among those with the same id, two bits for each id: 1 + its index in
	// the decoder's list.
	told uint64
	// foreign is the serialization of bodies whose header names another one, by the header's id: 1 + its index in
	// Decoder.all. It is nil if there is none, and replaced when it changes, as copies of Dialects share it.
	foreign *[32]uint8
	// seen has a bit for each serialization that has read the start of a body of this connection.
	seen uint64
	// layout is that of the last request whose envelope was read; hasLayout is set if there is one.
	layout    Layout
	hasLayout bool
	// peer is what the connection knows about the body that is decoded.
	peer    peer
	numbers decode.Numbers
	orders  decode.FieldOrders
	refuted bool // the list of registered classes is not the peers'
	// older says whether an older release of the library writes the bodies of an [decode.OlderReader].
	older    olderRelease
	searched searches
	// failed counts bodies without a matching serialization.
	failed uint8
}

// olderRelease is what a connection knows about the release of the library of an [decode.OlderReader].
type olderRelease uint8

const (
	unknownRelease olderRelease = iota // that of Dubbo, or of the fork whose layout the requests have
	laterRelease
	theOlderRelease
)

// isOlder reports whether bodies are read as those of the older release first. layout is that of the requests.
func (d *Dialects) isOlder(layout Layout) bool {
	if d.older == unknownRelease {
		return layout == LayoutDubbox || layout == LayoutOlderDubbox
	}
	return d.older == theOlderRelease
}

// peer is who wrote a body, and for whom.
type peer struct {
	// callback: the request was sent to the client of the connection, or the response by it.
	callback bool
	// request is the request that a response answers, nil if that is not known or not needed.
	request *rpc.Operation
}

// Answer says that the response that is decoded next answers a request, which may be nil.
func (d *Dialects) Answer(request *rpc.Operation) { d.peer.request = request }

// writer returns who wrote the body of a frame.
func (p *peer) writer(f *Frame) decode.Side {
	if f.Request() != p.callback {
		return decode.Consumer
	}
	return decode.Provider
}

// maxTold is the number of formats with one id that Dialects can tell apart.
const maxTold = 3

// toldFor returns the index of the format that a body identified among those with that id, -1 if none did.
func (d *Dialects) toldFor(id uint8) int { return int(d.told>>(2*id)&3) - 1 }

func (d *Dialects) setTold(id uint8, index int) {
	d.told = d.told&^(3<<(2*id)) | uint64(index+1)<<(2*id)
}

// foreignFor returns the index in Decoder.all of the serialization of bodies whose header has that id, -1 if it is the one
// of the header.
func (d *Dialects) foreignFor(id uint8) int {
	if d.foreign == nil {
		return -1
	}
	return int(d.foreign[id]) - 1
}

func (d *Dialects) setForeign(id uint8, index int) {
	var changed [32]uint8
	if d.foreign != nil {
		changed = *d.foreign
	}
	changed[id] = uint8(index + 1)
	d.foreign = &changed
}

// named returns the serialization in the header of a frame, nil if no format has that id.
func (d *Decoder) named(f *Frame, dialects *Dialects) *serialization {
	formats := d.formats[f.SerializationID()]
	switch len(formats) {
	case 0:
		return nil
	case 1:
		return formats[0]
	}
	if len(f.Body) == f.BodyLen && wantsWhole(formats, dialects) {
		k := bodyKind(&f.Header)
		for i, r := range formats {
			if r.format.TellWhole != nil && r.format.TellWhole(f.Body, k) == decode.Own {
				dialects.setTold(f.SerializationID(), i)
				break
			}
		}
	}
	return d.pick(formats, &f.Header, f.Body, dialects)
}

// pick chooses between formats with the same id: the one that claims the start of the body, and is then used for the whole
// connection; else the one that the connection identified before; else the first. It takes a format that rejects the body only
// if all do.
func (d *Decoder) pick(formats []*serialization, h *Header, b []byte, dialects *Dialects) *serialization {
	known := dialects.toldFor(h.SerializationID())
	if len(formats) == 1 {
		return formats[0]
	}
	k := bodyKind(h)
	best, verdict := -1, decode.Foreign-1
	for i, r := range formats {
		v := decode.Unsure
		if r.format.Tell != nil {
			v = r.format.Tell(b, k)
		}
		if v > verdict || v == verdict && i == known {
			best, verdict = i, v
		}
	}
	if verdict == decode.Own {
		dialects.setTold(h.SerializationID(), best)
	}
	return formats[best]
}

// wantsWhole reports whether a complete body may identify a dialect that the connection has not identified yet.
func wantsWhole(formats []*serialization, dialects *Dialects) bool {
	if len(formats) < 2 || dialects.toldFor(formats[0].format.ID&maskID) >= 0 {
		return false
	}
	for _, r := range formats {
		if r.format.TellWhole != nil {
			return true
		}
	}
	return false
}
