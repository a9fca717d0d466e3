package redact

import (
	"bytes"

	"dubbo-wire/internal/rpc"
)

// head is the first bytes of a stream, until it is known what they tell of its protocol: that much stays.
type streamHead struct {
	b     []byte
	parts []headPiece
}

// headPart says at which sequence number bytes of a head came.
type headPiece struct {
	at  int
	seq uint32
}

// from is the sequence number of the first byte that is not decided.
func (h *streamHead) from() uint32 { return h.parts[0].seq }

// take takes the next bytes of a stream; done says that no more are needed.
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

// begins reports whether b begins with what each message of a protocol begins with.
func (r *Redactor) begins(b []byte) bool {
	for _, p := range r.opt.Protocols {
		if len(p.Magic) > 0 && bytes.HasPrefix(b, p.Magic) {
			return true
		}
	}
	return false
}

// sniff returns the protocol that the first bytes of a stream tell, nil if they tell none.
func (r *Redactor) sniff(b []byte) *rpc.Protocol {
	b = b[:min(len(b), rpc.HeadLen)]
	for _, p := range r.opt.Protocols {
		if p.Sniff != nil && p.Sniff(b) == rpc.Mine {
			return p
		}
	}
	return nil
}

// keepHead says what of a head stays, and as what.
func (r *Redactor) keepHead(b []byte) (replacement []byte, keep []rpc.Span, more bool) {
	for _, p := range r.opt.Protocols {
		if p.KeepHead == nil {
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

// maxHeadParts bounds the pieces in which the head of HTTP/2 may come; analyze looks at as many.
const maxHeadParts = 24

// end claims what stays of the head.
func (h *streamHead) end(r *Redactor, d *direction) {
	replacement, keep, _ := r.keepHead(h.b)
	for _, s := range keep {
		h.claim(r, d, span{int(s.From), int(s.To)}, replacement)
	}
}

// claim claims a part of the head, in as many pieces as it came in.
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
