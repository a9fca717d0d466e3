package rpc

import (
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/content/form"
)

// Content returns the body without its compression: the bytes that offsets in Tree count in.
func (m *Message) Content() []byte {
	if m.Plain != nil {
		return m.Plain
	}
	return m.Body
}

// BodyParts returns the captured bytes of the body by class, for a body that was decoded. Those of a compressed body have one class.
func (m *Message) BodyParts() (sum decode.PartBytes) {
	if m.Encoding != "" {
		sum[decode.ClassCompressed] = int32(m.Captured)
		return sum
	}
	return m.Tree.Bytes()
}

// AppendPaths appends the bytes of the decoded body by path to dst, as [decode.Anatomist.Append] does. A compressed body has one path.
func (m *Message) AppendPaths(dst []decode.PathBytes, a *decode.Anatomist) []decode.PathBytes {
	if m.Encoding != "" {
		return append(dst, decode.PathBytes{Path: decode.CompressedPath, Class: decode.ClassCompressed, Bytes: int64(m.BodyLen)})
	}
	return a.Append(dst, m.Tree)
}

// AppendFields appends how the fields of the decoded body are used, as [decode.Anatomist.Fields] does, and false if it was not read to its end or is
// compressed.
func (m *Message) AppendFields(dst []decode.FieldUse, a *decode.Anatomist) ([]decode.FieldUse, bool) {
	if m.Encoding != "" || !m.Complete || m.Err != nil && m.Err.Misfit != nil && !m.Err.Misfit.NotDeclared {
		return dst, false
	}
	list, ok := a.Fields(dst, m.Tree)
	if !ok {
		return dst, false
	}
	return list, true
}

// Attachment returns the text of a string attachment, and false if it is not a string or was not read.
func (m *Message) Attachment(key string) (string, bool) {
	for i := len(m.Headers) - 1; i >= 0; i-- {
		if h := &m.Headers[i]; h.Key == key && key != "" && !h.Unknown {
			return h.Text(), true
		}
	}
	i := m.find("attachments")
	if i < 0 {
		return "", false
	}
	t := m.Tree
	for c := i + 1; c < int(t.Nodes[i].End); c = int(t.Nodes[c].End) {
		if n := &t.Nodes[c]; n.Label == decode.ByEntry && n.Name == key {
			return n.String(), n.Kind == decode.String
		}
	}
	return "", false
}

// AttachmentTexts returns the string attachments.
func (m *Message) AttachmentTexts() map[string]string {
	i := m.find("attachments")
	if i < 0 && len(m.Headers) == 0 {
		return nil
	}
	texts := make(map[string]string)
	for k := range m.Headers {
		if h := &m.Headers[k]; h.Key != "" && !h.Unknown {
			texts[h.Key] = h.Text()
		}
	}
	if i < 0 {
		return texts
	}
	t := m.Tree
	for c := i + 1; c < int(t.Nodes[i].End); c = int(t.Nodes[c].End) {
		if n := &t.Nodes[c]; n.Label == decode.ByEntry && n.Kind == decode.String {
			texts[n.Name] = n.String()
		}
	}
	return texts
}

// Attachments calls f for each attachment in the body in wire order. The nodes of its value in Tree are those from value up to,
// not including, end. bytes is the number of body bytes of key and value, with everything nested in them.
func (m *Message) Attachments(f func(key string, value, end, bytes int)) {
	i := m.find("attachments")
	if i < 0 {
		return
	}
	key, t := 0, m.Tree
	for c, end := i+1, int(t.Nodes[i].End); c < end; {
		next, bytes := int(t.Nodes[c].End), 0
		for k := c; k < next; k++ {
			if n := &t.Nodes[k]; n.Kind != decode.Opaque && n.Kind != decode.Missing {
				bytes += int(n.Len)
			}
		}
		switch n := &t.Nodes[c]; n.Label {
		case decode.ByEntry:
			f(n.Name, c, next, key+bytes)
			key = 0
		case decode.ByKey, decode.ByMember: // belongs to the next entry, after an optional colon
			key += bytes
		}
		c = next
	}
}

// Timeout returns the time for which the client waits for a response according to the attachments or other headers, in milliseconds;
// 0 if they do not tell. key is the attachment that has it as a number of milliseconds, "" if it is written in another way.
func (m *Message) Timeout() (millis int64, key string) {
	a := &m.Protocol.Attachments
	rank := len(a.Timeout)
	if rank == 0 || m.Kind != Request {
		return 0, ""
	}
	for i := range m.Headers {
		h := &m.Headers[i]
		at := slices.IndexFunc(a.Timeout, func(name string) bool { return name == h.Name || name == h.Key })
		if at < 0 || at >= rank || h.Unknown {
			continue
		}
		ms, err := strconv.ParseInt(h.Value, 10, 32)
		number := err == nil && h.Key != ""
		if a.ParseTimeout != nil {
			if read, ok := a.ParseTimeout(h.Name, h.Value); ok {
				number, ms, err = number && read == ms, read, nil
			}
		}
		if err == nil && ms > 0 && ms <= math.MaxInt32 {
			millis, rank, key = ms, at, ""
			if number {
				key = h.Key
			}
		}
	}
	m.Attachments(func(name string, value, _, _ int) {
		at := slices.Index(a.Timeout, name)
		if at < 0 || at >= rank {
			return
		}
		n := &m.Tree.Nodes[value]
		if n.Kind == decode.Ref && n.Num >= 0 && n.Num < int64(len(m.Tree.Nodes)) {
			n = &m.Tree.Nodes[n.Num]
		}
		ms := n.Num
		switch n.Kind {
		case decode.String:
			var err error
			if ms, err = strconv.ParseInt(n.String(), 10, 32); err != nil {
				return
			}
		case decode.Int:
		default:
			return
		}
		if ms > 0 && ms <= math.MaxInt32 {
			millis, rank, key = ms, at, a.Timeout[at]
		}
	})
	return millis, key
}

// ArgumentNodes returns the nodes of the arguments in Tree, and false if they were not read to their end.
func (m *Message) ArgumentNodes() (from, end int, ok bool) {
	i := m.find("args")
	if i < 0 || m.Err != nil {
		return 0, 0, false
	}
	return i, int(m.Tree.Nodes[i].End), true
}

// find returns the index of the top-level node with that name, or -1.
func (m *Message) find(name string) int {
	if m.Tree == nil {
		return -1
	}
	for i := 0; i < len(m.Tree.Nodes); i = int(m.Tree.Nodes[i].End) {
		if n := &m.Tree.Nodes[i]; n.Label == decode.ByField && n.Name == name {
			return i
		}
	}
	return -1
}

// AppendArguments appends the arguments as a JSON array: those of the body, then the parameters in the query of its path as one object. If
// none of the body was read, they are one opaque value.
func (m *Message) AppendArguments(dst []byte) []byte {
	return m.appendQuery(m.appendBodyArguments(dst))
}

// appendQuery appends the parameters of the query, if there is one, to the JSON array at the end of dst. In front of a body that names the
// method a query has the settings of Dubbo's consumer, which are not arguments.
func (m *Message) appendQuery(dst []byte) []byte {
	if m.Operation != nil && m.Operation.ContentType != "" {
		return dst
	}
	for i := range m.Headers {
		text, ok := m.Headers[i].Query()
		if !ok || m.Headers[i].Trailer {
			continue
		}
		if dst = dst[:len(dst)-1]; dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		var r form.Reader
		tree := decode.Tree{WithValues: true, Redact: m.Tree != nil && m.Tree.Redact}
		r.Reset([]byte(text), decode.Malformed, &tree)
		r.Whole(decode.ByField, "query", 0)
		if err := r.Err(); err != nil {
			tree.FailValue(0, 0, err.At, len(text), decode.ByField, "query", 0)
		}
		return append(tree.AppendJSON(dst, 0), ']')
	}
	return dst
}

// Query returns the query of a path, without the question mark before it, and false if the header has none.
func (h *Header) Query() (string, bool) {
	if h.Name != ":path" || h.Unknown {
		return "", false
	}
	_, query, ok := strings.Cut(h.Value, "?")
	return query, ok
}

func (m *Message) appendBodyArguments(dst []byte) []byte {
	if m.opaqueArguments() {
		dst = append(dst, `[{"@opaque":`...)
		return append(strconv.AppendInt(dst, m.opaqueBytes(), 10), "}]"...)
	}
	dst = m.appendField(dst, "args", "[]")
	// The arguments after one without a known end lie in its opaque bytes: each is listed.
	for n := m.argumentsRead(); m.Err != nil && m.Operation != nil && n < m.Operation.Parameters(); n++ {
		dst = dst[:len(dst)-1]
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"@opaque":0}]`...)
	}
	return dst
}

// HasArguments reports whether arguments were read, or that there are none: those of a call with an unknown method, too.
func (m *Message) HasArguments() bool { return m.find("args") >= 0 }

// opaqueArguments reports whether no argument was read, though there are some, or may be.
func (m *Message) opaqueArguments() bool {
	return m.find("args") < 0 && m.Err != nil && m.Operation != nil && m.Operation.Parameters() != 0
}

// argumentsRead returns the number of arguments that were read, at least in part.
func (m *Message) argumentsRead() (n int) {
	args := m.find("args")
	if args < 0 {
		return 0
	}
	for c := args + 1; c < int(m.Tree.Nodes[args].End); c = int(m.Tree.Nodes[c].End) {
		if m.Tree.Nodes[c].Kind != decode.Overhead {
			n++
		}
	}
	return n
}

// opaqueBytes returns the number of bytes that were not decoded.
func (m *Message) opaqueBytes() (n int64) {
	if m.Tree == nil {
		return 0
	}
	for i := range m.Tree.Nodes {
		if m.Tree.Nodes[i].Kind == decode.Opaque {
			n += int64(m.Tree.Nodes[i].Len)
		}
	}
	return n
}

// AppendGenericArguments appends the arguments of the method that a generic call invokes: the elements of the third
// argument of $invoke.
func (m *Message) AppendGenericArguments(dst []byte) []byte {
	args := m.find("args")
	if args < 0 {
		return append(dst, "[]"...)
	}
	t := m.Tree
	for c := args + 1; c < int(t.Nodes[args].End); c = int(t.Nodes[c].End) {
		if n := &t.Nodes[c]; n.Label == decode.ByIndex && n.Index == 2 {
			switch n.Kind {
			case decode.List:
				return t.AppendJSON(dst, c)
			case decode.Null:
				return append(dst, "[]"...)
			}
			dst = append(dst, '[')
			return append(t.AppendJSON(dst, c), ']')
		}
	}
	return t.AppendJSON(dst, args)
}

// AppendAttachments appends the attachments as a JSON object: those of headers, with their texts, and those of the body. If the latter
// were not read, it has "@opaque": n, where n is their bytes without those that are opaque values already. redact replaces texts.
func (m *Message) AppendAttachments(dst []byte, redact bool) []byte {
	if len(m.Headers) == 0 {
		return m.appendBodyAttachments(dst)
	}
	start := len(dst)
	last := make(map[string]int, len(m.Headers)) // the last header with a key is the attachment
	for i := range m.Headers {
		last[m.Headers[i].Key] = i
	}
	dst = append(dst, '{')
	for i := range m.Headers {
		h := &m.Headers[i]
		if h.Key == "" || last[h.Key] != i {
			continue
		}
		if len(dst) > start+1 {
			dst = append(dst, ',')
		}
		dst = append(decode.AppendString(dst, h.Key), ':')
		dst = h.appendValue(dst, redact)
	}
	if m.find("attachments") >= 0 {
		header := len(dst)
		dst = m.appendBodyAttachments(dst) // an object, too
		switch {
		case len(dst) == header+len("{}"):
			dst = dst[:header]
		case header == start+1:
			return append(dst[:start], dst[header:]...)
		default:
			dst[header] = ','
			return dst
		}
	}
	return append(dst, '}')
}

// appendValue appends the value of a header as JSON.
func (h *Header) appendValue(dst []byte, redact bool) []byte {
	switch binary, ok := h.bytes(); {
	case h.Unknown:
		dst = append(dst, `{"@opaque":`...)
		return append(strconv.AppendInt(dst, int64(h.Len), 10), '}')
	case redact && ok:
		dst = append(dst, `{"@redacted":"bytes","bytes":`...)
		return append(strconv.AppendInt(dst, int64(len(binary)), 10), '}')
	case redact:
		return decode.RedactedText(dst, h.Text())
	case ok:
		dst = append(dst, `{"@bytes":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, binary)
		return append(dst, `"}`...)
	}
	return decode.AppendString(dst, h.Text())
}

// Text returns the value as a text: as UTF-8 if it is valid, else as ISO-8859-1, as which Netty reads and writes header fields.
func (h *Header) Text() string {
	if utf8.ValidString(h.Value) {
		return h.Value
	}
	return decode.Latin1([]byte(h.Value))
}

// IsSecret reports whether the value may be one of the call: only those whose names start with a colon are the protocol's own, but for
// a path with a query.
func (h *Header) IsSecret() bool {
	return !strings.HasPrefix(h.Name, ":") || h.Name == ":path" && strings.Contains(h.Value, "?")
}

// bytes returns the bytes of a binary header: its name ends with -bin, its text is base64 with or without padding.
func (h *Header) bytes() ([]byte, bool) {
	if !strings.HasSuffix(h.Name, "-bin") {
		return nil, false
	}
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(h.Value, "="))
	return b, err == nil
}

// appendBodyAttachments appends the attachments of the body as a JSON object.
func (m *Message) appendBodyAttachments(dst []byte) []byte {
	if m.Err == nil || m.find("attachments") >= 0 || m.Format != nil && m.Format.NoAttachments || m.ResultKind >= 0 && m.ResultKind < 3 {
		return m.appendField(dst, "attachments", "{}")
	}
	n := int64(0)
	for i := 0; m.Tree != nil && !m.opaqueArguments() && i < len(m.Tree.Nodes); i = int(m.Tree.Nodes[i].End) {
		if top := &m.Tree.Nodes[i]; top.Kind == decode.Opaque && top.Name != "result" {
			n += int64(top.Len)
		}
	}
	dst = append(dst, `{"@opaque":`...)
	return append(strconv.AppendInt(dst, n, 10), '}')
}

// AppendResult appends the value of a response as JSON: null if the result kind says so, opaque if it was not
// captured or not decoded.
func (m *Message) AppendResult(dst []byte) []byte {
	if m.ResultKind == 2 || m.ResultKind == 5 {
		return append(dst, "null"...)
	}
	if m.Format == nil && m.Tree != nil && m.find("result") < 0 { // nobody decodes it
		dst = append(dst, `{"@opaque":`...)
		return append(strconv.AppendInt(dst, m.opaqueBytes(), 10), '}')
	}
	return m.appendField(dst, "result", `{"@opaque":0}`)
}

func (m *Message) appendField(dst []byte, name, absent string) []byte {
	if p := m.Printed; p != nil {
		if name == "attachments" {
			return append(dst, p.Attachments...)
		}
		return append(dst, p.Values...)
	}
	if i := m.find(name); i >= 0 {
		return m.Tree.AppendJSON(dst, i)
	}
	return append(dst, absent...)
}
