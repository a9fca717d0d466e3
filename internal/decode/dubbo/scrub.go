package dubbo

import (
	"slices"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// scrubBody implements [rpc.Protocol].ScrubBody for requests in Dubbo's own layout and for results.
func scrubBody(b []byte, m *rpc.Message, s decode.BodyScrubber, r decode.Mapper) bool {
	f, values := NoField, 0
	switch {
	case m.Kind == Request && m.Operation != nil && m.Format.Skim != nil:
		o := m.Operation
		at := m.Format.Skim(b, len(EnvelopeTexts))
		if at < 0 || o.Layout != "" || o.Generic || o.Types == nil || !namesCall(o) {
			return false
		}
		if slices.ContainsFunc(b[:at], func(c byte) bool { return c >= utf8.RuneSelf }) { // lengths may count something else than bytes
			return false
		}
		b, f, values = b[at:], FieldAttachments, len(o.Descriptors)
	case m.Kind == Response && m.ResultKind >= 0 && m.Format.SkimKind != nil:
		same, size := m.Format.SkimKind(b)
		kind := byte(m.ResultKind)
		if f = FieldResultKind.Next(kind); f == FieldThrowable || same != m.ResultKind {
			return false
		}
		b = b[size:]
		if f == FieldResult {
			f, values = f.Next(kind), 1
		}
	default:
		return false
	}
	return s.ScrubBody(b, values, f == FieldAttachments, r)
}

// namesCall reports whether redaction keeps all texts of an envelope: none of them is something else than it should be.
func namesCall(o *rpc.Operation) bool {
	for i, text := range [...]string{o.ProtocolVersion, o.Service, o.Version, o.Method, o.Descriptor} {
		n := decode.Node{Kind: decode.String, Label: decode.ByField, Parent: -1, Name: EnvelopeTexts[i], Text: text}
		if !n.NamesCall() {
			return false
		}
	}
	return true
}
