package scrub

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// Body is Message for a message of which the envelope was decoded, with the whole body. It walks the body once, without a tree. It
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
	if !m.Protocol.ScrubBody(out[at:], m, own, s) || !s.avoidMagicIn(out[at:], m, own) {
		return dst, false
	}
	return out, true
}

// maxAgain bounds how often Body walks a body again.
const maxAgain = 16

// avoidMagicIn changes values of a copy of the body of m again where they make the magic of the protocol, as [job.avoidMagic] does with a tree. It
// returns false if a tree is needed.
func (s *Scrubber) avoidMagicIn(body []byte, m *rpc.Message, own decode.BodyScrubber) bool {
	defer func() { s.salt = 0 }()
	left, done := maxAgain, true
	for _, try := range magicTries {
		s.salt = try
		found := eachNewMagic(body, m.Body, m.Protocol.Magic, func(at int) {
			if left--; left < 0 || !done {
				done = false
				return
			}
			part := partAgain{own, m.Body, decode.Again{From: at, To: at + len(m.Protocol.Magic), Copy: body, Mapper: s}}
			done = m.Protocol.ScrubBody(m.Body, m, &part, s)
		})
		if !found || !done {
			break
		}
	}
	return done
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

// partAgain is a BodyScrubber that replaces values of the copy of a body again, whatever part of the body it is given.
type partAgain struct {
	decode.BodyScrubber
	body  []byte
	again decode.Again
}

// ScrubBody implements [decode.BodyScrubber] for b, a part of the body. The capacity of b tells where it is.
func (p *partAgain) ScrubBody(b []byte, n int, attachments bool, _ decode.Mapper) bool {
	from := cap(p.body) - cap(b)
	if len(b) == 0 || from < 0 || from+len(b) > len(p.body) || &p.body[from] != &b[0] {
		return false
	}
	again := p.again
	again.From, again.To, again.Copy = again.From-from, again.To-from, again.Copy[from:from+len(b)]
	return p.BodyScrubber.ScrubAgain(b, n, attachments, &again)
}
