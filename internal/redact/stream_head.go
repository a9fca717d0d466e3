package redact

import (
	"bytes"
	"slices"

	"dubbo-wire/internal/rpc"
)

// streamHead collects the first bytes of a stream until they tell its protocol: the bytes that tell it stay.
type streamHead struct {
	b     []byte
	parts []headPiece
}

// headPiece says at which sequence number the bytes from at on came.
type headPiece struct {
	at  int
	seq uint32
}

// from returns the sequence number of the first byte that is not decided.
func (h *streamHead) from() uint32 { return h.parts[0].seq }

// take adds the next bytes of the stream and reports whether no more are needed.
func (h *streamHead) take(r *Redactor, d *direction, b []byte, seq uint32) (done bool) {
	if len(h.b) == 0 && r.begins(b) {
		return true
	}
	h.parts = append(h.parts, headPiece{len(h.b), seq})
	h.b = append(h.b, b[:min(len(b), max(0, rpc.HeadLen-len(h.b)))]...)
	if len(h.b) < rpc.HeadLen {
		return false
	}
	h.end(r, d)
	return true
}

// begins reports whether b begins with the magic of a protocol.
func (r *Redactor) begins(b []byte) bool {
	return slices.ContainsFunc(r.opt.Protocols, func(p *rpc.Protocol) bool { return len(p.Magic) > 0 && bytes.HasPrefix(b, p.Magic) })
}

// keepHead returns which bytes of b stay, as [rpc.Protocol].KeepHead does.
func (r *Redactor) keepHead(b []byte) []rpc.Span {
	for _, p := range r.opt.Protocols {
		if p.KeepHead == nil || p.Sniff != nil && p.Fallback == nil && p.Sniff(b) != rpc.Mine {
			continue
		}
		if keep := p.KeepHead(b); keep != nil {
			return keep
		}
	}
	return nil
}

// end claims the bytes of the head that stay.
func (h *streamHead) end(r *Redactor, d *direction) {
	for _, s := range r.keepHead(h.b) {
		h.claim(r, d, span{int(s.From), int(s.To)})
	}
}

// claim claims that the bytes s of the head stay, in the pieces in which they came.
func (h *streamHead) claim(r *Redactor, d *direction, s span) {
	for i, p := range h.parts {
		to := len(h.b)
		if i+1 < len(h.parts) {
			to = h.parts[i+1].at
		}
		if lo, hi := max(s.from, p.at), min(s.to, to); lo < hi {
			own := bytes.Clone(h.b[lo:hi])
			r.claim(d, p.seq+uint32(lo-p.at), own, own, nil, nil)
		}
	}
}
