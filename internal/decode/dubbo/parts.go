package dubbo

import "dubbo-wire/internal/decode"

// count adds up what the bytes of a frame's body are for without a tree, where its serialization can and nothing is
// wrong with the body; else it returns false, what it counted is void, and a tree has to be made.
func (b *body) count() bool {
	s, ok := b.r.(decode.Summer)
	return ok && b.m.Format.Counts && b.sum(s)
}

// sum is count for readers that count while they walk. They are asked for the same as with a tree.
func (b *body) sum(s decode.Summer) bool {
	m, f := b.m, b.f
	switch {
	case m.Kind == Request:
		n := b.countedNames(s)
		if n == nil || n.malformed || n.Generic() {
			return false
		}
		m.Names = n
		s.Open(decode.List, decode.ByField, "args", 0)
		for i, typ := range n.Descriptors {
			b.r.Value(decode.ByIndex, "", i, typ)
		}
		s.Close()
		b.r.Attachments()
	case m.Kind == Response && f.Status == StatusOK:
		k := b.r.ResultKind()
		if b.r.Err() != nil || k > 5 {
			return false
		}
		m.ResultKind = int(k)
		switch k {
		case 0, 3:
			b.r.Throwable()
		case 1, 4:
			b.r.Value(decode.ByField, "result", 0, "")
		}
		if k >= 3 {
			b.r.Attachments()
		}
	case m.Kind == Response:
		b.r.Text("errorMessage")
	default:
		return false
	}
	var ok bool
	if m.Parts, ok = s.Sum(); !ok {
		return false
	}
	if f, ok := b.r.(decode.Faulter); ok && f.Fault() != nil {
		m.Err = f.Fault()
	} else if at, ok := s.FirstOpaque(); ok {
		m.Err = notDecoded(at)
	}
	rest := len(f.Body) - b.r.Offset()
	if rest > 0 && m.Err != nil {
		return false // what they are depends on the error
	}
	m.Parts[decode.ClassOverhead] += int32(rest) // behind the last field
	total := 0
	for _, n := range m.Parts {
		total += int(n)
	}
	return total == len(f.Body) // a reader that did not count all is at fault; its tree decides
}

// countedNames takes the texts at the start of a request. What their bytes are for is known from the first request that
// started so.
func (b *body) countedNames(s decode.Summer) *Names {
	if n := b.reading.skim(b.d, b.f.Body); n != nil && n.counted {
		s.Resume(len(n.raw))
		s.SetSum(n.parts)
		return n
	}
	for range envelopeTexts {
		b.r.SkipText()
	}
	if b.r.Err() != nil {
		return nil
	}
	raw := b.f.Body[:b.r.Offset()]
	n := b.reading.names[string(raw)]
	if n == nil || !n.counted {
		b.r.Reset(b.f.Body, decode.Malformed, nil)
		if n = b.texts(); n == nil {
			return nil
		}
		n.parts, n.counted = s.Sum()
	}
	b.reading.keep(b.d, raw, n)
	s.SetSum(n.parts)
	return n
}
