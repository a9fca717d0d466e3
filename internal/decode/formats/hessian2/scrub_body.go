package hessian2

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/wire"
)

// bodyScrubber is the [decode.BodyScrubber] of hessian2. It takes what nearly all bodies consist of, and of that only what has one meaning
// whatever its values are; anything else is left to a tree. Definitions of classes and types of lists, which come again in most bodies,
// are judged once.
type bodyScrubber struct {
	b    []byte
	at   int
	m    decode.Mapper
	node decode.Node // scratch

	classes   []*scrubbedClass // of this body
	constants []scrubbedConstant
	types     int  // entries of the type table
	objects   int  // entries of the object table
	nodes     int  // that a tree would have at most
	depth     int  // of nesting
	copied    bool // an object was met that references would repeat
	waiting   decode.Waiting
	content   []byte // scratch, of a text in chunks
	again     *decode.Again

	definitions map[string]*scrubbedClass // by their bytes
	typeNames   map[string]bool           // whether types can be names
	kept        int                       // memory of the two maps, in bytes
}

// scrubbedClass is the definition of a class.
type scrubbedClass struct {
	fields int
	means  meaning
	kind   kindOfClass // of one that means enumConstant
	known  bool        // objects are scrubbed without a tree
}

// scrubbedConstant is an enum constant.
type scrubbedConstant struct {
	class *scrubbedClass
	name  []byte
}

const (
	maxConstants = 64      // in a body
	maxClasses   = 1 << 10 // in a body
	maxKeys      = 1 << 20 // bytes of definitions and types that are kept
)

func newBodyScrubber() decode.BodyScrubber {
	return &bodyScrubber{definitions: make(map[string]*scrubbedClass), typeNames: make(map[string]bool)}
}

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
	s.b, s.at, s.m, s.again = b, 0, m, again
	s.classes, s.constants = s.classes[:0], s.constants[:0]
	s.types, s.objects, s.nodes, s.depth, s.copied = 0, 0, 0, 0, false
	s.waiting.Forget()
	if s.kept > maxKeys {
		clear(s.definitions)
		clear(s.typeNames)
		s.kept = 0
	}
	done := s.values(n) && (!attachments || s.attachments()) && s.at == len(b)
	if done {
		s.waiting.Replace(b, m)
	}
	s.b, s.m, s.again = nil, nil, nil
	clear(s.constants)
	return done
}

// values takes n values.
func (s *bodyScrubber) values(n int) bool {
	if s.m == nil && s.again == nil {
		return s.check(n)
	}
	for range n {
		if s.shortASCII() {
			continue
		}
		if !s.value() {
			return false
		}
	}
	return true
}

// check takes n values of which none is replaced. Those that most bodies consist of are taken here.
func (s *bodyScrubber) check(n int) bool {
	b, at, nodes := s.b, s.at, s.nodes
	for range n {
		if len(b)-at >= 17 && nodes <= decode.MaxScrubbedNodes {
			op, w := b[at], b[at+1:at+17]
			size := int(grammar[op].size)
			if op-1 < 15 {
				if m := &asciiMasks[op]; m[0]&binary.LittleEndian.Uint64(w)|m[1]&binary.LittleEndian.Uint64(w[8:]) == 0 {
					size = 1 + int(op)
				}
			}
			if size > 0 {
				at += size
				nodes++
				continue
			}
		}
		s.at, s.nodes = at, nodes
		if !s.value() {
			return false
		}
		at, nodes = s.at, s.nodes
	}
	s.at, s.nodes = at, nodes
	return true
}

// shortASCII takes the text at the cursor if it has 1 to 15 characters, all of them ASCII, and is not at the end of the body.
func (s *bodyScrubber) shortASCII() bool {
	b, at := s.b, s.at
	if len(b)-at < 17 || s.nodes > decode.MaxScrubbedNodes {
		return false
	}
	n, w := b[at], b[at+1:at+17]
	if n-1 >= 15 {
		return false
	}
	m := &asciiMasks[n]
	if m[0]&binary.LittleEndian.Uint64(w)|m[1]&binary.LittleEndian.Uint64(w[8:]) != 0 {
		return false
	}
	s.nodes++
	return s.later(at, at+1, at+1+int(n), decode.String)
}

// value takes the value at the cursor.
func (s *bodyScrubber) value() bool {
	if s.at >= len(s.b) || s.nodes > decode.MaxScrubbedNodes {
		return false
	}
	s.nodes++
	op := s.b[s.at]
	g := grammar[op]
	if g.size != 0 {
		return s.scalar(g.rule, int(g.size))
	}
	switch g.rule {
	case text:
		return s.text()
	case blob:
		_, stop := s.chunks(asBytes, func(_ []byte, n int) int { return n })
		return stop >= 0 && s.replace(stop, decode.Bytes)
	case reference:
		return s.reference()
	}
	if s.depth++; s.depth > decode.MaxScrubbedDepth {
		return false
	}
	s.nodes += 4 // at most, besides those of a definition
	done := false
	switch g.rule {
	case definition, object:
		done = s.object()
	case list:
		done = s.list(op)
	case dict:
		done = s.dict(op, false)
	}
	s.depth--
	return done
}

// replace replaces the value from the cursor to stop, which is of kind k.
func (s *bodyScrubber) replace(stop int, k decode.Kind) bool {
	at := s.at
	s.at = stop
	if s.m == nil {
		return s.replaceAgain(at, stop, k)
	}
	s.node.Kind = k
	return scrub(s.b[at:stop], &s.node, s.m)
}

// replaceAgain takes a value of kind k that is not replaced in s.b, but in its copy if it is one of those of s.again.
func (s *bodyScrubber) replaceAgain(at, stop int, k decode.Kind) bool {
	if !s.again.Covers(at, stop) {
		return true
	}
	v := s.again.Copy[at:stop]
	copy(v, s.b[at:stop])
	if k == decode.String && !utf8.Valid(v) {
		return false
	}
	if s.node.Kind = k; k == decode.Int && len(v) <= 3 {
		s.node.Num = number(v)
	}
	return scrub(v, &s.node, s.again.Mapper)
}

// later moves the cursor to stop and replaces the value of kind k from offset at to stop together with those after it. Its content begins at from.
func (s *bodyScrubber) later(at, from, stop int, k decode.Kind) bool {
	s.at = stop
	if s.m == nil {
		return s.replaceAgain(at, stop, k)
	}
	if s.waiting.Add(from, stop, k) {
		s.waiting.Replace(s.b, s.m)
	}
	return true
}

// scalar takes a value of fixed size.
func (s *bodyScrubber) scalar(r rule, size int) bool {
	stop := s.at + size
	if stop > len(s.b) {
		return false
	}
	switch {
	case r == double && size == 9:
		return s.later(s.at, s.at+1, stop, decode.Float64)
	case r == double:
		return s.replace(stop, decode.Float64)
	case size == 9, size == 5: // integers and dates
		return s.later(s.at, s.at+1, stop, decode.Int)
	case r == integer, r == long:
		s.node.Num = number(s.b[s.at:stop])
		return s.replace(stop, decode.Int)
	}
	s.at = stop // null, true, false
	return true
}

// text takes a text.
func (s *bodyScrubber) text() bool {
	at := s.at
	if v := s.plain(); v != nil {
		return s.replaceText(at, v)
	}
	units, stop := s.chunks(asText, unitsEnd)
	if stop < 0 {
		return false
	}
	s.at = stop
	if s.m == nil {
		return !s.again.Covers(at, stop)
	}
	replace := func(text []byte) { wire.MapUTF8(text, decode.String, s.m) }
	var ok bool
	if s.content, ok = scrubChunks(s.b[at:stop], s.content, asText, chunkEnd, replace, false); !ok {
		return false
	}
	s.at = at
	again, stopped := s.chunks(asText, unitsEnd)
	s.at = stop
	return again == units && stopped == stop
}

// replaceText replaces the text v of one chunk, which starts at offset at and ends at the cursor.
func (s *bodyScrubber) replaceText(at int, v []byte) bool {
	stop := s.at
	if s.m == nil || chunkLen(s.b[at:stop-len(v)]) == len(v) || utf8.Valid(v) { // it is ASCII, or else UTF-8
		return s.later(at, stop-len(v), stop, decode.String)
	}
	wire.MapUTF8(v, decode.String, s.m)
	s.at = at
	return s.plain() != nil && s.at == stop
}

// unitsEnd returns the length of n UTF-16 units at the start of b, -1 if b does not have them.
func unitsEnd(b []byte, n int) int {
	stop, left := skipUnits(b, 0, n)
	if left > 0 {
		return -1
	}
	return stop
}

// plain takes a text of one chunk and returns its bytes, nil for any other, after doing nothing.
func (s *bodyScrubber) plain() []byte {
	b, at := s.b, s.at
	if at >= len(b) {
		return nil
	}
	head, more, ok := asText(b[at])
	if !ok || more || at+head > len(b) {
		return nil
	}
	stop, left := skipUnits(b, at+head, chunkLen(b[at:at+head]))
	if left > 0 {
		return nil
	}
	s.at = stop
	return b[at+head : stop : stop]
}

// chunks returns the length of the text or binary at the cursor, in what its chunks count, and the offset after it, -1 if there is none.
// end returns the length of so many units in bytes, -1 if there are fewer.
func (s *bodyScrubber) chunks(as func(byte) (head int, more, ok bool), end func(b []byte, units int) int) (units, stop int) {
	at := s.at
	for more := true; more; {
		if at >= len(s.b) {
			return 0, -1
		}
		head, another, ok := as(s.b[at])
		if !ok || at+head > len(s.b) {
			return 0, -1
		}
		n := chunkLen(s.b[at : at+head])
		at += head
		size := end(s.b[at:], n)
		if size < 0 || size > len(s.b)-at {
			return 0, -1
		}
		units, at, more = units+n, at+size, another
	}
	return units, at
}

// int takes an int from 0 to most.
func (s *bodyScrubber) int(most int) (n int, ok bool) {
	if s.at >= len(s.b) {
		return 0, false
	}
	g := grammar[s.b[s.at]]
	stop := s.at + int(g.size)
	if g.rule != integer || stop > len(s.b) {
		return 0, false
	}
	n = int(number(s.b[s.at:stop]))
	s.at = stop
	return n, n >= 0 && n <= most
}

// reference takes a reference to an object.
func (s *bodyScrubber) reference() bool {
	at := s.at
	s.at++
	_, ok := s.int(s.objects - 1)
	return ok && !s.copied && bytes.IndexByte(s.b[at:s.at], '$') < 0 // which may begin a path
}

// list takes a list.
func (s *bodyScrubber) list(op byte) bool {
	s.at++
	n := int(op & 7)
	if (op == 'U' || op == 'V' || op >= 0x70 && op <= 0x77) && !s.typeName() {
		return false
	}
	if op != 'W' {
		s.objects++
	}
	if op == 'V' || op == 'X' {
		var ok bool
		if n, ok = s.int(len(s.b) - s.at); !ok || n > len(s.b)-s.at {
			return false
		}
	}
	if op != 'U' && op != 'W' {
		return s.values(n)
	}
	for s.at < len(s.b) && s.b[s.at] != 'Z' {
		if !s.value() {
			return false
		}
	}
	s.at++
	return s.at <= len(s.b)
}

// typeName takes the type of a list or a map.
func (s *bodyScrubber) typeName() bool {
	v := s.plain()
	if v == nil {
		_, ok := s.int(s.types - 1)
		return ok
	}
	s.types++
	can, known := s.typeNames[string(v)]
	if !known {
		name := string(v)
		can = utf8.ValidString(name) && decode.CanBeName(newListType(name).name) && name != javaClass
		s.typeNames[name] = can && s.room(len(name))
	}
	return can
}

// javaClass is the class of values that are names.
const javaClass = "java.lang.Class"

// room adds the bytes of a new key of definitions or typeNames and reports whether there is room for more.
func (s *bodyScrubber) room(n int) bool {
	s.kept += n + 64
	return s.kept <= maxKeys
}

// dict takes a map, or the attachments.
func (s *bodyScrubber) dict(op byte, attachments bool) bool {
	s.at++
	if op == 'M' && !s.typeName() {
		return false
	}
	s.objects++
	for s.at < len(s.b) && s.b[s.at] != 'Z' {
		at := s.at
		key := s.plain()
		switch {
		case string(key) == "class", string(key) == "$ref": // the map may stand for an object, or the value be a path
			return false
		case attachments:
			if key == nil || !s.attachment(key) {
				return false
			}
			continue
		case key == nil && !s.value(), key != nil && !s.replaceText(at, key):
			return false
		}
		if s.nodes++; !s.value() {
			return false
		}
	}
	s.at++
	return s.at <= len(s.b)
}

// attachments takes the attachments.
func (s *bodyScrubber) attachments() bool {
	if s.at >= len(s.b) {
		return false
	}
	switch op := s.b[s.at]; grammar[op].rule {
	case null:
		s.at++
		return true
	case dict:
		s.depth++
		return s.dict(op, true)
	}
	return false
}

// attachment takes the value of an attachment. It stays if it says what is called.
func (s *bodyScrubber) attachment(key []byte) bool {
	at := s.at
	group := string(key) == "group"
	v := s.plain()
	if v == nil {
		return !group && s.value()
	}
	s.nodes += 2
	if decode.MayNameCallee(key) {
		if !utf8.Valid(v) {
			return false
		}
		if decode.NamesCallee(string(key), string(v)) {
			return true
		}
	}
	return !group && s.replaceText(at, v)
}

// object takes an object, after the definitions of classes in front of it.
func (s *bodyScrubber) object() bool {
	for s.at < len(s.b) && s.b[s.at] == 'C' {
		if !s.definition() {
			return false
		}
	}
	if s.at >= len(s.b) {
		return false
	}
	op := s.b[s.at]
	s.at++
	i, ok := int(op-0x60), true
	switch {
	case op == 'O':
		i, ok = s.int(len(s.classes) - 1)
	case op < 0x60 || op > 0x6f || i >= len(s.classes):
		return false
	}
	if !ok {
		return false
	}
	s.objects++
	switch c := s.classes[i]; c.means {
	case nothing:
		return s.values(c.fields)
	case enumConstant:
		return s.constant(c)
	case decimalText:
		return s.decimal()
	case sqlDate:
		return s.date()
	}
	return false
}

// constant takes the name of an enum constant, which stays. What may be a bean is left to a tree.
func (s *bodyScrubber) constant(c *scrubbedClass) bool {
	v := s.plain()
	if v == nil || !isConstant(string(v)) || len(s.constants) == maxConstants {
		return false
	}
	again := func(k scrubbedConstant) bool { return k.class == c && string(k.name) == string(v) }
	if c.kind != surelyEnum && slices.ContainsFunc(s.constants, again) {
		return false
	}
	s.constants = append(s.constants, scrubbedConstant{c, v})
	return true
}

// decimal takes the field of a decimal, its digits.
func (s *bodyScrubber) decimal() bool {
	at := s.at
	v := s.plain()
	if v == nil || !isDecimal(string(v)) {
		return false
	}
	s.copied = true
	if s.m == nil {
		return !s.again.Covers(at, s.at)
	}
	wire.MapUTF8(v, decode.Decimal, s.m)
	return isDecimal(string(v))
}

// date takes the field of a date of java.sql. One of less than a minute since 1970 may be taken for a part of a date.
func (s *bodyScrubber) date() bool {
	if s.at >= len(s.b) || grammar[s.b[s.at]].rule != date {
		return false
	}
	stop := s.at + int(grammar[s.b[s.at]].size)
	if stop > len(s.b) || len(bytes.TrimLeft(s.b[s.at+1:stop], "\x00")) < 2 {
		return false
	}
	s.copied = true
	return s.replace(stop, decode.Date)
}

// definition takes the definition of a class. All of its texts are short.
func (s *bodyScrubber) definition() bool {
	from := s.at
	s.at++
	if s.plain() == nil {
		return false
	}
	n, ok := s.int(len(s.b) - s.at)
	for k := 0; ok && k < n; k++ {
		ok = s.plain() != nil
	}
	if !ok || len(s.classes) == maxClasses {
		return false
	}
	raw := s.b[from:s.at]
	c := s.definitions[string(raw)]
	if c == nil {
		if !s.room(len(raw)) {
			return false
		}
		c = s.judge(from, n)
		s.definitions[string(raw)] = c
	}
	s.nodes += 2 + n
	s.classes = append(s.classes, c)
	return c.known
}

// judge reads the definition at an offset, which has n fields, and returns what is known of the class.
func (s *bodyScrubber) judge(from, n int) *scrubbedClass {
	stop := s.at
	s.at = from + 1
	name := s.plain()
	encoded := s.b[from+1 : s.at]
	s.int(n)
	var first []byte
	class, fields := string(name), make([]string, n)
	known := class != "" && class != javaClass && utf8.ValidString(class) && decode.CanBeName(class)
	for i := range fields {
		at := s.at
		fields[i] = string(s.plain())
		if i == 0 {
			first = s.b[at:s.at]
		}
		known = known && utf8.ValidString(fields[i]) && decode.CanBeName(fields[i]) && fields[i] != "$ref"
	}
	s.at = stop
	c := &scrubbedClass{fields: n, means: meaningOf(class, fields), kind: calledEnum(class)}
	switch c.means {
	case nothing, enumConstant, decimalText, sqlDate:
		c.known = known && countedAs(encoded, first) == once && compactOf(encoded, n) == ""
	}
	return c
}
