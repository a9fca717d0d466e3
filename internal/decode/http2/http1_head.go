package http2

import (
	"bytes"
	"net/http"
	"strconv"
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
		return h.Text()
	}
	return h.Text() + " = " + text
}

// scrubHTTP1 replaces the values in own, which is at an offset of a head: lines of header fields, or the method and the target. As
// texts in Huffman's code they get others with characters alike, so that a value is replaced by the same text in all streams of
// a connection.
func scrubHTTP1(own []byte, off int32, headers []rpc.Header, callee triple.Callee, r decode.Mapper) {
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
		at := bytes.Index(line[from:], []byte(h.Value))
		if at < 0 {
			continue
		}
		value, rest := line[from+at:from+at+len(h.Value)], line[from+at+len(h.Value):]
		triple.ScrubHeaderValue(h.Name, value, callee, alike, r)
		switch {
		case h.Name == ":status" && string(bytes.TrimSpace(rest)) == reason(h.Value):
		case h.Name == ":status", h.Name[0] != ':': // another reason, or folded lines
			scrubLine(rest)
		}
	}
	scrubLine(own[next-off:])
}

// reason returns the usual reason phrase of a status.
func reason(status string) string {
	n, _ := strconv.Atoi(status)
	return http.StatusText(n)
}

// scrubLine replaces bytes that have no meaning for the reader. Spaces and the ends of lines stay.
func scrubLine(b []byte) {
	for i, c := range b {
		if !bytes.ContainsRune([]byte("\r\n\t "), rune(c)) {
			b[i] = 'x'
		}
	}
}
