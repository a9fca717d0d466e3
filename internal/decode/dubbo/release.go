package dubbo

import "dubbo-wire/internal/decode"

// Of the libraries of a serialization two releases may write bodies that begin and end alike, such as Kryo 4 and Kryo 2.24, which Dubbox brings.
// A body is read as that of the release of earlier bodies of its connection, else of the release that Dubbo or its fork brings. If it cannot
// be one of these, it is read as that of the other release; if that succeeds, it decides for the connection.

// setOlder makes the reader of a serialization read bodies as the older release of its library wrote them, or as the later one.
func (d *Decoder) setOlder(s *serialization, older bool) {
	if r, ok := s.r.(decode.OlderReader); ok {
		r.SetOlder(older)
	}
	d.older = older
}

// decodeAsOther reads a body that does not fit the release that it was read as in the other one. It returns m, as it was, if the
// body fits that one no better.
func (d *Decoder) decodeAsOther(m *Message, f *Frame, detail Detail, chosen *serialization, layout Layout) *Message {
	if chosen == nil {
		return m
	}
	r, ok := chosen.r.(decode.OlderReader)
	if !ok || m.Kind > Response || f.Short != decode.None || len(f.Body) < f.BodyLen || !r.MayDiffer() {
		return m
	}
	if d.dialects.older == unknownRelease && d.dialects.hasLayout && !d.dialects.isOlder(layout) {
		return m // Dubbo itself brings only one release: the classes are not those of the peers
	}
	was := d.older
	d.setOlder(chosen, !was)
	m = d.decodeOnce(f, detail, chosen, layout)
	switch err := m.Err; {
	case err == nil && chosen.r.Offset() == len(f.Body):
		d.dialects.older = laterRelease
		if d.older {
			d.dialects.older = theOlderRelease
		}
		return m
	case err != nil && chosen.classes != nil && err.Cause != decode.Malformed && !chosen.classes.Misfits(err):
		return m
	}
	d.setOlder(chosen, was)
	return d.decodeOnce(f, detail, chosen, layout)
}
