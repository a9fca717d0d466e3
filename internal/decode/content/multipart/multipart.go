// Package multipart reads bodies of several parts, each with header fields of its own: multipart/form-data, whose parts have names, and
// other kinds, whose parts have an order only. The former is a map in the tree whose keys are names; a name may come more than once. The
// latter are a list. A part with a file name is a map of "filename" and "content". What a part contains is read by its media type: a text,
// what a Reader of the [Content] reads, parts again, or bytes. Boundaries and header fields are overhead. The body is borrowed until the
// next Reset.
//
// Sources: RFC 2046, section 5.1; RFC 7578; RFC 2183 (Content-Disposition).
package multipart

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/wire"
)

// Format says how values are replaced.
var Format = decode.Format{Name: "multipart", Depth: decode.DepthFull, Scrub: scrub}

// maxNesting is how deep parts of parts are read: each level is searched for its own boundary.
const maxNesting = 4

// maxBoundary is the length of a boundary, in bytes (RFC 2046, section 5.1.1).
const maxBoundary = 70

// Keys of a part with a file name. They are not on the wire.
const (
	fileName = "filename"
	content  = "content"
)

// Whole is a reader of what a part contains.
type Whole interface {
	decode.WholeReader
	Reset(body []byte, short decode.Cause, t *decode.Tree)
	Offset() int
	Err() *decode.Error
}

// Content returns the reader for a media type with its parameters, nil if there is none. If text is not nil, what the part contains is a
// text, whose bytes it decodes.
type Content func(mediaType string) (r Whole, text func([]byte) string)

// Reader reads one body at a time.
type Reader struct {
	decode.Recorder
	// MediaType is that of the next body, with its parameters. Content returns the readers of parts; it may be nil.
	MediaType string
	Content   Content
	// Hides is set if a part of the last body has bytes that no node of the tree tells to be a value, though they may be one.
	Hides bool

	cut   bool // the capture lacks the rest of the body
	level int  // of multipart bodies within each other
}

// Reset starts a body; see [decode.Reader].
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	r.cut = r.Short != decode.Malformed
	r.level, r.Hides = 0, false
}

// Whole takes all bytes of the body and records them under the given label.
func (r *Reader) Whole(l decode.Label, name string, index int) {
	open := r.Tree.Depth()
	r.body(r.MediaType, len(r.Buf), l, name, index)
	wrong := r.Off
	r.Settle(open)
	if err := r.Err(); err != nil && wrong > err.At && wrong < len(r.Buf) {
		err.Wrong = wrong // within what was not taken
	}
}

// body takes the bytes up to offset end as a body of that media type.
func (r *Reader) body(mediaType string, end int, l decode.Label, name string, index int) {
	kind, boundary := parameters(mediaType)
	if boundary == "" || len(boundary) > maxBoundary {
		r.FailAt(r.Off, decode.Unsupported, "a boundary in the content type", strconv.Quote(boundary))
		return
	}
	if r.level >= maxNesting {
		r.FailAt(r.Off, decode.Limit, "multipart bodies nested at most "+strconv.Itoa(maxNesting)+" deep", "deeper nesting")
		return
	}
	r.level++
	defer func() { r.level-- }()
	named := strings.EqualFold(kind, "multipart/form-data")
	of := decode.List
	if named {
		of = decode.Map
	}
	d := delimiter{mark: []byte("--" + boundary)}
	if !d.find(r.Buf[:end], r.Off) {
		r.incomplete(end, "a boundary")
		return
	}
	r.Open(of, l, name, index)
	r.until(d.before, "text") // a preamble
	r.until(d.after, "boundary")
	for n := 0; r.OK() && !d.last; n++ {
		if !d.find(r.Buf[:end], r.Off) {
			r.incomplete(end, "the boundary after a part")
			break
		}
		r.part(d.before, named, n)
		r.until(d.after, "boundary")
	}
	if r.OK() {
		r.until(end, "text") // an epilogue
	}
	if r.OK() && r.cut && end == len(r.Buf) && r.level == 1 {
		r.incomplete(end, "the rest of the parts")
	}
	r.Close()
}

// incomplete fails because something is expected at or after offset end.
func (r *Reader) incomplete(end int, expected string) {
	if r.cut && end == len(r.Buf) {
		r.FailAt(end, r.Short, expected, "the end of the captured bytes")
	} else {
		r.FailAt(end, decode.Malformed, expected, "the end of the body")
	}
}

// until takes the bytes up to offset end, which have a role.
func (r *Reader) until(end int, role string) {
	if r.OK() {
		r.Off = max(r.Off, end)
		r.Role(role)
	}
}

// delimiter is a line with a boundary.
type delimiter struct {
	mark []byte // two hyphens and the boundary
	// before is the offset of the line, that of the line end before it if there is one; after is that of the next line. last is set if no
	// part follows.
	before, after int
	last          bool
}

// find finds the next delimiter in b, from offset at, which is the start of a line.
func (d *delimiter) find(b []byte, at int) bool {
	for from := at; ; {
		n := bytes.Index(b[from:], d.mark)
		if n < 0 {
			return false
		}
		start := from + n
		from = start + len(d.mark)
		d.before, d.after, d.last = start, from, false
		switch {
		case start == at:
		case b[start-1] != '\n':
			continue
		case start-2 >= at && b[start-2] == '\r':
			d.before = start - 2
		default:
			d.before = start - 1
		}
		if bytes.HasPrefix(b[d.after:], []byte("--")) {
			d.last = true
			d.after += 2
		}
		for d.after < len(b) && (b[d.after] == ' ' || b[d.after] == '\t') {
			d.after++
		}
		from = d.after
		switch rest := b[d.after:]; {
		case bytes.HasPrefix(rest, []byte("\r\n")):
			d.after += 2
			return true
		case len(rest) > 0 && rest[0] == '\n':
			d.after++
			return true
		case len(rest) == 0 && d.last:
			return true
		}
	}
}

// parameters returns the type of a media type, and the boundary in its parameters, "" if it has none.
func parameters(mediaType string) (kind, boundary string) {
	kind, _, _ = strings.Cut(mediaType, ";")
	b := []byte(mediaType)
	eachParameter(b, 0, len(b), func(p parameter) {
		if boundary == "" && p.is("boundary") {
			boundary = unquoted(p.value)
		}
	})
	return strings.TrimSpace(kind), boundary
}

// parameter is one of a header field: its value is without quotes, but may have escapes.
type parameter struct {
	name, value []byte
	from, to    int // of the value
}

func (p *parameter) is(name string) bool { return strings.EqualFold(string(p.name), name) }

// eachParameter calls f for the parameters in b from offset at to end: what follows each semicolon that is not between quotes.
func eachParameter(b []byte, at, end int, f func(parameter)) {
	for at < end {
		n := bytes.IndexByte(b[at:end], ';')
		if n < 0 {
			return
		}
		at += n + 1
		equals := bytes.IndexAny(b[at:end], "=;")
		if equals < 0 {
			return
		}
		p := parameter{name: bytes.TrimSpace(b[at : at+equals])}
		if at += equals; b[at] == ';' {
			continue
		}
		at++
		for at < end && (b[at] == ' ' || b[at] == '\t') {
			at++
		}
		p.from = at
		if at < end && b[at] == '"' {
			at++
			for p.from = at; at < end && b[at] != '"'; at++ {
				if b[at] == '\\' && at+1 < end && (b[at+1] == '"' || b[at+1] == '\\') {
					at++
				}
			}
			p.to = min(at, end)
		} else {
			for at < end && b[at] != ';' && b[at] != '\r' && b[at] != '\n' {
				at++
			}
			for p.to = at; p.to > p.from && (b[p.to-1] == ' ' || b[p.to-1] == '\t'); {
				p.to--
			}
		}
		p.value = b[p.from:p.to]
		f(p)
	}
}

// unquoted returns what a value stands for that may have escapes.
func unquoted(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 {
		return decode.UTF8(b)
	}
	plain := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && i+1 < len(b) && (b[i+1] == '"' || b[i+1] == '\\') {
			i++
		}
		plain = append(plain, b[i])
	}
	return decode.UTF8(plain)
}

// part takes the bytes up to offset end as part n.
func (r *Reader) part(end int, named bool, n int) {
	h := partHead{r: r, named: named, n: n, end: end}
	for r.OK() && r.Off < end {
		if h.field() {
			break
		}
	}
	if !r.OK() {
		return
	}
	r.Role("header")
	h.keyed()
	l := decode.ByIndex
	if named {
		l = decode.ByEntry
	}
	if h.open {
		r.member(content, 1)
		r.content(&h, decode.ByEntry, content, 1)
		r.Close()
		return
	}
	r.content(&h, l, h.name, n)
}

// member adds a key that is not on the wire.
func (r *Reader) member(name string, n int) {
	r.Leaf(decode.String, decode.ByMember, name, n).SetText(name)
}

// partHead is what the header fields of a part say, as far as they were read.
type partHead struct {
	r         *Reader
	named     bool
	n, end    int
	name      string // of the part
	hasName   bool
	open      bool // a map of the part is open: it has a file name
	mediaType string
}

// field takes a header field, folded lines included, or the empty line after the last one, for which it returns true.
func (h *partHead) field() (done bool) {
	r := h.r
	line := r.Buf[r.Off:h.end]
	size, text := lineLen(line)
	if text == 0 {
		r.Off += size
		return true
	}
	for size < len(line) && (line[size] == ' ' || line[size] == '\t') {
		more, _ := lineLen(line[size:])
		size += more
	}
	colon := bytes.IndexByte(line[:text], ':')
	if colon <= 0 {
		r.FailAt(r.Off, decode.Malformed, "a header field of a part", fmt.Sprintf("%q", line[:min(text, 16)]))
		return false
	}
	end, name, from := r.Off+size, strings.ToLower(string(line[:min(colon, len("content-transfer-encoding")+1)])), r.Off+colon+1
	if colon > len("content-transfer-encoding") {
		name = ""
	}
	if !isToken(line[:colon]) {
		h.text(r.Off, r.Off+colon)
	}
	switch name {
	case "content-disposition":
		h.kind(from, end)
		eachParameter(r.Buf, from, end, h.disposition)
	case "content-type":
		h.mediaType = strings.TrimSpace(string(r.Buf[from:end]))
		h.kind(from, end)
		eachParameter(r.Buf, from, end, func(p parameter) {
			if !p.is("charset") && !p.is("boundary") {
				h.text(p.from, p.to)
			}
		})
	case "content-transfer-encoding", "content-length":
		h.kind(from, end)
	default:
		h.text(from, end)
	}
	r.until(end, "header")
	return false
}

// lineLen returns the length of the first line of b, with and without its end.
func lineLen(b []byte) (size, text int) {
	n := bytes.IndexByte(b, '\n')
	if n < 0 {
		return len(b), len(b)
	}
	if n > 0 && b[n-1] == '\r' {
		return n + 1, n - 1
	}
	return n + 1, n
}

// kind takes what stands before the parameters of a header field. It is a text unless it can be a media type or a word.
func (h *partHead) kind(from, end int) {
	kind, _, _ := bytes.Cut(h.r.Buf[from:end], []byte(";"))
	if !isToken(bytes.TrimSpace(kind)) {
		h.text(from, from+len(kind))
	}
}

// isToken reports whether b may be a word in a header field, or two with a slash between them.
func isToken(b []byte) bool {
	for _, c := range b {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && bytes.IndexByte([]byte("-./+_"), c) < 0 {
			return false
		}
	}
	return true
}

// text takes the bytes of a header field that are neither the name of the part nor that of its file, but may say something.
func (h *partHead) text(from, to int) {
	if h.r.OK() && to > from {
		h.r.until(from, "header")
		h.r.until(to, "text")
	}
}

// disposition takes a parameter of Content-Disposition. The first file name after the name of the part is a value.
func (h *partHead) disposition(p parameter) {
	r := h.r
	if !r.OK() {
		return
	}
	switch {
	case p.is("name") && h.named && !h.hasName:
		h.hasName = true
		r.until(p.from, "header")
		r.Off = p.to
		h.name = unquoted(p.value)
		r.Leaf(decode.String, decode.ByMember, h.name, h.n).SetText(h.name)
	case p.is(fileName) && !h.open && (h.hasName || !h.named):
		r.until(p.from, "header")
		h.keyed()
		l := decode.ByIndex
		if h.named {
			l = decode.ByEntry
		}
		r.Open(decode.Map, l, h.name, h.n)
		h.open = true
		r.member(fileName, 0)
		r.Off = p.to
		r.Leaf(decode.String, decode.ByEntry, fileName, 0).SetText(unquoted(p.value))
	default:
		h.text(p.from, p.to)
	}
}

// keyed adds the key of a part without a name.
func (h *partHead) keyed() {
	if h.named && !h.hasName {
		h.hasName = true
		h.r.member("", h.n)
	}
}

// content takes what a part contains.
func (r *Reader) content(h *partHead, l decode.Label, name string, index int) {
	if !r.OK() {
		return
	}
	start, text := r.Off, (func([]byte) string)(nil)
	if len(h.mediaType) > len("multipart/") && strings.EqualFold(h.mediaType[:len("multipart/")], "multipart/") {
		r.body(h.mediaType, h.end, l, name, index)
		return
	}
	b := r.Buf[start:h.end]
	switch {
	case h.mediaType == "":
		if utf8.Valid(b) {
			text = decode.UTF8
		}
	case r.Content != nil:
		var inner Whole
		inner, text = r.Content(h.mediaType)
		if inner != nil && r.whole(inner, h.end, l, name, index) {
			return
		}
	}
	r.Off = h.end
	if text != nil {
		r.Leaf(decode.String, l, name, index).SetText(text(b))
	} else if n := r.Leaf(decode.Bytes, l, name, index); n != nil {
		n.Raw = b
	}
}

// whole takes the bytes up to offset end by another reader. It takes none, and returns false, if that cannot read them.
func (r *Reader) whole(inner Whole, end int, l decode.Label, name string, index int) bool {
	if r.Tree == nil {
		return false
	}
	mark, from, nodes := r.Mark(), r.Off, len(r.Tree.Nodes)
	inner.Reset(r.Buf[from:end], decode.Malformed, r.Tree)
	inner.Whole(l, name, index)
	fault := inner.Err()
	if f, ok := inner.(decode.Faulter); ok && fault == nil {
		fault = f.Fault()
	}
	if fault != nil || inner.Offset() != end-from {
		r.Rewind(mark)
		return false
	}
	for i := nodes; i < len(r.Tree.Nodes); i++ {
		r.Tree.Nodes[i].Off += int32(from)
	}
	if h, ok := inner.(interface{ Hidden() bool }); ok {
		r.Hides = r.Hides || h.Hidden()
	}
	r.Off = end
	r.Pass()
	return true
}

// scrub replaces what header fields say, a preamble and an epilogue, and names with escapes. Other values have the forms that formats
// share.
func scrub(b []byte, n *decode.Node, m decode.Mapper) bool {
	if n.Kind == decode.Overhead || n.Kind == decode.String && n.Label == decode.ByMember && bytes.IndexByte(b, '\\') >= 0 {
		m.Alike(b, func(_ int, c byte) string {
			switch {
			case c >= '0' && c <= '9':
				return "0123456789"
			case c >= 'a' && c <= 'z', c >= 0x80:
				return "ghjkpqvwxz"
			case c >= 'A' && c <= 'Z':
				return "GHJKPQVWXZ"
			}
			return ""
		})
		return true
	}
	return wire.Raw(b, n, m) || wire.UTF8(b, n, m)
}
