package redact

import (
	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/decode/sniff"
)

// head is the first bytes of a stream, until it is known what they tell of its protocol: that much stays.
type head struct {
	b     []byte
	parts []headPart
	http2 bool
}

// headPart says at which sequence number bytes of a head came.
type headPart struct {
	at  int
	seq uint32
}

// from is the sequence number of the first byte that is not decided.
func (h *head) from() uint32 { return h.parts[0].seq }

// take takes the next bytes of a stream; done says that no more are needed.
func (h *head) take(r *Redactor, d *direction, b []byte, seq uint32) (done bool) {
	if len(h.b) == 0 && len(b) >= 2 && b[0] == 0xda && b[1] == 0xbb {
		return true
	}
	limit := sniff.HeadLen
	if h.http2 {
		limit = sniff.MaxHTTP2
	}
	h.parts = append(h.parts, headPart{len(h.b), seq})
	if sniff.Start(append(h.b, b[:min(len(b), max(0, limit-len(h.b)))]...)) == sniff.HTTP2 {
		h.http2, limit = true, sniff.MaxHTTP2
	}
	h.b = append(h.b, b[:min(len(b), max(0, limit-len(h.b)))]...)
	switch {
	case len(h.b) >= limit:
	case h.http2:
		if len(h.parts) < maxHeadParts && sniff.Requests(h.b) == "" {
			return false
		}
	default:
		return false
	}
	h.end(r, d)
	return true
}

// maxHeadParts bounds the pieces in which the head of HTTP/2 may come; analyze looks at as many.
const maxHeadParts = 24

// end claims what stays of the head.
func (h *head) end(r *Redactor, d *direction) {
	is := h.b
	if h.http2 {
		is = preface2(h.b)
	}
	for _, s := range kept(h.b) {
		h.claim(r, d, s, is)
	}
}

// claim claims a part of the head, in as many pieces as it came in.
func (h *head) claim(r *Redactor, d *direction, s span, is []byte) {
	for i, p := range h.parts {
		to := len(h.b)
		if i+1 < len(h.parts) {
			to = h.parts[i+1].at
		}
		if lo, hi := max(s.from, p.at), min(s.to, to); lo < hi {
			both := append(append(make([]byte, 0, 2*(hi-lo)), h.b[lo:hi]...), is[lo:hi]...)
			r.claim(d, p.seq+uint32(lo-p.at), both[:hi-lo:hi-lo], both[hi-lo:])
		}
	}
}

// kept is the parts of a head that tell a protocol.
func kept(b []byte) []span {
	short := b[:min(len(b), sniff.HeadLen)]
	switch sniff.Start(short) {
	case sniff.TLS:
		return []span{{0, 3}}
	case sniff.Thrift:
		return []span{{4, 6}}
	case sniff.HTTP2:
		return []span{{0, len(b)}}
	case sniff.HTTP1:
		for i, c := range short {
			switch {
			case c == ' ':
				return []span{{0, i + 1}}
			case c == '/': // HTTP/1.
				return []span{{0, min(i+3, len(short))}}
			}
		}
	}
	if sniff.IsTelnet(short) {
		at := 0
		for at < len(short) && short[at] <= ' ' {
			at++
		}
		for at < len(short) && short[at] > ' ' {
			at++
		}
		return []span{{0, min(at+1, len(short))}}
	}
	return nil
}

// preface2 is a client's first bytes of HTTP/2 with other headers, which tell the same of what it is used for, and with
// settings as they were. What is no header of a request and no setting is zero.
func preface2(b []byte) []byte {
	const preface, frameHead = 24, 9
	is := make([]byte, len(b))
	copy(is, b[:min(len(b), preface)])
	at := preface
	var block []span
	for len(b)-at >= frameHead {
		n, kind, flags := int(b[at])<<16|int(b[at+1])<<8|int(b[at+2]), b[at+3], b[at+4]
		copy(is[at:], b[at:at+frameHead])
		body := span{at + frameHead, min(at+frameHead+n, len(b))}
		at += frameHead + n
		if at > len(b) {
			break
		}
		switch kind {
		case 4, 8: // SETTINGS, WINDOW_UPDATE
			copy(is[body.from:body.to], b[body.from:])
		case 1, 9: // HEADERS, CONTINUATION
			if kind == 1 {
				if flags&8 != 0 && body.from < body.to { // padded
					is[body.from] = b[body.from]
					body.to -= int(b[body.from])
					body.from++
				}
				if flags&32 != 0 { // with a priority
					body.from += 5
				}
			}
			if body.from > body.to {
				return is
			}
			if block = append(block, body); flags&4 == 0 { // not its end
				continue
			}
			n := 0
			for _, s := range block {
				n += s.to - s.from
			}
			h := headers(sniff.Requests(b), n)
			for _, s := range block {
				h = h[copy(is[s.from:s.to], h):]
			}
			return is
		}
	}
	return is
}

// headers is a header block of n bytes of a request that is of that kind.
func headers(kind string, n int) []byte {
	var b []byte
	switch kind {
	case sniff.Triple:
		b = append(b, 0, 4, 't', 'r', 'i', '-', 0)
	case sniff.GRPC:
		b = append(b, 0x0f, 0x10) // content-type
		value := hpack.AppendHuffmanString(nil, "application/grpc")
		b = append(append(b, 0x80|byte(len(value))), value...)
	}
	for rest := n - len(b); rest > 0; rest = n - len(b) {
		const head = 4 // a literal, a name of one letter, the length of its value in a byte
		long := rest - head
		if long < 0 || long == 127 {
			b = append(b, 0x8f) // accept-charset, without a value
			continue
		}
		b = append(b, 0, 1, 'x')
		switch {
		case long < 127:
			b = append(b, byte(long))
		case long-1 < 127+128:
			long--
			b = append(b, 127, byte(long-127))
		default:
			long -= 2
			b = append(b, 127, 0x80|byte((long-127)&127), byte((long-127)>>7))
		}
		for i := range long {
			b = append(b, letters[(i*5+i>>4)&15])
		}
	}
	return b[:n]
}
