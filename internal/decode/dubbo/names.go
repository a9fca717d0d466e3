package dubbo

import (
	"hash/maphash"

	"dubbo-wire/internal/decode"
)

// recentNames is the number of names that are cached by the hash of their bytes, a power of two.
const recentNames = 1 << 10

// skim returns the names of a request whose body starts with the same bytes as one before, or nil if the lengths of its texts
// are not known at a glance. It compares all of these bytes, so the result is the same as that of reading them.
func (r *serialization) skim(d *Decoder, b []byte) *Names {
	if r.recent == nil {
		return nil
	}
	end := r.format.Skim(b, len(EnvelopeTexts))
	if end < 0 {
		return nil
	}
	at := r.place(d, b[:end])
	if n := *at; n != nil && n.raw == string(b[:end]) {
		return n
	}
	n := r.names[string(b[:end])] // others may have taken its place, which depends on the seed; the result does not
	if n != nil {
		*at = n
	}
	return n
}

// place returns the cache entry for names that were read from raw.
func (r *serialization) place(d *Decoder, raw []byte) **Names {
	return &r.recent[maphash.Bytes(d.seed, raw)&(recentNames-1)]
}

// keep caches n for skim.
func (r *serialization) keep(d *Decoder, raw []byte, n *Names) {
	if r.format.Skim == nil {
		return
	}
	if r.recent == nil {
		r.recent = make([]*Names, recentNames)
	}
	*r.place(d, raw) = n
}

// readNames reads the envelope of a request. If nothing else is needed, it skips the texts and looks up their bytes, so that
// strings are allocated once per distinct envelope.
func (b *body) readNames(detail Detail) {
	if detail > Envelope {
		b.m.Names = b.texts()
		return
	}
	FieldEnvelope.skip(b.r, b.layout)
	if b.r.Err() != nil {
		return
	}
	raw := b.f.Body[:b.r.Offset()]
	if n := b.known(raw); n != nil {
		b.serialization.keep(b.d, raw, n)
		b.m.Names = n
		return
	}
	b.r.Reset(b.f.Body, decode.Cut, nil)
	b.m.Names = b.texts()
}

// known returns the names that were read from the same bytes in the same layout, or nil.
func (b *body) known(raw []byte) *Names {
	n := b.serialization.names[string(raw)]
	if n != nil && n.Layout != layouts[b.layout].name { // the two layouts of Dubbox have bytes in common
		return nil
	}
	return n
}

// share caches n for all requests of a serialization that start with the same bytes.
func (b *body) share(n *Names) {
	raw := b.f.Body[:b.r.Offset()]
	if b.serialization.names[string(raw)] == nil && b.d.nameBytes+len(raw) < maxNameBytes {
		if b.serialization.names == nil {
			b.serialization.names = make(map[string]*Names)
		}
		n.raw, n.Hash = string(raw), uint32(maphash.Bytes(b.d.seed, raw)>>32)
		b.serialization.names[n.raw] = n
		b.serialization.keep(b.d, raw, n)
		*b.d.like(n) = n
		b.d.nameBytes += len(raw) + 256 // about what else an entry takes
	}
}

// texts reads the envelope and returns its names, nil after an error. Equal envelopes share their names.
func (b *body) texts() *Names {
	var n Names
	n.Layout = layouts[b.layout].name
	n.read(b.r, b.layout, b.serialization.format.Optimized)
	if b.r.Err() != nil {
		return nil
	}
	names := b.known(b.f.Body[:b.r.Offset()])
	if names == nil {
		names = new(Names)
		*names = n
		if names.split(*b.d.like(names)); !names.malformed {
			b.share(names)
		}
	}
	if names.malformed && b.m.Err == nil {
		b.m.Err = &decode.Error{
			Cause: decode.Malformed, At: b.r.Offset(),
			Expected: "JVM type descriptors", Found: n.Descriptor[:min(len(n.Descriptor), 64)],
		}
	}
	return names
}

// like returns the place of names that may have the same descriptor as n.
func (d *Decoder) like(n *Names) **Names {
	return &d.likes[maphash.String(d.seed, n.Descriptor)%uint64(len(d.likes))]
}

// split fills in the types of the descriptor. They are those of other names, which may be nil, if these have the same descriptor.
func (n *Names) split(other *Names) {
	switch {
	case n.Descriptor == "":
	case other != nil && other.Descriptor == n.Descriptor:
		n.Descriptor, n.Descriptors, n.Types = other.Descriptor, other.Descriptors, other.Types
	default:
		var ok bool
		n.Descriptors, ok = decode.SplitDescriptor(n.Descriptor)
		n.malformed = n.malformed || !ok
	}
	n.Generic = n.Method == "$invoke" || n.Method == "$invokeAsync"
	n.strange = n.malformed || !decode.IsRelease(n.ProtocolVersion)
	if n.malformed || n.unnumbered || n.Types != nil || len(n.Descriptors) > 0 && n.Descriptors[0] == "" {
		return
	}
	n.Types = make([]string, len(n.Descriptors))
	for i, d := range n.Descriptors {
		n.Types[i] = decode.JavaName(d)
	}
}

// certain returns the format that the header names if the start of a body shows that it is in that one, else nil: of a request of which the names
// are known that is so.
func (d *Decoder) certain(h *Header, b []byte) *decode.Format {
	named := d.formats[h.SerializationID()]
	if len(named) != 1 {
		return nil
	}
	f := named[0].format
	if h.Request() {
		return f
	}
	if h.Status != StatusOK || f.SkimKind == nil {
		return nil
	}
	if kind, _ := f.SkimKind(b); kind < 0 {
		return nil
	}
	return f
}

// NamesAt returns the names of the request whose body starts with b, if they were read before and can be found without a
// reader; else nil.
func (d *Decoder) NamesAt(h *Header, b []byte) *Names {
	for _, r := range d.formats[h.SerializationID()] {
		if n := r.skim(d, b); n != nil {
			return n
		}
	}
	return nil
}
