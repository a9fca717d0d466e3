// Package xml reads bodies of XML. An element with nothing but text is a text. Any other is a map in the tree of its attributes and
// child elements by their names, which may come more than once; text beside them has the name "$text". The name of the root
// element stands before the value. Of entities only the five of XML itself and characters by their numbers are known; a document type
// is passed over, never followed. The text is UTF-8, or of the encoding that its content type, else its declaration, names if package charset
// has that; else it is read only if it is ASCII throughout. The body is borrowed until the next Reset.
//
// Source: Extensible Markup Language (XML) 1.0, fifth edition.
package xml

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/content/charset"
	"dubbo-wire/internal/decode/wire"
)

// maxDeclaration is the length of a declaration with a version, an encoding and standalone, in bytes.
const maxDeclaration = 64

// besides is the name of text beside attributes and elements; no element can have it.
const besides = "$text"

// Format says how values are replaced: as the same number of bytes of UTF-8. What they must not become, such as markup, is found when the
// body is read again.
var Format = decode.Format{Name: "xml", Depth: decode.DepthFull, Scrub: wire.UTF8}

// Reader reads one body at a time.
type Reader struct {
	decode.Recorder
	// Text decodes the bytes of texts; nil is UTF-8, or what the body declares.
	Text func([]byte) string

	cut     bool // the capture lacks the rest of the body
	hides   bool
	decoded func([]byte) string // as Text, or as the body declares
	scratch []byte              // of a text with references
}

// maxScratch is the number of bytes that are kept for texts of later bodies.
const maxScratch = 1 << 20

// Reset starts a body; see [decode.Reader].
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	r.cut = r.Short != decode.Malformed
	r.hides = false
	if cap(r.scratch) > maxScratch {
		r.scratch = nil
	}
	if r.decoded = r.Text; r.decoded == nil {
		r.decoded = decode.UTF8
	}
}

// Hidden reports whether the markup of the last body may say something: it has a comment, an instruction, a document type, or a root whose
// name may be a value.
func (r *Reader) Hidden() bool { return r.hides }

// isName reports whether the tag of a root is a name, with a prefix or without one, as in soap:Envelope.
func isName(tag string) bool {
	prefix, local, ok := strings.Cut(tag, ":")
	return decode.IsMemberName(prefix) && (!ok || decode.IsMemberName(local))
}

// Whole takes all bytes of the body and records them under the given label.
func (r *Reader) Whole(l decode.Label, name string, index int) {
	open := r.Tree.Depth()
	r.take("\ufeff")
	r.misc(true)
	if tag := r.startTag(); r.OK() {
		r.hides = r.hides || !isName(string(tag))
		r.Role("field")
		r.element(tag, l, name, index)
	}
	r.misc(false)
	if r.OK() && r.Off < len(r.Buf) {
		r.fail("the end of the document")
	}
	if r.OK() && r.cut {
		r.fail("the rest of a document")
	}
	wrong := r.Off
	r.Settle(open)
	if err := r.Err(); err != nil && wrong > err.At && wrong < len(r.Buf) {
		err.Wrong = wrong // within what was not taken
	}
}

// misc takes what may stand around the root element: white space, comments, processing instructions and, before it, a document type.
func (r *Reader) misc(before bool) {
	for r.OK() {
		r.space()
		switch {
		case r.take("<!--"):
			r.hides = true
			r.past("-->")
		case r.take("<?"):
			start := r.Off
			declares := before && r.at("xml ")
			r.past("?>")
			r.hides = r.hides || !declares || r.Off-start > maxDeclaration
			if declares && r.OK() {
				r.encoding(start)
			}
		case before && r.take("<!DOCTYPE"):
			r.hides = true
			r.documentType()
		default:
			r.Role("punct")
			return
		}
	}
}

// encoding fails if the declaration from offset start to that of the reader names an encoding whose characters are not those of UTF-8.
func (r *Reader) encoding(start int) {
	_, name, _ := bytes.Cut(r.Buf[start:r.Off], []byte("encoding"))
	name = bytes.TrimLeft(name, " \t\r\n=")
	if len(name) == 0 {
		return
	}
	name, _, _ = bytes.Cut(name[1:], name[:1]) // between quotes
	if c, ok := charset.Find(string(name)); ok && c.ASCII {
		if r.Text == nil {
			r.decoded = c.Text
		}
		return
	}
	r.hides = true
	if r.Text != nil {
		return
	}
	if bytes.ContainsFunc(r.Buf[r.Off:], func(c rune) bool { return c >= utf8.RuneSelf }) {
		r.FailAt(r.Off, decode.Unsupported, "XML in UTF-8", fmt.Sprintf("%q", name))
	}
}

// documentType takes the rest of a document type, whose texts, comments and instructions may have any brackets.
func (r *Reader) documentType() {
	for inner := false; r.OK(); {
		switch {
		case r.Off >= len(r.Buf):
			r.fail("the end of a document type")
		case r.take("<!--"):
			r.past("-->")
		case r.take("<?"):
			r.past("?>")
		case r.take(`"`):
			r.past(`"`)
		case r.take("'"):
			r.past("'")
		case r.take("["):
			inner = true
		case r.take("]"):
			inner = false
		case !inner && r.take(">"):
			return
		default:
			r.Off++
		}
	}
}

// startTag takes "<", as markup, and the name of an element.
func (r *Reader) startTag() (tag []byte) {
	if r.OK() && !r.take("<") {
		r.fail("an element")
	}
	r.Role("punct")
	return r.name()
}

// element takes an element after its name.
func (r *Reader) element(tag []byte, l decode.Label, name string, index int) {
	r.space()
	if r.at("/>") || r.at(">") {
		if r.onlyText(tag, l, name, index) {
			return
		}
	}
	if !r.OK() || !r.Enter() {
		return
	}
	r.Open(decode.Map, l, name, index)
	n := r.attributes()
	if r.take("/>") {
		r.Role("punct")
	} else if r.OK() {
		r.take(">")
		r.Role("punct")
		r.content(n)
		r.endTag(tag)
	}
	r.Close()
	r.Leave()
}

// onlyText takes the rest of an element without attributes if it has nothing but text, or a single section of it.
func (r *Reader) onlyText(tag []byte, l decode.Label, name string, index int) bool {
	if r.take("/>") {
		r.Role("punct")
		r.Leaf(decode.String, l, name, index)
		return true
	}
	from := r.Off + len(">")
	rest := r.Buf[from:]
	if section, ok := bytes.CutPrefix(rest, []byte("<![CDATA[")); ok {
		n := bytes.Index(section, []byte("]]>"))
		if n < 0 || !bytes.HasPrefix(section[n:], []byte("]]></")) {
			return false
		}
		r.Off = from + len("<![CDATA[")
		r.Role("punct")
		r.section(n, l, name, index)
		r.endTag(tag)
		return true
	}
	n := bytes.IndexByte(rest, '<')
	if n < 0 || !bytes.HasPrefix(rest[n:], []byte("</")) {
		return false
	}
	r.Off = from
	r.Role("punct")
	r.value(from+n, l, name, index)
	r.endTag(tag)
	return true
}

// attributes takes the attributes of an element and returns their number.
func (r *Reader) attributes() (n int) {
	for r.OK() && !r.at(">") && !r.at("/>") {
		before := r.Off
		r.space()
		if r.at(">") || r.at("/>") {
			break
		}
		if n > 0 && r.Off == before {
			r.fail("white space or the end of a tag")
			return n
		}
		r.Role("punct")
		name := r.key(r.name(), n)
		r.space()
		if r.OK() && !r.take("=") {
			r.fail("an equals sign")
		}
		r.space()
		quote := `"`
		if r.at("'") {
			quote = "'"
		}
		if r.OK() && !r.take(quote) {
			r.fail("a quote")
		}
		r.Role("punct")
		if !r.OK() {
			return n
		}
		size := bytes.IndexByte(r.Buf[r.Off:], quote[0])
		if size < 0 {
			r.failAt(len(r.Buf), "the quote at the end of an attribute")
			return n
		}
		if less := bytes.IndexByte(r.Buf[r.Off:r.Off+size], '<'); less >= 0 {
			r.failAt(r.Off+less, "the quote at the end of an attribute")
			return n
		}
		r.value(r.Off+size, decode.ByEntry, name, n)
		if r.take(quote) {
			r.Role("punct")
		}
		n++
	}
	return n
}

// content takes what is between the tags of an element that has n attributes.
func (r *Reader) content(n int) {
	for r.OK() {
		switch {
		case r.Off >= len(r.Buf):
			r.fail("the end tag of an element")
		case r.at("</"):
			return
		case r.take("<!--"):
			r.hides = true
			r.past("-->")
			r.Role("punct")
		case r.take("<?"):
			r.hides = true
			r.past("?>")
			r.Role("punct")
		case r.take("<![CDATA["):
			size := bytes.Index(r.Buf[r.Off:], []byte("]]>"))
			if size < 0 {
				r.failAt(len(r.Buf), "]]>")
				return
			}
			r.Role("punct")
			r.section(size, decode.ByEntry, r.key(nil, n), n)
			n++
		case r.at("<"):
			tag := r.startTag()
			r.element(tag, decode.ByEntry, r.key(tag, n), n)
			n++
		default:
			start, end := r.Off, len(r.Buf)
			if size := bytes.IndexByte(r.Buf[r.Off:], '<'); size >= 0 {
				end = r.Off + size
			} else {
				r.failAt(end, "the end tag of an element")
				return
			}
			if r.space(); r.Off == end {
				r.Role("punct")
				continue
			}
			r.Off = start
			r.value(end, decode.ByEntry, r.key(nil, n), n)
			n++
		}
	}
}

// key records the name that was read, or that of text if it is nil, as key n of the open map.
func (r *Reader) key(b []byte, n int) string {
	if !r.OK() {
		return ""
	}
	name := besides
	if b != nil {
		name = r.Name(b)
	}
	if node := r.Leaf(decode.String, decode.ByMember, name, n); node != nil {
		node.Text = name
	}
	return name
}

// endTag takes the end tag of an element, whose name is one as that of the start tag is.
func (r *Reader) endTag(tag []byte) {
	if !r.OK() {
		return
	}
	if r.take("</") {
		r.Role("punct")
	}
	start := r.Off
	if name := r.name(); r.OK() && !bytes.Equal(name, tag) {
		r.failAt(start, "the end tag of the open element")
	}
	if r.OK() {
		r.Role("field")
	}
	r.space()
	if r.OK() && !r.take(">") {
		r.fail("the end of a tag")
	}
	r.Role("punct")
}

// section takes n bytes of a section of characters, in which nothing is markup, and its end.
func (r *Reader) section(n int, l decode.Label, name string, index int) {
	if !r.OK() {
		return
	}
	b := r.Buf[r.Off : r.Off+n]
	r.Off += n
	if node := r.Leaf(decode.String, l, name, index); node != nil && r.Values() {
		node.Text = r.decoded(b)
	}
	r.take("]]>")
	r.Role("punct")
}

// value takes the bytes up to offset end as a value.
func (r *Reader) value(end int, l decode.Label, name string, index int) {
	if !r.OK() {
		return
	}
	b := r.Buf[r.Off:end]
	plain, from := "", 0
	r.scratch = r.scratch[:0]
	for i := bytes.IndexByte(b, '&'); i >= 0 && i < len(b); i++ {
		if b[i] != '&' {
			continue
		}
		c, n := reference(b[i:])
		if n == 0 {
			r.FailAt(r.Off+i, decode.Malformed, "a character or one of XML's own entities", fmt.Sprintf("%q", b[i:min(i+16, len(b))]))
			return
		}
		r.scratch = utf8.AppendRune(append(r.scratch, r.decoded(b[from:i])...), c)
		i += n - 1
		from = i + 1
	}
	if from == 0 {
		plain = r.decoded(b)
	} else {
		plain = string(append(r.scratch, r.decoded(b[from:])...))
	}
	r.Off = end
	r.Leaf(decode.String, l, name, index).SetText(plain)
}

// maxReference is the length that references may have, in bytes.
const maxReference = 32

// reference returns the character that the reference at the start of b stands for and the length of the reference, 0 if it is none.
func reference(b []byte) (c rune, n int) {
	end := bytes.IndexByte(b[:min(len(b), maxReference)], ';')
	if end < 0 {
		return 0, 0
	}
	switch name := string(b[1:end]); {
	case name == "lt":
		c = '<'
	case name == "gt":
		c = '>'
	case name == "amp":
		c = '&'
	case name == "apos":
		c = '\''
	case name == "quot":
		c = '"'
	case len(name) > 1 && name[0] == '#':
		base, digits := 10, name[1:]
		if digits[0] == 'x' {
			base, digits = 16, digits[1:]
		}
		v, err := strconv.ParseUint(digits, base, 21)
		if c = rune(v); err != nil || v == 0 || !utf8.ValidRune(c) {
			return 0, 0
		}
	default:
		return 0, 0
	}
	return c, end + 1
}

// name takes a name: letters, digits, underscores, colons, hyphens, full stops and all beyond ASCII. It does not begin with a digit, a hyphen
// or a full stop.
func (r *Reader) name() []byte {
	if !r.OK() {
		return nil
	}
	start := r.Off
	for r.Off < len(r.Buf) {
		c := r.Buf[r.Off]
		first := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == ':' || c >= utf8.RuneSelf
		if !first && (r.Off == start || c != '-' && c != '.' && (c < '0' || c > '9')) {
			break
		}
		r.Off++
	}
	switch b := r.Buf[start:r.Off]; {
	case r.Off == len(r.Buf):
		r.failAt(r.Off, "the rest of a name")
	case len(b) == 0:
		r.fail("a name")
	case !utf8.Valid(b):
		r.failAt(start, "a name in UTF-8")
	default:
		return b
	}
	return nil
}

func (r *Reader) space() {
	for r.OK() && r.Off < len(r.Buf) {
		switch r.Buf[r.Off] {
		case ' ', '\t', '\r', '\n':
			r.Off++
		default:
			return
		}
	}
}

// at reports whether s comes next.
func (r *Reader) at(s string) bool {
	return r.OK() && len(r.Buf)-r.Off >= len(s) && string(r.Buf[r.Off:r.Off+len(s)]) == s
}

// take takes s if it comes next.
func (r *Reader) take(s string) bool {
	if !r.at(s) {
		return false
	}
	r.Off += len(s)
	return true
}

// past takes all bytes to the end of the next s.
func (r *Reader) past(s string) {
	n := bytes.Index(r.Buf[r.Off:], []byte(s))
	if n < 0 {
		r.failAt(len(r.Buf), s)
		return
	}
	r.Off += n + len(s)
}

// fail stops reading because something else was expected at the offset of the reader.
func (r *Reader) fail(expected string) { r.failAt(r.Off, expected) }

// failAt is fail for an offset ahead of the reader. Of a body that is not whole, what was expected may follow the captured bytes, or be a
// mark that these end within.
func (r *Reader) failAt(at int, expected string) {
	switch {
	case r.cut && len(r.Buf)-at < len("<![CDATA["):
		r.FailAt(at, r.Short, expected, "the end of the captured bytes")
	case at >= len(r.Buf):
		r.FailAt(at, decode.Malformed, expected, "the end of the body")
	default:
		c, _ := utf8.DecodeRune(r.Buf[at:])
		r.FailAt(at, decode.Malformed, expected, fmt.Sprintf("%q", c))
	}
}
