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
	limit := rpc.HeadLen
	if p := r.sniff(append(h.b, b[:min(len(b), max(0, limit-len(h.b)))]...)); p != nil && p.MaxHead > 0 {
		limit = p.MaxHead
	}
	h.b = append(h.b, b[:min(len(b), max(0, limit-len(h.b)))]...)
	if len(h.b) < limit {
		if limit == rpc.HeadLen {
			return false
		}
		if _, _, more := r.keepHead(h.b); more && len(h.parts) < maxHeadParts {
			return false
		}
	}
	h.end(r, d)
	return true
}

// begins reports whether b begins with the magic of a protocol.
func (r *Redactor) begins(b []byte) bool {
	return slices.ContainsFunc(r.opt.Protocols, func(p *rpc.Protocol) bool { return len(p.Magic) > 0 && bytes.HasPrefix(b, p.Magic) })
}

// sniff returns the protocol that recognises the first bytes of a stream, nil if none does.
func (r *Redactor) sniff(b []byte) *rpc.Protocol {
	b = b[:min(len(b), rpc.HeadLen)]
	for _, p := range r.opt.Protocols {
		if p.Sniff != nil && p.Sniff(b) == rpc.Mine {
			return p
		}
	}
	return nil
}

// keepHead returns which bytes of b stay, and their replacements, as [rpc.Protocol].KeepHead does.
func (r *Redactor) keepHead(b []byte) (replacement []byte, keep []rpc.Span, more bool) {
	for _, p := range r.opt.Protocols {
		if p.KeepHead == nil || p.Sniff != nil && p.Sniff(b[:min(len(b), rpc.HeadLen)]) != rpc.Mine {
			continue
		}
		head := b
		if p.MaxHead == 0 {
			head = b[:min(len(b), rpc.HeadLen)]
		}
		if replacement, keep, more = p.KeepHead(head); keep != nil {
			return replacement, keep, more
		}
	}
	return nil, nil, false
}

// maxHeadParts bounds the pieces in which a head may come; analyze looks at as many.
const maxHeadParts = 24

// end claims the bytes of the head that stay.
func (h *streamHead) end(r *Redactor, d *direction) {
	replacement, keep, _ := r.keepHead(h.b)
	for _, s := range keep {
		h.claim(r, d, span{int(s.From), int(s.To)}, replacement)
	}
}

// claim claims the bytes s of the head, in the pieces in which they came.
func (h *streamHead) claim(r *Redactor, d *direction, s span, replacement []byte) {
	for i, p := range h.parts {
		to := len(h.b)
		if i+1 < len(h.parts) {
			to = h.parts[i+1].at
		}
		if lo, hi := max(s.from, p.at), min(s.to, to); lo < hi {
			both := append(append(make([]byte, 0, 2*(hi-lo)), h.b[lo:hi]...), replacement[lo:hi]...)
			r.claim(d, p.seq+uint32(lo-p.at), both[:hi-lo:hi-lo], both[hi-lo:])
		}
	}
}
