package http2

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/net/http2"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/rpc"
)

// Heads of HTTP/1 (RFC 9112): the request that asks to switch to HTTP/2, and the response that accepts it.

// http1Head is the head of a request or a response of HTTP/1.
type http1Head struct {
	request bool
	status  int // of a response
	// fields has the method and the target of a request under their names of HTTP/2, and the header fields, each with its whole line.
	fields []rpc.Header
	// firstLen is the length of the line before the header fields, version the offset of the version in a request.
	firstLen, version int

	h2c      bool   // the head asks for HTTP/2, or accepts it
	settings []byte // payload of the client's SETTINGS
	length   int    // of the body, in bytes
	chunked  bool
}

// parseHTTP1 reads the lines of a head, of which the last ones may be missing. ok is false if it is not one. The head's fields are
// appended to fields, unless that is nil.
func parseHTTP1(b []byte, fields []rpc.Header) (h http1Head, ok bool) {
	h.fields = fields
	h.firstLen = bytes.IndexByte(b, '\n') + 1
	first, ok := bytes.CutSuffix(b[:h.firstLen], []byte("\r\n"))
	if !ok {
		return h, false
	}
	if version, rest, _ := bytes.Cut(first, []byte(" ")); bytes.HasPrefix(version, []byte("HTTP/1.")) {
		if len(rest) < 3 {
			return h, false
		}
		status, err := strconv.ParseUint(string(rest[:3]), 10, 16)
		h.status = int(status)
		ok = err == nil
	} else {
		ok = h.requestLine(string(first))
	}
	for at := h.firstLen; ok && at < len(b); {
		n := bytes.IndexByte(b[at:], '\n') + 1
		if n == 0 {
			break
		}
		ok = h.line(string(b[at:at+n]), at)
		at += n
	}
	return h, ok
}

// requestLine reads the first line of a request.
func (h *http1Head) requestLine(line string) bool {
	method, rest, _ := strings.Cut(line, " ")
	target, version, _ := strings.Cut(rest, " ")
	if !isToken(method) || target == "" || !strings.HasPrefix(version, "HTTP/1.") || strings.Contains(version, " ") {
		return false
	}
	h.request = true
	n := int32(len(method) + 1)
	if h.fields != nil {
		h.fields = append(
			h.fields,
			rpc.Header{Name: ":method", Value: method, Len: n, PlainLen: int32(len(":method") + len(method))},
			rpc.Header{Name: ":path", Value: target, Off: n, Len: int32(len(target) + 1), PlainLen: int32(len(":path") + len(target))},
		)
	}
	h.version = int(n) + len(target) + 1
	return true
}

// line reads the line of a header field at an offset of the head. It returns false if the length of the body is not known.
func (h *http1Head) line(line string, at int) bool {
	name, value, ok := strings.Cut(line, ":")
	if !ok || !isToken(name) {
		return true
	}
	name, value = strings.ToLower(name), strings.Trim(value, " \t\r\n")
	if h.fields != nil && len(h.fields) < maxFields {
		h.fields = append(h.fields, rpc.Header{Name: name, Value: value, Off: int32(at), Len: int32(len(line)), PlainLen: int32(len(name) + len(value))})
	}
	switch name {
	case "upgrade":
		for _, protocol := range strings.Split(value, ",") {
			h.h2c = h.h2c || strings.EqualFold(strings.TrimSpace(protocol), "h2c")
		}
	case "http2-settings":
		h.settings = settingsPayload(value)
	case "transfer-encoding":
		h.chunked = true
	case "content-length":
		n, err := strconv.ParseUint(value, 10, 62)
		h.length = int(n)
		return err == nil
	}
	return true
}

// isToken reports whether s may be the name of a header field (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	return s != "" && strings.IndexFunc(s, func(c rune) bool {
		return !(c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", c))
	}) < 0
}

// settingsPayload returns the payload of SETTINGS that a header HTTP2-Settings has, nil if it has none.
func settingsPayload(value string) []byte {
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(value, "="))
	if err != nil {
		return nil
	}
	return b
}

// settingsText returns what a header HTTP2-Settings says.
func settingsText(value string) string {
	var list []string
	for b := settingsPayload(value); len(b) >= 6; b = b[6:] {
		list = append(list, fmt.Sprintf("%v %d", http2.SettingID(binary.BigEndian.Uint16(b)), binary.BigEndian.Uint32(b[2:])))
	}
	return strings.Join(list, ", ")
}

// http1Head adds the bytes of a head to the row's.
func (r *row) http1Head(h *http1Head, b []byte) {
	end := len(b)
	if bytes.HasSuffix(b, []byte("\r\n\r\n")) {
		end -= 2
	}
	r.header(pieceLines, h.version, b[:h.version])
	r.header(pieceVersion, h.firstLen-h.version, b[h.version:h.firstLen])
	r.header(pieceLines, end-h.firstLen, b[h.firstLen:end])
	r.header(pieceEnd, len(b)-end, b[end:])
}

// http1Value returns the value of a header of HTTP/1, and what it means if it is coded.
func http1Value(h *rpc.Header) string {
	text := triple.HeaderText(h)
	if h.Name == "http2-settings" {
		text = settingsText(h.Value)
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
