// Package http1 reads the heads of HTTP/1: where they end, what they say, and where one may begin.
//
// Bytes come in; a [Head] goes out, whose texts may be kept. The connections of HTTP/1 are read by package http2, since an
// exchange is read as a stream of HTTP/2 is. The package keeps no memory and imports only rpc and decode.
//
// Source: RFC 9112; RFC 7540, section 3.2 (the switch to HTTP/2).
package http1

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/net/http2"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// MaxHead is the number of bytes of a head that are held, MaxFields the number of header fields that are listed.
const (
	MaxHead   = 64 << 10
	MaxFields = 512
)

// Head is the head of a request or a response of HTTP/1.
type Head struct {
	// Request is set for a request, which has a Method; Status is that of a response.
	Request bool
	Method  string
	Status  int
	// Fields has the method and the target of a request, or the status of a response, under their names of HTTP/2, and the header fields, each
	// with its whole line.
	Fields []rpc.Header
	// FirstLen is the length of the line before the header fields; VersionOff and VersionLen are the place of the version in it.
	FirstLen, VersionOff, VersionLen int
	// Len is the length of the head with the empty line that ends it, 0 if that is not there.
	Len int

	Upgrade  string // the protocol to which the head asks to switch, or switches, with a name of letters
	H2C      bool   // the head asks for HTTP/2, or accepts it
	Settings []byte // payload of the client's SETTINGS
	// Length is that of the body in bytes, if HasLength is set; -1 if it is not a number. Differs is set if it is told more than once, in
	// other ways.
	Length             int
	HasLength, Differs bool
	Coded, Chunked     bool // the body has a transfer coding, and chunked is the last one
	UntilClose         bool // the body ends with the connection
	// Cut is set by a reader that lost the rest of the head, with fields that may matter.
	Cut bool
	// Closes is set if the sender does not want to use the connection for another exchange (RFC 9112, section 9.3).
	Closes bool

	oldVersion, keepAlive bool // HTTP/1.0; Connection: keep-alive
}

// MaxLengthBits is the number of bits of the lengths that are believed.
const MaxLengthBits = 47

// LengthError returns what is wrong about the length of the body, nil if nothing is. Ends that choose different lengths see different
// messages in what follows: that is how requests are smuggled (RFC 9112, section 11.2).
func (h *Head) LengthError() *decode.Error {
	switch {
	case h.HasLength && h.Length < 0:
		return &decode.Error{Cause: decode.Malformed, Expected: "a Content-Length that is a number below 2^" + strconv.Itoa(MaxLengthBits)}
	case h.HasLength && h.Differs:
		return &decode.Error{Cause: decode.Malformed, Expected: "one Content-Length", Found: "several that differ"}
	case h.HasLength && h.Coded:
		return &decode.Error{Cause: decode.Malformed, Expected: "either Transfer-Encoding or Content-Length", Found: "both"}
	}
	return nil
}

// Parse reads the lines of a head up to the empty line, of which the last ones may be missing. ok is false if it is not one. The head's fields
// are appended to fields, unless that is nil. known has the lines that came before; nil: none.
func Parse(b []byte, fields []rpc.Header, known *Lines) (h Head, ok bool) {
	h.Fields = fields
	ok = h.Read(b, known)
	return h, ok
}

// Read is Parse for a head that is empty but for the list of its fields.
func (h *Head) Read(b []byte, known *Lines) (ok bool) {
	h.FirstLen = bytes.IndexByte(b, '\n') + 1
	if h.FirstLen == 0 {
		return false
	}
	first := bytes.TrimSuffix(b[:h.FirstLen-1], []byte("\r"))
	var last *line
	if bytes.HasPrefix(first, []byte(VersionStart)) {
		ok = h.statusLine(first, known)
		last = known.afterStatus()
	} else {
		last = known.request(first)
		ok = h.requestLine(last.text)
	}
	for at := h.FirstLen; ok && h.Len == 0 && at < len(b); {
		if last = known.next(last, b[at:]); last == nil {
			break
		}
		h.line(last, at)
		if at += len(last.text); last.text == "\r\n" || last.text == "\n" {
			h.Len = at
		}
	}
	h.Closes = h.Closes || h.oldVersion && !h.keepAlive
	return ok
}

// requestLine reads the first line of a request.
func (h *Head) requestLine(line string) bool {
	method, rest, _ := strings.Cut(line, " ")
	target, version, _ := strings.Cut(rest, " ")
	if !isToken(method) || target == "" || !strings.HasPrefix(version, "HTTP/1.") || strings.Contains(version, " ") {
		return false
	}
	h.Request, h.Method, h.oldVersion = true, method, version == "HTTP/1.0"
	h.add(":method", method, 0, len(method)+1)
	at := len(method) + 1
	path := target
	if scheme, rest, ok := strings.Cut(target, "://"); ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) { // RFC 9112, section 3.2.2
		authority := rest[:len(rest)-len(strings.TrimLeft(rest, authorityBytes))]
		if path = rest[len(authority):]; authority != "" && strings.HasPrefix(path, "/") {
			h.add(":scheme", scheme, at, len(scheme)+len("://"))
			at += len(scheme) + len("://")
			h.add(":authority", authority, at, len(authority))
			at += len(authority)
		} else {
			path = target
		}
	}
	h.add(":path", path, at, len(path)+1)
	h.VersionOff = at + len(path) + 1
	h.VersionLen = h.FirstLen - h.VersionOff
	return true
}

// authorityBytes are those of a host and a port.
const authorityBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]"

// add adds a field, of length bytes at an offset of the head, if fields are listed.
func (h *Head) add(name, value string, at, length int) {
	if h.Fields != nil && len(h.Fields) < MaxFields {
		h.Fields = append(h.Fields, rpc.Header{Name: name, Value: value, Off: int32(at), Len: int32(length), PlainLen: int32(len(name) + len(value))})
	}
}

// VersionStart is the start of the first line of a response.
const VersionStart = "HTTP/1."

// statusLine reads the first line of a response.
func (h *Head) statusLine(line []byte, known *Lines) bool {
	if len(line) < len(VersionStart+"0 000") || !isStatusLine(line) {
		return false
	}
	code := known.code(line[len(VersionStart)+2:][:3])
	h.Status, _ = strconv.Atoi(code)
	h.oldVersion = line[len(VersionStart)] == '0'
	h.VersionLen = len(VersionStart) + 2
	h.add(":status", code, h.VersionLen, h.FirstLen-h.VersionLen)
	return true
}

// isStatusLine reports whether a line may be the first one of a response, as far as it is there.
func isStatusLine(line []byte) bool {
	const form = VersionStart + "0 000 "
	for i := range min(len(line), len(form)) {
		if c := line[i]; form[i] == '0' && (c < '0' || c > '9') || form[i] != '0' && c != form[i] {
			return false
		}
	}
	return len(line) < len(form)-4 || len(line) < len(form) || line[len(form)-4] > '0'
}

// line reads the line of a header field at an offset of the head.
func (h *Head) line(f *line, at int) {
	if f.text[0] == ' ' || f.text[0] == '\t' {
		// A folded line (RFC 9112, section 5.2).
		if k := len(h.Fields) - 1; k >= 0 && h.Fields[k].Name[0] != ':' && int(h.Fields[k].Off+h.Fields[k].Len) == at {
			h.Fields[k].Len += int32(len(f.text))
		}
		return
	}
	if f.name == "" {
		return
	}
	h.add(f.name, f.value, at, len(f.text))
	if f.matters {
		h.look(f.name, f.value)
	}
}

// look reads a header field that tells where the message ends, or what follows it.
func (h *Head) look(name, value string) {
	switch name {
	case "connection":
		for option := range strings.SplitSeq(value, ",") {
			option = strings.TrimSpace(option)
			h.Closes = h.Closes || strings.EqualFold(option, "close")
			h.keepAlive = h.keepAlive || strings.EqualFold(option, "keep-alive")
		}
	case "upgrade":
		for protocol := range strings.SplitSeq(value, ",") {
			h.H2C = h.H2C || strings.EqualFold(strings.TrimSpace(protocol), "h2c")
		}
		if h.Upgrade = strings.ToLower(value); strings.Trim(h.Upgrade, "abcdefghijklmnopqrstuvwxyz") != "" || len(h.Upgrade) > len("websocket") {
			h.Upgrade = "tunnel"
		}
	case "http2-settings":
		h.Settings = settingsPayload(value)
	case "transfer-encoding":
		last := strings.ToLower(strings.TrimSpace(value[strings.LastIndexByte(value, ',')+1:]))
		h.Chunked = last == "chunked"
		h.Coded = h.Coded || last != "identity"
	case "content-length":
		if n, ok := digits(value); ok && !h.HasLength {
			h.Length, h.HasLength = n, true
			return
		}
		for text := range strings.SplitSeq(value, ",") { // equal ones may be joined (RFC 9110, section 8.6)
			length := -1
			if n, err := strconv.ParseUint(strings.TrimSpace(text), 10, MaxLengthBits); err == nil {
				length = int(n)
			}
			if h.HasLength {
				h.Differs = h.Differs || length != h.Length
			} else {
				h.Length, h.HasLength = length, true
			}
		}
	}
}

// digits returns the usual number: up to 14 digits.
func digits(text string) (n int, ok bool) {
	if len(text) == 0 || len(text) > 14 {
		return 0, false
	}
	for i := range len(text) {
		c := text[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = 10*n + int(c)
	}
	return n, true
}

// lineOf reads the line of a header field.
func lineOf(text string) *line {
	name, value, ok := strings.Cut(text, ":")
	if !ok || !isToken(name) {
		return &line{text: text}
	}
	f := &line{text: text, name: strings.ToLower(name), value: strings.Trim(value, " \t\r\n")}
	switch f.name {
	case "connection", "upgrade", "http2-settings", "transfer-encoding", "content-length":
		f.matters = true
	}
	return f
}

// isToken reports whether s may be the name of a header field (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; !(c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}

// settingsPayload returns the payload of SETTINGS that a header HTTP2-Settings has, nil if it has none.
func settingsPayload(value string) []byte {
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(value, "="))
	if err != nil {
		return nil
	}
	return b
}

// SettingsText returns what a header HTTP2-Settings says.
func SettingsText(value string) string {
	var list []string
	for b := settingsPayload(value); len(b) >= 6; b = b[6:] {
		list = append(list, fmt.Sprintf("%v %d", http2.SettingID(binary.BigEndian.Uint16(b)), binary.BigEndian.Uint32(b[2:])))
	}
	return strings.Join(list, ", ")
}
