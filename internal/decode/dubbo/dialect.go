package dubbo

import "dubbo-wire/internal/decode"

// Dialects is what bodies of one connection have told of its serializations, in either direction. The zero value knows
// nothing.
type Dialects struct {
	// told is which of several formats with one id the bytes of a body told last, by id: 1 + its place in the decoder's list.
	told [32]uint8
	// foreign is which serialization wrote the bodies whose header names another one, by the header's id: 1 + its place among
	// all.
	foreign [32]uint8
	// seen is the serializations that read a body's start on this connection, a bit each.
	seen uint64
	// layout is that of the last request whose envelope was read; hasLayout is set if there is one.
	layout    Layout
	hasLayout bool
	// failed counts bodies that no serialization could be found for.
	failed uint8
}

// named returns the serialization that a frame's header names, nil if no format has its id.
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
				dialects.told[f.SerializationID()] = uint8(i + 1)
				break
			}
		}
	}
	return d.pick(formats, &f.Header, f.Body, dialects)
}

// pick chooses between formats of one id: the one that claims the start of the body, which then counts for the whole
// connection; else the one that the connection told before; else the first. A format that rejects the body is only taken if all
// do.
func (d *Decoder) pick(formats []*serialization, h *Header, b []byte, dialects *Dialects) *serialization {
	known := int(dialects.told[h.SerializationID()]) - 1
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
		dialects.told[h.SerializationID()] = uint8(best + 1)
	}
	return formats[best]
}

// wantsWhole reports whether a complete body may tell a dialect that the connection has not told yet.
func wantsWhole(formats []*serialization, dialects *Dialects) bool {
	if len(formats) < 2 || dialects.told[formats[0].format.ID&maskID] != 0 {
		return false
	}
	for _, r := range formats {
		if r.format.TellWhole != nil {
			return true
		}
	}
	return false
}
