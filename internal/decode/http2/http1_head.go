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
	// firstLen is the length of the line before the header fields; version and versionLen are the place of the version in it.
	firstLen, version, versionLen int

	method   string // of a request
	upgrade  string // the protocol to which the head asks to switch, or switches, with a name of letters
	h2c      bool   // the head asks for HTTP/2, or accepts it
	settings []byte // payload of the client's SETTINGS
	// length is that of the body in bytes, if hasLength is set; -1 if it is not a number. other is set if it is told more than once, in
	// other ways.
	length           int
	hasLength, other bool
	coded, chunked   bool // the body has a transfer coding, and chunked is the last one
	untilClose       bool // the body ends with the connection
}

// maxLengthBits is the number of bits of the lengths that are believed.
const maxLengthBits = 47

// lengthError returns what is wrong about the length of the body, nil if nothing is. Ends that choose different lengths see different
// messages in what follows: that is how requests are smuggled (RFC 9112, section 11.2).
func (h *http1Head) lengthError() *decode.Error {
	switch {
	case h.hasLength && h.length < 0:
		return &decode.Error{Cause: decode.Malformed, Expected: "a Content-Length that is a number below 2^" + strconv.Itoa(maxLengthBits)}
	case h.hasLength && h.other:
		return &decode.Error{Cause: decode.Malformed, Expected: "one Content-Length", Found: "several that differ"}
	case h.hasLength && h.coded:
		return &decode.Error{Cause: decode.Malformed, Expected: "either Transfer-Encoding or Content-Length", Found: "both"}
	}
	return nil
}

// parseHTTP1 reads the lines of a head, of which the last ones may be missing. ok is false if it is not one. The head's fields are
// appended to fields, unless that is nil.
func parseHTTP1(b []byte, fields []rpc.Header) (h http1Head, ok bool) {
	h.fields = fields
	h.firstLen = bytes.IndexByte(b, '\n') + 1
	first, ok := bytes.CutSuffix(b[:h.firstLen], []byte("\n"))
	if !ok {
		return h, false
	}
	first = bytes.TrimSuffix(first, []byte("\r"))
	if bytes.HasPrefix(first, []byte(versionStart)) {
		ok = h.statusLine(first)
	} else {
		ok = h.requestLine(string(first))
	}
	for at := h.firstLen; ok && at < len(b); {
		n := bytes.IndexByte(b[at:], '\n') + 1
		if n == 0 {
			break
		}
		h.line(string(b[at:at+n]), at)
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
	h.request, h.method = true, method
	n := int32(len(method) + 1)
	if h.fields != nil {
		h.fields = append(
			h.fields,
			rpc.Header{Name: ":method", Value: method, Len: n, PlainLen: int32(len(":method") + len(method))},
			rpc.Header{Name: ":path", Value: target, Off: n, Len: int32(len(target) + 1), PlainLen: int32(len(":path") + len(target))},
		)
	}
	h.version = int(n) + len(target) + 1
	h.versionLen = h.firstLen - h.version
	return true
}

// versionStart is the start of the first line of a response.
const versionStart = "HTTP/1."

// statusLine reads the first line of a response.
func (h *http1Head) statusLine(line []byte) bool {
	if !isStatusLine(line) {
		return false
	}
	code := string(line[len(versionStart)+2:][:3])
	h.status, _ = strconv.Atoi(code)
	h.versionLen = len(versionStart) + 2
	if h.fields != nil {
		h.fields = append(h.fields, rpc.Header{
			Name: ":status", Value: code, Off: int32(h.versionLen), Len: int32(h.firstLen - h.versionLen), PlainLen: int32(len(":status") + len(code)),
		})
	}
	return true
}

// isStatusLine reports whether a line may be the first one of a response, as far as it is there.
func isStatusLine(line []byte) bool {
	const form = versionStart + "0 000 "
	for i := range min(len(line), len(form)) {
		if c := line[i]; form[i] == '0' && (c < '0' || c > '9') || form[i] != '0' && c != form[i] {
			return false
		}
	}
	return len(line) < len(form)-4 || len(line) < len(form) || line[len(form)-4] > '0'
}

// line reads the line of a header field at an offset of the head.
func (h *http1Head) line(line string, at int) {
	if k := len(h.fields) - 1; k >= 0 && (line[0] == ' ' || line[0] == '\t') && strings.Trim(line, " \t\r\n") != "" {
		h.fields[k].Len += int32(len(line)) // a folded line (RFC 9112, section 5.2)
		return
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok || !isToken(name) {
		return
	}
	name, value = strings.ToLower(name), strings.Trim(value, " \t\r\n")
	if h.fields != nil && len(h.fields) < maxFields {
		h.fields = append(h.fields, rpc.Header{Name: name, Value: value, Off: int32(at), Len: int32(len(line)), PlainLen: int32(len(name) + len(value))})
	}
	switch name {
	case "upgrade":
		for protocol := range strings.SplitSeq(value, ",") {
			h.h2c = h.h2c || strings.EqualFold(strings.TrimSpace(protocol), "h2c")
		}
		if h.upgrade = strings.ToLower(value); strings.Trim(h.upgrade, "abcdefghijklmnopqrstuvwxyz") != "" || len(h.upgrade) > len("websocket") {
			h.upgrade = "tunnel"
		}
	case "http2-settings":
		h.settings = settingsPayload(value)
	case "transfer-encoding":
		last := strings.ToLower(strings.TrimSpace(value[strings.LastIndexByte(value, ',')+1:]))
		h.chunked = last == "chunked"
		h.coded = h.coded || last != "identity"
	case "content-length":
		for text := range strings.SplitSeq(value, ",") { // equal ones may be joined (RFC 9110, section 8.6)
			length := -1
			if n, err := strconv.ParseUint(strings.TrimSpace(text), 10, maxLengthBits); err == nil {
				length = int(n)
			}
			if h.hasLength {
				h.other = h.other || length != h.length
			} else {
				h.length, h.hasLength = length, true
			}
		}
	}
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
	if bytes.HasSuffix(b, []byte("\n\r\n")) {
		end -= 2
	} else if bytes.HasSuffix(b, []byte("\n\n")) {
		end--
	}
	version := h.version + h.versionLen
	r.header(pieceLines, h.version, b[:h.version])
	r.header(pieceVersion, h.versionLen, b[h.version:version])
	r.header(pieceLines, end-version, b[version:end])
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
