package scrub

import (
	"bytes"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// Body is Message for a message of which the envelope or the parts were decoded, with the whole body. It walks the body once, without a tree. It
// returns false if Message must be called, with the values of m; out is then dst.
//
// What Message would append is the same: the format answers for it that the copy has the same tree ([decode.BodyScrubber]), so that it is
// not decoded again.
func (s *Scrubber) Body(dst []byte, m *rpc.Message) (out []byte, ok bool) {
	own := s.bodyScrubber(m)
	if own == nil {
		return dst, false
	}
	out = s.Head(dst, m)
	at := len(out)
	out = append(out, m.Body...)
	if !m.Protocol.ScrubBody(out[at:], m, own, s) || makesMagic(out[at:], m) {
		return dst, false
	}
	return out, true
}

// MayBody reports whether Body may return true for m. The body then has no errors, in the serialization that m names.
func (s *Scrubber) MayBody(m *rpc.Message) bool {
	own := s.bodyScrubber(m)
	return own != nil && m.Protocol.ScrubBody(m.Body, m, own, nil)
}

// Decoded is Message for a message for which MayBody returned true, with the values that it decodes.
func (s *Scrubber) Decoded(dst []byte, m *rpc.Message) ([]byte, Result) {
	var own rpc.Decoders // Message uses those of s
	own.Formats = s.formats
	return s.Message(dst, own.Decode(m, rpc.Values))
}

// bodyScrubber returns what scrubs the body of m without a tree, nil if it needs one.
func (s *Scrubber) bodyScrubber(m *rpc.Message) decode.BodyScrubber {
	f := m.Format
	if f == nil || f.ScrubBody == nil || m.Protocol.ScrubBody == nil || m.Err != nil || m.Kind.Control() || m.HeaderFormat != nil ||
		m.Encoding != "" || !m.IsWhole() || len(m.Body) == 0 || m.SerializationID != rpc.NoSerialization && !s.onlyOne(m) {
		return nil
	}
	own := s.bodies[f]
	if own == nil {
		if s.bodies == nil {
			s.bodies = make(map[*decode.Format]decode.BodyScrubber)
		}
		own = f.ScrubBody()
		s.bodies[f] = own
	}
	return own
}

// onlyOne reports whether the number in the header decides the serialization.
func (s *Scrubber) onlyOne(m *rpc.Message) bool {
	same := 0
	for i := range s.formats {
		if int8(s.formats[i].ID) == m.SerializationID {
			same++
		}
	}
	return same == 1
}

// makesMagic reports whether a copy of the body of m has the magic of the protocol where the original does not.
func makesMagic(body []byte, m *rpc.Message) bool {
	magic := m.Protocol.Magic
	if len(magic) == 0 {
		return false
	}
	for at := 0; ; at++ {
		k := bytes.Index(body[at:], magic)
		if k < 0 {
			return false
		}
		if at += k; !bytes.HasPrefix(m.Body[at:], magic) {
			return true
		}
	}
}
