package http2

import (
	"bytes"
	"io"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/rpc"
)

// The uses that the headers of a first request tell.
const (
	usePlain  = "http2"
	useTriple = "triple"
	useGRPC   = "grpc"
)

// MaxHead is the number of first bytes of a client's stream that are examined.
const MaxHead = 8 << 10

// fillerLetters are letters that form no words.
const fillerLetters = "qzxjvwkQZXJVWK~^"

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
			return usePlain
		}
		if headers, ok := frame.(*http2.MetaHeadersFrame); ok {
			return useOf(headers.Fields)
		}
	}
}

func useOf(headers []hpack.HeaderField) string {
	found := usePlain
	for _, h := range headers {
		switch {
		case strings.HasPrefix(h.Name, "tri-"):
			return useTriple
		case h.Name == "content-type" && strings.HasPrefix(h.Value, "application/grpc"):
			found = useGRPC
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
	case useTriple:
		b = append(b, 0, 4, 't', 'r', 'i', '-', 0)
	case useGRPC:
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
