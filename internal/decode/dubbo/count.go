package dubbo

import "dubbo-wire/internal/decode"

// count counts the bytes of a body by class without a tree. It returns false if the reader cannot do this or if the body is
// damaged; then the counts are invalid, and the body must be read into a tree. The calls of the reader are the same as with a
// tree.
func (b *body) count() bool {
	s, ok := b.r.(decode.Summer)
	if !ok || !b.m.Format.Counts {
		return false
	}
	m := b.m
	for f := b.f.firstField(); f != NoField; f = f.Next(byte(m.ResultKind)) {
		switch f {
		case FieldEnvelope:
			n := b.countedNames(s)
			if n == nil || n.malformed || n.unnumbered || n.Generic || b.layout == LayoutUnknown {
				return false
			}
			m.Names = n
		case FieldArguments:
			s.Open(decode.List, decode.ByField, "args", 0)
			for i, typ := range m.Names.Descriptors {
				b.r.Value(decode.ByIndex, "", i, typ)
			}
			s.Close()
		case FieldResultKind:
			if !b.resultKind() {
				return false
			}
		case FieldThrowable, FieldResult:
			b.result(f)
		case FieldAttachments:
			m.attachmentsAt = b.r.Offset()
			b.r.Attachments()
		case FieldErrorText:
			b.r.Text("errorMessage")
		}
	}
	if m.Parts, ok = s.Sum(); !ok {
		return false
	}
	if f, ok := b.r.(decode.Faulter); ok && f.Fault() != nil {
		m.Err = f.Fault()
	} else if at, ok := s.FirstOpaque(); ok {
		if b.serialization.classes != nil {
			return false // whether the classes fit is told with a tree
		}
		m.Err = decode.NotDecoded(at)
	}
	rest := len(b.f.Body) - b.r.Offset()
	if rest > 0 && m.Err != nil {
		return false // their class depends on the error
	}
	m.Parts[decode.ClassOverhead] += int32(rest) // after the last field
	total := 0
	for _, n := range m.Parts {
		total += int(n)
	}
	return total == len(b.f.Body) // otherwise the reader is wrong, and a tree decides
}

// countedNames reads the envelope. The classes of its bytes are known from the first request with the same bytes.
func (b *body) countedNames(s decode.Summer) *Names {
	if n := b.serialization.skim(b.d, b.f.Body); n != nil && n.counted {
		s.Resume(len(n.raw))
		s.SetSum(n.parts)
		return n
	}
	FieldEnvelope.skip(b.r, b.layout)
	if b.r.Err() != nil {
		return nil
	}
	raw := b.f.Body[:b.r.Offset()]
	n := b.known(raw)
	if n == nil || !n.counted {
		b.r.Reset(b.f.Body, decode.Malformed, nil)
		if n = b.texts(); n == nil {
			return nil
		}
		n.parts, n.counted = s.Sum()
	}
	b.serialization.keep(b.d, raw, n)
	s.SetSum(n.parts)
	return n
}
