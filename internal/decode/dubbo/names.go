package dubbo

import "dubbo-wire/internal/decode"

// readNames reads the five strings at the start of a request. Where only the envelope is wanted they are walked, and
// the bytes they lie in looked up: strings are made once per distinct start of a body.
func (b *body) readNames(detail Detail) {
	if detail > Envelope {
		n := new(Names)
		b.texts(n)
		if b.r.Err() == nil {
			b.m.Names = b.share(n)
		}
		return
	}
	for range 5 {
		b.r.SkipText()
	}
	if b.r.Err() != nil {
		return
	}
	if n := b.reading.names[string(b.f.Body[:b.r.Offset()])]; n != nil {
		b.m.Names = n
		return
	}
	n := new(Names)
	b.r.Reset(b.f.Body, decode.Cut, nil)
	b.texts(n)
	if b.r.Err() == nil {
		b.m.Names = b.share(n)
	}
}

// share returns the names that stand for all requests of a serialization that start with the same bytes: n, or those that were there.
func (b *body) share(n *Names) *Names {
	raw := b.f.Body[:b.r.Offset()]
	if have := b.reading.names[string(raw)]; have != nil {
		return have
	}
	if b.d.nameBytes+len(raw) < maxNameBytes {
		if b.reading.names == nil {
			b.reading.names = make(map[string]*Names)
		}
		b.reading.names[string(raw)] = n
		b.d.nameBytes += len(raw) + 256 // about what else an entry takes
	}
	return n
}

func (b *body) texts(n *Names) {
	n.DubboVersion, _ = b.r.Text("dubboVersion")
	n.Path, n.PathNull = b.r.Text("path")
	n.Version, n.VersionNull = b.r.Text("serviceVersion")
	n.Method, _ = b.r.Text("method")
	n.Descriptor, _ = b.r.Text("parameterTypes")
	if b.r.Err() != nil {
		return
	}
	var ok bool
	n.Descriptors, ok = decode.SplitDescriptor(n.Descriptor)
	if !ok && b.m.Err == nil {
		b.m.Err = &decode.Error{
			Cause: decode.Malformed, At: b.r.Offset(),
			Expected: "JVM type descriptors", Found: n.Descriptor[:min(len(n.Descriptor), 64)],
		}
	}
	n.Types = make([]string, len(n.Descriptors))
	for i, d := range n.Descriptors {
		n.Types[i] = decode.JavaName(d)
	}
}
