package http2

import (
	"bytes"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/http1"
	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/rpc"
)

// http1Head adds the bytes of a head to the row's.
func (r *row) http1Head(h *http1.Head, b []byte) {
	end := len(b)
	if bytes.HasSuffix(b, []byte("\n\r\n")) {
		end -= 2
	} else if bytes.HasSuffix(b, []byte("\n\n")) {
		end--
	}
	version := h.VersionOff + h.VersionLen
	r.header(pieceLines, h.VersionOff, b[:h.VersionOff])
	r.header(pieceVersion, h.VersionLen, b[h.VersionOff:version])
	r.header(pieceLines, end-version, b[version:end])
	r.header(pieceEnd, len(b)-end, b[end:])
}

// http1Value returns the value of a header of HTTP/1, and what it means if it is coded.
func http1Value(h *rpc.Header) string {
	text := triple.HeaderText(h)
	if h.Name == "http2-settings" {
		text = http1.SettingsText(h.Value)
	}
	if text == "" {
		return h.Value
	}
	return h.Value + " = " + text
}

// scrubHTTP1 replaces the values in own, which is at an offset of a head: lines of header fields, or the method and the target. As
// texts in Huffman's code they get others with characters alike, so that a value is replaced by the same text in all streams of
// a connection. plain is as in [triple.ScrubHeaderValue].
func scrubHTTP1(own []byte, off int32, headers []rpc.Header, plain bool, r decode.Mapper) {
	end := off + int32(len(own))
	next := off
	for i := range headers {
		h := &headers[i]
		if h.Off < next || h.Off+h.Len > end {
			continue
		}
		scrubLine(own[next-off : h.Off-off])
		next = h.Off + h.Len
		line := own[h.Off-off : next-off]
		from := 0
		if !strings.HasPrefix(h.Name, ":") {
			from = bytes.IndexByte(line, ':') + 1
		}
		if at := bytes.Index(line[from:], []byte(h.Value)); at >= 0 {
			triple.ScrubHeaderValue(h.Name, line[from+at:from+at+len(h.Value)], plain, alike, r)
		}
	}
	scrubLine(own[next-off:])
}

// scrubLine replaces bytes that have no meaning for the reader. The ends of lines stay.
func scrubLine(b []byte) {
	for i, c := range b {
		if c != '\r' && c != '\n' {
			b[i] = 'x'
		}
	}
}
