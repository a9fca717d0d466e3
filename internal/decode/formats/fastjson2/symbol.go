package fastjson2

import (
	"fmt"

	"dubbo-wire/internal/decode"
)

// symbol is the name of a class or a field that a document writes once and then refers to by number.
type symbol struct {
	text string
	java string // the full name of a class, set by javaName
	// canStay says that redaction keeps the name, once it is judged.
	canStay, judged bool
}

// Limits: one or two bytes on the wire may refer to a name of a megabyte.
const (
	maxRepeated = 64 << 20 // bytes of repeated names in a body
	keptSymbols = 1 << 12
)

// forget starts a document, which has its own symbols and references.
func (r *Reader) forget() {
	if cap(r.symbols) > keptSymbols {
		r.symbols = nil
	}
	r.symbols = r.symbols[:0]
	r.sparse = nil
	r.inside = -1
	if r.Tree != nil {
		r.refs.forget(r.NextNode())
	}
}

// unknown is returned after an error.
var unknown symbol

// symbol takes the bytes after the byte that announces a symbol or a class: its text and its number at the first occurrence
// in the document, only its number later. The result is valid until the next call.
func (r *Reader) symbol(what string) *symbol {
	start := r.Off
	op, _ := r.Peek()
	if isText(op) {
		r.Off++
		s := r.text(op)
		id := r.int32("the number of a symbol")
		if !r.OK() {
			return &unknown
		}
		return r.define(id, symbol{text: r.share(s)})
	}
	id := r.int32(what)
	if !r.OK() {
		return &unknown
	}
	s := r.lookup(id)
	if s == nil {
		r.FailAt(start, decode.Malformed, what+" that the document has named", fmt.Sprintf("symbol %d", id))
		return &unknown
	}
	if r.repeated += len(s.text); r.repeated > maxRepeated {
		r.FailAt(start, decode.Limit, fmt.Sprintf("at most %d bytes of repeated names", maxRepeated), "more")
	}
	return s
}

func (r *Reader) define(id int32, s symbol) *symbol {
	switch n := int32(len(r.symbols)); {
	case id == n:
		r.symbols = append(r.symbols, s)
		return &r.symbols[id]
	case id >= 0 && id < n:
		r.symbols[id] = s
		return &r.symbols[id]
	}
	// The writer numbers symbols consecutively.
	if r.sparse == nil {
		r.sparse = make(map[int32]symbol)
	}
	r.sparse[id] = s
	other := s // s itself stays on the stack
	return &other
}

func (r *Reader) lookup(id int32) *symbol {
	if id >= 0 && int(id) < len(r.symbols) {
		return &r.symbols[id]
	}
	if s, ok := r.sparse[id]; ok {
		return &s
	}
	return nil
}
