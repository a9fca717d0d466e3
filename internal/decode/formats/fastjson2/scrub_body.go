package fastjson2

import (
	"bytes"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// bodyScrubber is the [decode.BodyScrubber] of fastjson2. Paths through maps, whose keys are values, texts that are symbols, and objects that are
// written as one value need a tree.
type bodyScrubber struct {
	r     Reader // takes values
	all   decode.Printed
	m     decode.Mapper
	nodes int // that a tree would have at most
	// keyed: the document has a map with entries; refers: it has a reference.
	keyed, refers bool
	node          decode.Node // scratch
	again         *decode.Again
	waiting       decode.Waiting // texts
}

func newBodyScrubber() decode.BodyScrubber { return new(bodyScrubber) }

// ScrubBody implements [decode.BodyScrubber].
func (s *bodyScrubber) ScrubBody(b []byte, n int, attachments bool, m decode.Mapper) bool {
	return s.walk(b, n, attachments, m, nil)
}

// ScrubAgain implements [decode.BodyScrubber].
func (s *bodyScrubber) ScrubAgain(b []byte, n int, attachments bool, again *decode.Again) bool {
	return s.walk(b, n, attachments, nil, again)
}

// walk takes a whole body. It replaces its values by means of m, if that is not nil, or some values of its copy.
func (s *bodyScrubber) walk(b []byte, n int, attachments bool, m decode.Mapper, again *decode.Again) bool {
	s.m, s.again, s.nodes, s.r.repeated = m, again, 0, 0
	s.waiting.Forget()
	done := s.documents(b, n, attachments)
	if done {
		s.waiting.Replace(b, m)
	}
	s.r.Buf, s.r.body, s.m, s.again, s.node = nil, nil, nil, nil, decode.Node{}
	return done
}

// documents takes n values and, if attachments is set, the attachments, which are all of b.
func (s *bodyScrubber) documents(b []byte, n int, attachments bool) bool {
	at := 0
	for i := 0; i < n || i == n && attachments; i++ {
		size := documentLen(b[at:])
		if size < 0 {
			return false
		}
		end := at + lengthSize + size
		s.begin(b[:end], at)
		if done := i == n && s.attachments() || i < n && s.value(at, 0); !done || s.r.Off != end {
			return false
		}
		at = end
	}
	return at == len(b)
}

// begin begins the document at offset at that ends b.
func (s *bodyScrubber) begin(b []byte, at int) {
	repeated := s.r.repeated
	s.r.Reset(b, decode.Malformed, nil)
	s.r.repeated = repeated
	s.r.printing.to, s.r.printing.values = &s.all, true // texts of values are wanted
	s.r.forget()
	s.keyed, s.refers = false, false
	s.r.Off = at + lengthSize
}

// value takes the value at the cursor. Its node has the bytes from offset from on.
func (s *bodyScrubber) value(from, depth int) bool {
	op, ok := s.r.Peek()
	s.nodes += 4 // with its name and its type
	switch {
	case !ok, s.nodes > decode.MaxScrubbedNodes, op == opSymbol:
		return false
	case op == opReference:
		return s.reference(depth)
	case isText(op):
		return s.text(from)
	case op == opTyped, op == opObject, isArray(op):
		return s.compound(depth)
	}
	at := s.r.Off
	v := s.r.scalar()
	end := s.r.Off
	if !s.r.OK() || v.kind == decode.Null || v.kind == decode.Bool {
		return s.r.OK()
	}
	s.node = decode.Node{}
	v.fill(&s.node)
	if s.m == nil {
		sized := op == opDouble || op == opFloat || op == opInt32 || op == opInt64 || op == opInt64Int || op == opMillis
		return s.replaceAgain(from, end, sized)
	}
	if !scrub(s.r.Buf[from:end], &s.node, s.m) {
		return false
	}
	s.r.Off = at
	again := s.r.scalar()
	return s.r.OK() && s.r.Off == end && again.kind == v.kind && again.class == v.class
}

// replaceAgain takes the value s.node with these bytes, which is not replaced in the body, but in its copy if it is one of those of s.again. same says that
// it is read as the same kind of value, whatever it becomes.
func (s *bodyScrubber) replaceAgain(from, end int, same bool) bool {
	if !s.again.Covers(from, end) {
		return true
	}
	v := s.again.Copy[from:end]
	copy(v, s.r.Buf[from:end])
	return same && scrub(v, &s.node, s.again.Mapper)
}

// reference takes the reference at the cursor, which stays. Its target is the same in the copy unless the path leads through keys. Other texts than paths
// need a tree.
func (s *bodyScrubber) reference(depth int) bool {
	s.r.Off++
	op := s.r.Byte("")
	if !isText(op) {
		return false
	}
	path := s.r.text(op).raw
	isPath := len(path) > 0 && path[0] == '$' || depth > 0 && (string(path) == ".." || s.refers && string(path) == "#-1")
	s.refers = true
	return s.r.OK() && !s.keyed && isPath
}

// text takes the text at the cursor. Its node has the bytes from offset from on.
func (s *bodyScrubber) text(from int) bool {
	op := s.r.Byte("")
	t := s.r.text(op)
	b, end := s.r.Buf, s.r.Off
	if !s.r.OK() || len(t.raw) == 0 || s.m == nil && !s.again.Covers(from, end) {
		return s.r.OK()
	}
	start := end - len(t.raw)
	// At the end of its bytes, as it is, and nowhere before.
	usual := (t.op == opASCII && decode.IsASCII(t.raw) || t.op == opUTF8 && utf8.Valid(t.raw)) && b[start-1] < utf8.RuneSelf && b[start-1] != t.raw[0]
	if usual && s.m != nil {
		if s.waiting.Add(start, end, decode.String) {
			s.waiting.Replace(b, s.m)
		}
		return true
	}
	s.node = decode.Node{Kind: decode.String, Text: t.string()}
	if s.m == nil {
		return s.replaceAgain(from, end, usual)
	}
	var head [16]byte
	n := copy(head[:], b[from:start])
	return n == start-from && scrub(b[from:end], &s.node, s.m) && bytes.Equal(head[:n], b[from:start])
}

// compound takes an array, an object, or a value with its class.
func (s *bodyScrubber) compound(depth int) bool {
	if depth == decode.MaxScrubbedDepth {
		return false
	}
	r := &s.r
	op := r.Byte("")
	class := ""
	var typed *symbol
	if op == opTyped {
		if typed = r.symbol(""); !s.stays(typed) || singles[typed.text] != "" || !decode.CanBeName(r.javaName(typed)) {
			return false
		}
		class = typed.text
		op = r.Byte("")
	}
	switch {
	case !r.OK():
	case isArray(op):
		n := int(op - opArray0)
		if op == opArray {
			n = r.size("")
		}
		for ; n > 0 && r.OK(); n-- {
			if !s.value(r.Off, depth+1) {
				return false
			}
		}
	case op == opObject:
		first, _ := r.Peek()
		if first == opSymbol || first == opObjectEnd && typed != nil && !isMap(class) {
			return s.bean(depth)
		}
		return s.entries(depth, false)
	default: // a constant of an enum stays
		r.Off--
		v := r.scalar()
		return class != "" && r.OK() && (v.kind == decode.String && class[0] != '[' || v.kind == decode.Int && !isJDK(class))
	}
	return r.OK()
}

// bean takes the fields of a bean.
func (s *bodyScrubber) bean(depth int) bool {
	for r := &s.r; r.OK(); {
		switch op := r.Byte(""); {
		case op == opObjectEnd:
			return r.OK()
		case op != opSymbol || !s.stays(r.symbol("")):
			return false
		}
		if !s.value(r.Off, depth+1) {
			return false
		}
	}
	return false
}

// stays reports whether redaction keeps the name of a class or a field, and it is not that of a reference.
func (s *bodyScrubber) stays(y *symbol) bool {
	if !s.r.OK() {
		return false
	}
	if !y.judged {
		y.judged, y.canStay = true, decode.CanBeName(y.text) && y.text != "$ref"
	}
	return y.canStay
}

// entries takes the entries of a map, or the attachments, whose keys stay.
func (s *bodyScrubber) entries(depth int, attachments bool) bool {
	for r := &s.r; r.OK(); {
		at := r.Off
		op := r.Byte("")
		if op == opObjectEnd {
			return r.OK()
		}
		if s.keyed = true; s.refers {
			return false
		}
		var key []byte
		if isText(op) {
			t := r.text(op)
			if key = t.raw; t.op > opUTF8 || string(key) == "class" || string(key) == "$ref" {
				return false // the map may stand for an object or a reference
			}
		} else if attachments {
			return false
		}
		if !attachments {
			if r.Off = at; !s.value(at, depth+1) { // the key
				return false
			}
		}
		if at = r.Off; attachments && s.namesCallee(key) {
			continue
		}
		if r.Off = at; attachments && string(key) == "group" || !s.value(at, depth+1) {
			return false
		}
	}
	return false
}

// namesCallee reports whether the value at the cursor, which it takes, is that of an attachment that stays, as it says what is called.
func (s *bodyScrubber) namesCallee(key []byte) bool {
	op, ok := s.r.Peek()
	if !ok || !isText(op) || !decode.MayNameCallee(key) {
		return false
	}
	s.r.Off++
	t := s.r.text(op)
	return s.r.OK() && decode.NamesCallee(string(key), t.string())
}

// attachments takes the attachments.
func (s *bodyScrubber) attachments() bool {
	switch op := s.r.Byte(""); op {
	case opNull:
		return s.r.OK()
	case opObject:
		first, _ := s.r.Peek()
		return first != opSymbol && s.entries(0, true)
	}
	return false
}
