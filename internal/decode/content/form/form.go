// Package form reads bodies of HTML forms, application/x-www-form-urlencoded: pairs of a name and a value with "&" between them. A body is
// a map in the tree, whose keys are names; a name may come more than once. The body is borrowed until the next Reset.
//
// Source: URL Standard of WHATWG, section 5.1. Unlike that parser, a "%" without two digits is an error here.
package form

import (
	"bytes"
	"fmt"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/wire"
)

// Format says how values are replaced.
var Format = decode.Format{Name: "form", Depth: decode.DepthFull, Scrub: scrub}

// Reader reads one body at a time.
type Reader struct {
	decode.Recorder
	// Text decodes the bytes of texts; nil is UTF-8.
	Text func([]byte) string
	cut  bool // the capture lacks the rest of the body
}

// Reset starts a body; see [decode.Reader].
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	r.cut = r.Short != decode.Malformed
}

// Whole takes all bytes of the body and records them under the given label.
func (r *Reader) Whole(l decode.Label, name string, index int) {
	open := r.Tree.Depth()
	r.Open(decode.Map, l, name, index)
	for n := 0; r.OK() && r.Off < len(r.Buf); {
		if r.Buf[r.Off] == '&' {
			r.Off++
			r.Role("punct")
			continue
		}
		r.pair(n)
		n++
	}
	if r.cut && r.OK() {
		r.Fail(r.Short, "the rest of a form", "the end of the captured bytes")
	}
	r.Close()
	wrong := r.Off
	r.Settle(open)
	if err := r.Err(); err != nil && wrong > err.At && wrong < len(r.Buf) {
		err.Wrong = wrong // within what was not taken
	}
}

// pair takes pair n: a name and, after "=", a value. Without "=" the value is an empty text.
func (r *Reader) pair(n int) {
	end := len(r.Buf)
	if at := bytes.IndexByte(r.Buf[r.Off:], '&'); at >= 0 {
		end = r.Off + at
	}
	equals := bytes.IndexByte(r.Buf[r.Off:end], '=')
	key := end
	if equals >= 0 {
		key = r.Off + equals
	}
	name, ok := r.text(key)
	if !ok {
		return
	}
	if node := r.Leaf(decode.String, decode.ByMember, name, n); node != nil {
		node.Text = name
	}
	if equals >= 0 && r.OK() {
		r.Off++
		r.Role("punct")
	}
	if value, ok := r.text(end); ok {
		r.Leaf(decode.String, decode.ByEntry, name, n).SetText(value)
	}
}

// text takes the bytes up to offset end and returns the text that they stand for. It fails if the capture lacks the rest of it.
func (r *Reader) text(end int) (string, bool) {
	if !r.OK() {
		return "", false
	}
	if r.cut && end == len(r.Buf) {
		r.Fail(r.Short, "the rest of a text", "the end of the captured bytes")
		return "", false
	}
	b := r.Buf[r.Off:end]
	if bytes.IndexByte(b, '%') < 0 && bytes.IndexByte(b, '+') < 0 {
		r.Off = end
		return r.decoded(b), true
	}
	plain := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		switch c := b[i]; c {
		case '+':
			plain = append(plain, ' ')
		case '%':
			if i+2 >= len(b) || digit(b[i+1]) < 0 || digit(b[i+2]) < 0 {
				r.FailAt(r.Off+i, decode.Malformed, "% and two hexadecimal digits", fmt.Sprintf("%q", b[i:min(i+3, len(b))]))
				return "", false
			}
			plain = append(plain, byte(digit(b[i+1])<<4|digit(b[i+2])))
			i += 2
		default:
			plain = append(plain, c)
		}
	}
	r.Off = end
	return r.decoded(plain), true
}

func (r *Reader) decoded(b []byte) string {
	if r.Text != nil {
		return r.Text(b)
	}
	return decode.UTF8(b)
}

// digit returns the value of a hexadecimal digit, -1 if c is none.
func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// scrub replaces a text as the same number of bytes. One with escapes keeps these, with other digits.
func scrub(b []byte, n *decode.Node, m decode.Mapper) bool {
	if n.Kind != decode.String || bytes.IndexByte(b, '%') < 0 && bytes.IndexByte(b, '+') < 0 {
		return wire.UTF8(b, n, m)
	}
	m.Alike(b, func(i int, c byte) string {
		switch {
		case i > 0 && b[i-1] == '%', i > 1 && b[i-2] == '%':
			return "0123456789ABCDEF"
		case c >= '0' && c <= '9':
			return "0123456789"
		case c|0x20 >= 'a' && c|0x20 <= 'z', c >= 0x80:
			return "ghjkpqvwxz"
		}
		return ""
	})
	return true
}
