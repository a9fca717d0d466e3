package triple

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/content/hessian"
	"dubbo-wire/internal/rpc"
)

// count counts the bytes of a body by class without a tree. It returns false if the reader cannot do this or if the body is
// damaged; then the body must be read into a tree.
func (b *body) count() bool {
	m := b.m
	if !b.whole || len(b.formats) == 0 || !b.formats[0].format.Counts || m.Operation != nil && m.Operation.Generic || m.Exception ||
		b.content.kind == eventStream || b.content.kind == jsonRPC || m.Kind == rpc.Request && b.isArgumentList() {
		return false
	}
	if _, err := b.charset(); err != nil {
		return false
	}
	if b.content.kind == hessianMessage {
		return b.countHessian()
	}
	s := b.formats[0]
	sum, ok := s.reader().(decode.Summer)
	if !ok {
		return false
	}
	if s.classes != nil {
		b.writtenBy(s.classes)
	}
	parts, ok := decode.PartBytes{}, true
	if w := b.wrapper; w == nil {
		parts, ok = b.countStream(s, sum, field{to: len(b.b)}, 0, "", true)
	} else {
		if w.cut || w.end != len(b.b) {
			return false
		}
		parts[decode.ClassEnvelope] = int32(w.name.to - w.name.from)
		parts[decode.ClassOverhead] = int32(w.name.from)
		for _, f := range w.types {
			parts[decode.ClassEnvelope] += int32(f.to - f.from)
			parts[decode.ClassOverhead] += int32(f.from - f.tag)
		}
		b.printField(w.name, nodeName)
		if w.typesFirst {
			b.printTypes()
		}
		for i, f := range w.data {
			one, read := b.countData(s, sum, i)
			if !read {
				return false
			}
			parts[decode.ClassOverhead] += int32(f.from - f.tag)
			for class, n := range one {
				parts[class] += n
			}
		}
		if !w.typesFirst {
			b.printTypes()
		}
	}
	total := 0
	for _, n := range parts {
		total += int(n)
	}
	if !ok || total != len(b.b) {
		return false // a tree decides
	}
	b.counted(parts)
	return true
}

// countData counts the bytes of argument i, or of the result, and prints it.
func (b *body) countData(s *serialization, sum decode.Summer, i int) (parts decode.PartBytes, ok bool) {
	f, typ := b.wrapper.data[i], b.resultType()
	path := overheadPath
	if b.m.Kind == rpc.Request {
		typ, path = b.argumentType(i), "args."+overheadPath
	}
	if p := b.printed; p != nil {
		if p.Printing == decode.PrintParts {
			p.Parts = decode.AppendPart(append(p.Parts, ','), path, f.from-f.tag)
		}
		if b.m.Kind == rpc.Request {
			p.Separate(i)
		}
	}
	return b.countStream(s, sum, f, i, typ, false)
}

// counted sets what the body has of each class.
func (b *body) counted(parts decode.PartBytes) {
	if b.m.Parts = parts; b.m.Encoding != "" {
		b.m.Parts = b.m.BodyParts()
	}
}

// countHessian is count for a message of Hessian.
func (b *body) countHessian() bool {
	v := b.d.hessianValues()
	if v == nil || hessian.Read(v, b.b, decode.Malformed, nil) != len(b.b) || problem(v, 0) != nil {
		return false
	}
	parts, ok := v.Sum()
	if _, opaque := v.FirstOpaque(); !ok || opaque {
		return false
	}
	b.counted(parts)
	return true
}

// countStream counts the bytes of a field that is a stream of the serialization, or of a whole body. It returns false if anything is
// wrong with it.
func (b *body) countStream(s *serialization, sum decode.Summer, f field, index int, typ string, whole bool) (parts decode.PartBytes, ok bool) {
	if whole {
		b.setMethod(s.r)
	}
	s.r.Reset(b.b[f.from:f.to], decode.Malformed, nil)
	request := b.m.Kind == rpc.Request
	switch {
	case b.printed == nil:
	case whole:
		if s.r.(decode.WholePrinter).PrintWhole(b.printed); request {
			b.printed.Separate(0)
		}
	default:
		s.r.(decode.Printer).Print(b.printed)
	}
	l, name := decode.ByField, b.resultName()
	if request {
		l, name = decode.ByIndex, ""
		sum.Open(decode.List, decode.ByField, "args", 0)
	}
	if whole {
		r, ok := s.r.(decode.WholeReader)
		if !ok {
			return parts, false
		}
		r.Whole(l, name, 0)
	} else {
		s.r.Value(l, name, index, typ)
	}
	if request {
		sum.Close()
	}
	parts, ok = sum.Sum()
	if _, opaque := sum.FirstOpaque(); opaque || problem(s.r, 0) != nil || s.r.Offset() != f.to-f.from {
		return parts, false
	}
	return parts, ok
}
