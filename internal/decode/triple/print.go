package triple

import (
	"slices"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// overheadPath is the path of the tags and lengths of a wrapper.
const overheadPath = "#" + overhead

// print prints a body as it is counted, without a tree. It returns false if the body needs a tree.
func (b *body) print() bool {
	p, w, m := b.d.Printed, b.wrapper, b.m
	if p == nil || len(b.formats) == 0 || m.Failed || m.Kind == rpc.Request && (m.Operation == nil || hasQuery(m)) ||
		p.Printing == decode.PrintParts && m.Encoding != "" {
		return false
	}
	ok := false
	if w == nil {
		_, ok = b.formats[0].reader().(decode.WholePrinter)
		ok = ok && (m.Kind == rpc.Request || m.ResultKind >= 0)
	} else {
		_, ok = b.formats[0].reader().(decode.Printer)
		ok = ok && !w.needsTree() && (p.Printing != decode.PrintParts || !w.hasEmpty())
	}
	if !ok {
		return false
	}
	p.Reset()
	b.printed = p
	done := b.count()
	b.printed = nil
	if !done {
		return false
	}
	switch {
	case m.Kind == rpc.Request && w == nil:
		p.EndList(1)
	case m.Kind == rpc.Request:
		p.EndList(len(w.data))
	case w != nil && len(w.data) == 0:
		p.Values = append(p.Values, "null"...)
	}
	p.Attachments = append(p.Attachments, "{}"...) // they are in the headers
	m.Printed, m.Decoded = p, "full"
	return true
}

// hasQuery reports whether the path of a request has arguments, too.
func hasQuery(m *rpc.Message) bool {
	return slices.ContainsFunc(m.Headers, func(h rpc.Header) bool {
		_, ok := h.Query()
		return ok
	})
}

// needsTree reports whether a tree may not take all values of a wrapper, though that of each field would: only the tree tells.
func (w *wrapper) needsTree() bool { return len(w.data) > 1 && len(w.b) > decode.DefaultMaxNodes/2 }

// hasEmpty reports whether a field has no content. The parts around it are one.
func (w *wrapper) hasEmpty() bool {
	empty := func(f field) bool { return f.from == f.to }
	return empty(w.name) || slices.ContainsFunc(w.data, empty) || slices.ContainsFunc(w.types, empty)
}

// printField prints the parts of a field that is a text.
func (b *body) printField(f field, name string) {
	if p := b.printed; p != nil && p.Printing == decode.PrintParts {
		p.Parts = decode.AppendPart(append(p.Parts, ','), overheadPath, f.from-f.tag)
		p.Parts = decode.AppendPart(append(p.Parts, ','), name, f.to-f.from)
	}
}

// printTypes prints the parts of the fields with types.
func (b *body) printTypes() {
	for _, f := range b.wrapper.types {
		b.printField(f, typesName(b.m))
	}
}
