package triple

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// ScrubBody implements [rpc.Protocol].ScrubBody for wrappers, where each field of data is a stream of its own, and for bodies that are one JSON text.
func ScrubBody(b []byte, m *rpc.Message, s decode.BodyScrubber, r decode.Mapper) bool {
	switch {
	case m.Exception || m.Failed || m.Operation != nil && m.Operation.Generic:
		return false
	case m.Format.Name == json:
		return s.ScrubBody(b, 1, false, r)
	case m.Protocol.PlainHTTP || !Wrapped(m) || m.Kind == rpc.Request && m.Operation == nil:
		return false
	}
	var few, fewTypes [16]field
	w := wrapper{data: few[:0], types: fewTypes[:0]}
	if !w.scan(b) || w.cut || w.end != len(b) || w.needsTree() {
		return false
	}
	if !w.staysNamed(w.name, nodeName) {
		return false
	}
	for _, f := range w.types {
		if !w.staysNamed(f, typesName(m)) {
			return false
		}
	}
	for _, f := range w.data {
		if f.from == f.to || !s.ScrubBody(b[f.from:f.to], 1, false, r) {
			return false
		}
	}
	return true
}

// staysNamed reports whether redaction keeps a field of a wrapper because it is what its name says.
func (w *wrapper) staysNamed(f field, name string) bool {
	n := decode.Node{Kind: decode.String, Label: decode.ByField, Parent: -1, Name: name, Text: string(w.b[f.from:f.to])}
	return n.NamesCall()
}
