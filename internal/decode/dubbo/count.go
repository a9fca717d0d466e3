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
	m, p := b.m, b.printed
	for f := b.f.firstField(); f != NoField; f = f.Next(byte(m.ResultKind)) {
		switch f {
		case FieldEnvelope:
			n := b.countedNames(s)
			if n == nil || n.malformed || n.unnumbered || n.Generic && p != nil || b.layout == LayoutUnknown {
				return false
			}
			m.Names = n
			if p != nil && !(b.print() && b.printNames(n)) {
				return false
			}
		case FieldArguments:
			s.Open(decode.List, decode.ByField, "args", 0)
			for i, typ := range m.Names.Descriptors {
				if p != nil {
					p.Separate(i)
				}
				b.r.Value(decode.ByIndex, "", i, typ)
			}
			s.Close()
			if p != nil {
				p.EndList(len(m.Names.Descriptors))
			}
		case FieldResultKind:
			if !b.resultKind() || p != nil && !b.print() {
				return false
			}
			if p != nil && p.Printing == decode.PrintParts {
				if hasOverhead(b.r) {
					return false
				}
				p.Parts = decode.AppendPart(append(p.Parts, ','), "flag", b.r.Offset())
			}
		case FieldThrowable, FieldResult:
			b.result(f)
		case FieldAttachments:
			m.attachmentsAt = b.r.Offset()
			b.r.Attachments()
			if p != nil && m.Kind == Request {
				m.Group = p.Group
			}
		case FieldErrorText:
			if p != nil {
				return false
			}
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
	if p != nil && (rest > 0 || m.Err != nil) {
		return false
	}
	m.Parts[decode.ClassOverhead] += int32(rest) // after the last field
	total := 0
	for _, n := range m.Parts {
		total += int(n)
	}
	if total != len(b.f.Body) { // the reader is wrong, and a tree decides
		return false
	}
	if p != nil {
		if m.ResultKind == 2 || m.ResultKind == 5 {
			p.Values = append(p.Values, "null"...)
		}
		if len(p.Attachments) == 0 {
			p.Attachments = append(p.Attachments, "{}"...)
		}
		m.Printed, m.Decoded = p, "full"
	}
	return true
}

// print makes the reader print what follows, and reports whether it can.
func (b *body) print() bool {
	printer, ok := b.r.(decode.Printer)
	if !ok || b.layout != LayoutDubbo || b.m.isException() {
		return false
	}
	b.printed.Reset()
	printer.Print(b.printed)
	return true
}

// printNames prints the parts of the envelope and reports whether it could.
func (b *body) printNames(n *Names) bool {
	if b.printed.Printing != decode.PrintParts {
		return true
	}
	if n.parts.printed == nil {
		var list []byte
		from := 0
		r := b.m.Format.New()
		r.Reset(b.f.Body, decode.Malformed, nil)
		for _, name := range EnvelopeTexts {
			r.Text(name)
			to := r.Offset()
			if r.Err() != nil || hasOverhead(r) {
				return false
			}
			list = decode.AppendPart(append(list, ','), name, to-from)
			from = to
		}
		if from != len(n.raw) {
			return false
		}
		n.parts.printed = list
		b.d.nameBytes += len(list)
	}
	b.printed.Parts = append(b.printed.Parts, n.parts.printed...)
	return true
}

// hasOverhead reports whether what was read without a tree has bytes besides those of fields.
func hasOverhead(r decode.Reader) bool {
	sum, ok := r.(decode.Summer).Sum()
	return !ok || sum[decode.ClassOverhead] > 0
}

// countedNames reads the envelope. The classes of its bytes are known from the first request with the same bytes.
func (b *body) countedNames(s decode.Summer) *Names {
	if n := b.serialization.skim(b.d, b.f.Body); n != nil && n.parts != nil {
		s.Resume(len(n.raw))
		s.SetSum(n.parts.bytes)
		return n
	}
	FieldEnvelope.skip(b.r, b.layout)
	if b.r.Err() != nil {
		return nil
	}
	raw := b.f.Body[:b.r.Offset()]
	n := b.known(raw)
	if n == nil || n.parts == nil {
		b.r.Reset(b.f.Body, decode.Malformed, nil)
		if n = b.texts(); n == nil {
			return nil
		}
		sum, ok := s.Sum()
		if !ok {
			return nil
		}
		n.parts = &nameParts{bytes: sum}
	}
	b.serialization.keep(b.d, raw, n)
	s.SetSum(n.parts.bytes)
	return n
}
