package decode

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CanBeName reports whether a class or a field can have that name, or s is empty. Other texts in the place of a name come from a body
// that was misread, and may be values.
func CanBeName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			return canEndName(s[i:])
		case !inName[c] && (c != '@' || i > 0):
			return false
		}
	}
	return true
}

// canEndName is CanBeName for the rest of a name from its first character beyond ASCII on.
func canEndName(s string) bool {
	for _, c := range s {
		if c < utf8.RuneSelf && !inName[c] || c >= utf8.RuneSelf && (unicode.IsSpace(c) || unicode.IsControl(c) || c == utf8.RuneError) {
			return false
		}
	}
	return true
}

// inName has the characters of ASCII that may be anywhere in a name.
var inName = func() (in [256]bool) {
	for c := byte('!'); c < 0x7f; c++ {
		in[c] = strings.IndexByte("!\"%&'()*+,:=?@\\^`{|}~", c) < 0
	}
	return in
}()

// CanBeClass reports whether a class can have that name, as Class.getName returns it.
func CanBeClass(s string) bool {
	return s != "" && s[0] != '#' && s[0] != '.' && s[len(s)-1] != '.' && CanBeName(s) && !strings.Contains(s, "..")
}

// leastText is the minimum number of printable bytes that count as a text among binary bytes.
const leastText = 4

// Misread reports whether body, from which the tree was read, was misread: the tree has the name of a class or a field that cannot be
// one. If the body is malformed, a text in the bytes of such names is enough. Nothing in a misread body counts as a name when values
// are redacted.
func (t *Tree) Misread(body []byte, err *Error) bool {
	malformed := err != nil && err.Cause == Malformed
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if !CanBeName(n.Class) {
			return true
		}
		// An object without a class may be a map, whose keys may be any text.
		if n.Label == ByField && n.Parent >= 0 && !CanBeName(n.Name) && (malformed || t.Nodes[n.Parent].Class != "") {
			return true
		}
		if malformed && n.HoldsNames() && hasText(body[min(int(n.Off), len(body)):min(int(n.Off+n.Len), len(body))]) {
			return true
		}
	}
	return false
}

// FieldName returns the name of the field at node i as it is printed: if values are redacted, its place in the object stands for a
// text that cannot be a name.
func (t *Tree) FieldName(i int) string {
	n := &t.Nodes[i]
	if t.Redact && n.Label == ByField && n.Parent >= 0 && !CanBeName(n.Name) {
		return "#" + strconv.Itoa(i-int(n.Parent))
	}
	return n.Name
}

// HoldsNames reports whether the bytes of n are the name of a class or of fields.
func (n *Node) HoldsNames() bool {
	return n.Kind == Overhead && (n.Name == "class" || n.Name == "field")
}

// hasText reports whether bytes contain a text that cannot be a name.
func hasText(b []byte) bool {
	for len(b) > 0 {
		k := 0
		for k < len(b) && b[k] >= ' ' && b[k] < 0x7f {
			k++
		}
		if k >= leastText && !CanBeName(string(b[:k])) {
			return true
		}
		b = b[min(k+1, len(b)):]
	}
	return false
}
