package http2

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/content/form"
	"dubbo-wire/internal/rpc"
)

// query lists the parts of the query in the field of a path, which has the bytes own from an offset of the head, and returns the number of
// bytes before them: all if the field is another one, or its bytes do not have the text. In Huffman's code a byte belongs to the part of
// its first bit.
func query(h *rpc.Header, own []byte, off int) (parts []rpc.HeaderField, before int) {
	text, ok := h.Query()
	if !ok || h.Trailer {
		return nil, len(own)
	}
	place := textPlace(own, h.Value)
	if place == nil {
		return nil, len(own)
	}
	start := len(h.Value) - len(text) // of the query, after the question mark
	before = place(start - 1)
	add := func(name, value, class string, from, to int) {
		from, to = place(from), place(to)
		switch last := len(parts) - 1; {
		case to == from:
		case last >= 0 && parts[last].Name == name && class == decode.ClassOverhead.String():
			parts[last].Len += to - from
		default:
			parts = append(parts, rpc.HeaderField{Name: name, Value: value, Class: class, Off: off + from, Len: to - from, Secret: true})
		}
	}
	add("query.#punct", "", decode.ClassOverhead.String(), start-1, start)
	var r form.Reader
	tree := decode.Tree{WithValues: true}
	r.Reset([]byte(text), decode.Malformed, &tree)
	r.Whole(decode.ByField, "query", 0)
	for i := range tree.Nodes {
		n := &tree.Nodes[i]
		from, to := start+int(n.Off), start+int(n.Off+n.Len)
		switch {
		case n.Kind == decode.Overhead:
			add("query.#punct", "", decode.ClassOverhead.String(), from, to)
		case n.Label == decode.ByMember:
			add("query.#field", n.Text, decode.ClassNames.String(), from, to)
		case n.Label == decode.ByEntry:
			add(parameterPart(n.Name, int(n.Index)), n.Text, decode.ClassValues.String(), from, to)
		}
	}
	add("query.opaque", "", decode.ClassOpaque.String(), start+r.Offset(), len(h.Value))
	if end := place(len(h.Value)); end < len(own) { // the space after the target in HTTP/1
		parts = append(parts, rpc.HeaderField{Name: fieldName(h), Off: off + end, Len: len(own) - end})
	}
	return parts, before
}

// parameterPart returns the path of the value of a parameter. A name that cannot be that of a member or a property may be a value itself.
func parameterPart(name string, index int) string {
	switch {
	case decode.IsMemberName(name):
		return "query." + name
	case decode.IsMemberName(strings.ReplaceAll(name, ".", "")):
		return "query[" + strconv.Quote(name) + "]"
	}
	return "query[" + strconv.Itoa(index) + "]"
}

// textPlace returns where a character of a text starts in the bytes of its field, by its offset in the text. It returns nil if the text is
// not in them, as that of an entry of a table.
func textPlace(own []byte, text string) func(at int) int {
	if bytes.HasPrefix(own, []byte(text)) { // HTTP/1
		return func(at int) int { return at }
	}
	if before := len(own) - len(text); before > 0 && string(own[before:]) == text {
		return func(at int) int { return before + at }
	}
	before := len(own) - int(hpack.HuffmanEncodeLength(text))
	if before <= 0 || !bytes.Equal(own[before:], hpack.AppendHuffmanString(nil, text)) {
		return nil
	}
	bits := make([]int, len(text)+1)
	for i := range len(text) {
		bits[i+1] = bits[i] + int(hpack.HuffmanEncodeLength(strings.Repeat(text[i:i+1], 8))) // of 8 characters in bytes, of one in bits
	}
	return func(at int) int { return before + (bits[at]+7)/8 }
}
