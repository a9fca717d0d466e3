// Package http2 recognises HTTP/2 connections, and among them those of gRPC and of Dubbo's Triple.
//
// Bytes of a connection come in; its name goes out, with every byte counted as owned by no message. No message is
// read. A connection owns at most MaxHead bytes of a direction, until the first request is known.
//
// Sources: RFC 9113 (the preface), RFC 7541 (HPACK), Dubbo 3 TripleHeaderEnum (headers tri-…).
package http2

import (
	"bytes"
	"io"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/rpc"
)

// Protocol is HTTP/2. The first request of a connection tells whether it is used for GRPC, or by Dubbo 3 for Triple.
var (
	Protocol = &rpc.Protocol{Name: plain, Read: "recognised", Sniff: sniff, New: open, MaxHead: MaxHead, KeepHead: keepHead}
	Triple   = &rpc.Protocol{Name: triple, Read: "recognised", Releases: "3.x", Capture: "triple-3.3.6.pcap.zst"}
	GRPC     = &rpc.Protocol{Name: grpc, Read: "recognised", Releases: "2.7.5 to 2.7.23"}
)

const (
	plain  = "http2"
	triple = "triple"
	grpc   = "grpc"
)

// MaxHead is the number of first bytes of a client's stream that are examined.
const MaxHead = 8 << 10

// fillerLetters are letters that form no words.
const fillerLetters = "qzxjvwkQZXJVWK~^"

// maxTries bounds how often the start of a stream is parsed again when it arrives in small pieces.
const maxTries = 16

// sniffLen is the number of bytes of the preface that identify it.
const sniffLen = 16

func sniff(head []byte) rpc.Verdict {
	switch {
	case bytes.HasPrefix(head, []byte(http2.ClientPreface[:sniffLen])):
		return rpc.Mine
	case strings.HasPrefix(http2.ClientPreface, string(head)):
		return rpc.More
	}
	return rpc.NotMine
}

func open(self *rpc.Protocol, _ *rpc.Env) rpc.Opener {
	return func(out rpc.Owner, _ bool) rpc.Conn {
		out.Claim(self.Name)
		return &conn{out: out}
	}
}

// conn is a connection whose bytes are counted.
type conn struct {
	out   rpc.Sink
	sides [2]struct {
		head  []byte
		tries uint8
		known bool // the use of the stream is known, or it is not the client's
	}
}

// Data implements [rpc.Conn].
func (c *conn) Data(side int, b []byte, _ *rpc.Chunk) {
	c.out.Unowned(side, int64(len(b)), "")
	s := &c.sides[side]
	if s.known {
		return
	}
	s.head = append(s.head, b[:min(len(b), MaxHead-len(s.head))]...)
	switch sniff(s.head) {
	case rpc.More:
		return
	case rpc.Mine:
		use := FirstRequest(s.head)
		if s.tries++; s.tries < maxTries && use == "" {
			return
		}
		if use != "" {
			c.out.Claim(use)
		}
	}
	s.known, s.head = true, nil
}

// Gap implements [rpc.Conn]: what follows a gap cannot be read.
func (c *conn) Gap(side int, _, _ int64, _ *rpc.Chunk) {
	c.sides[side].known, c.sides[side].head = true, nil
}

// Repeat implements [rpc.Conn].
func (c *conn) Repeat(int, rpc.Span, int64) bool { return false }

// End implements [rpc.Conn].
func (c *conn) End(int) {}

// Pending implements [rpc.Conn].
func (c *conn) Pending(int) rpc.Pending { return rpc.Pending{} }

// FirstRequest returns the use of a client's HTTP/2 stream that starts with head, by the headers of its first
// request: the name of Triple if they include one of Dubbo's own, of GRPC if the content type says so, else of
// Protocol, also if head has MaxHead bytes or cannot be parsed; "" asks for more bytes.
func FirstRequest(head []byte) string {
	const preface = http2.ClientPreface
	if len(head) < len(preface) {
		return ""
	}
	f := http2.NewFramer(io.Discard, bytes.NewReader(head[len(preface):min(len(head), MaxHead)]))
	f.SetMaxReadFrameSize(MaxHead)
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	f.MaxHeaderListSize = MaxHead
	for {
		frame, err := f.ReadFrame()
		if (err == io.EOF || err == io.ErrUnexpectedEOF) && len(head) < MaxHead {
			return ""
		}
		if err != nil {
			return plain
		}
		if headers, ok := frame.(*http2.MetaHeadersFrame); ok {
			return useOf(headers.Fields)
		}
	}
}

func useOf(headers []hpack.HeaderField) string {
	found := plain
	for _, h := range headers {
		switch {
		case strings.HasPrefix(h.Name, "tri-"):
			return triple
		case h.Name == "content-type" && strings.HasPrefix(h.Value, "application/grpc"):
			found = grpc
		}
	}
	return found
}

// keepHead keeps settings, and headers with the same use.
func keepHead(head []byte) (replacement []byte, keep []rpc.Span, more bool) {
	return keepRequest(head), []rpc.Span{{From: 0, To: int64(len(head))}}, FirstRequest(head) == ""
}

// keepRequest returns a client's first HTTP/2 bytes with other headers, which tell the same use, and with the
// original settings. All other bytes are zero.
func keepRequest(b []byte) []byte {
	const preface, frameHead = 24, 9
	replacement := make([]byte, len(b))
	copy(replacement, b[:min(len(b), preface)])
	at := preface
	var block []rpc.Span
	for len(b)-at >= frameHead {
		n, kind, flags := int(b[at])<<16|int(b[at+1])<<8|int(b[at+2]), b[at+3], b[at+4]
		copy(replacement[at:], b[at:at+frameHead])
		body := rpc.Span{From: int64(at + frameHead), To: int64(min(at+frameHead+n, len(b)))}
		at += frameHead + n
		if at > len(b) {
			break
		}
		switch kind {
		case 4, 8: // SETTINGS, WINDOW_UPDATE
			copy(replacement[body.From:body.To], b[body.From:])
		case 1, 9: // HEADERS, CONTINUATION
			if kind == 1 {
				if flags&8 != 0 && body.From < body.To { // padded
					replacement[body.From] = b[body.From]
					body.To -= int64(b[body.From])
					body.From++
				}
				if flags&32 != 0 { // with a priority
					body.From += 5
				}
			}
			if body.From > body.To {
				return replacement
			}
			if block = append(block, body); flags&4 == 0 { // more fragments follow
				continue
			}
			n := 0
			for _, s := range block {
				n += int(s.Len())
			}
			h := headerBlock(FirstRequest(b), n)
			for _, s := range block {
				h = h[copy(replacement[s.From:s.To], h):]
			}
			return replacement
		}
	}
	return replacement
}

// headerBlock returns a header block of n bytes for a request with the same use.
func headerBlock(use string, n int) []byte {
	var b []byte
	switch use {
	case triple:
		b = append(b, 0, 4, 't', 'r', 'i', '-', 0)
	case grpc:
		b = append(b, 0x0f, 0x10) // content-type
		value := hpack.AppendHuffmanString(nil, "application/grpc")
		b = append(append(b, 0x80|byte(len(value))), value...)
	}
	for rest := n - len(b); rest > 0; rest = n - len(b) {
		const head = 4 // a literal, a name of one letter, a value length of one byte
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
			b = append(b, fillerLetters[(i*5+i>>4)&15])
		}
	}
	return b[:n]
}
