package dubbo

import "dubbo-wire/internal/decode"

// Dialects is what the bodies of a connection, in both directions, have shown about its serializations. The zero value is
// ready.
type Dialects struct {
	// told is the format that a body last identified among those with the same id, by id: 1 + its index in the decoder's list.
	told [32]uint8
	// foreign is the serialization of bodies whose header names another one, by the header's id: 1 + its index in
	// Decoder.all.
	foreign [32]uint8
	// seen has a bit for each serialization that has read the start of a body of this connection.
	seen uint64
	// layout is that of the last request whose envelope was read; hasLayout is set if there is one.
	layout    Layout
	hasLayout bool
	// failed counts bodies without a matching serialization.
	failed uint8
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
				dialects.told[f.SerializationID()] = uint8(i + 1)
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

// wantsWhole reports whether a complete body may identify a dialect that the connection has not identified yet.
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
