package hessian2

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// printing prints usual values as they are walked: their JSON, or the sizes of their parts. The result is that of a tree. Usual is what
// prints without knowledge of what follows: no class whose objects are not counted once, and of those that stand for something else only the ones in
// print_meaning.go, where values are printed. For anything else, and for errors, printing stops, and the body is read into a tree.
type printing struct {
	to    *decode.Printed // nil: nothing is printed
	parts bool            // parts are printed, not values
	out   []byte
	path  []byte // of the container that is open, with what stands in front of a path, where parts are printed

	classes []*printedClass
	known   map[string]*printedClass // by the bytes of their definitions
	kept    int                      // those bytes
	keys    map[string]segment       // of entries, by their keys
	index   segment                  // scratch

	targets []printedTarget // of references, where values are printed
	within  int32           // the target that is open, -1 for none
	depth   int             // containers that are open
	meant   meant           // objects that stand for something else

	names, overhead int // bytes that are not values
}

// printedClass is a class with what is printed of it.
type printedClass struct {
	fields []printedField
	begin  []byte // of an object, up to its fields
	// valued: values can be printed, as its objects have no meaning or one that prints; distinct: parts can be, as no fields next to each other have one path.
	valued, distinct bool
	class            string
	means            meaning
	kind             kindOfClass // by its name, of an enum
}

// printedField is a field of a class.
type printedField struct {
	name    string
	value   shortText // what stands in front of its value
	segment segment
}

// step is the way to a value from the container around it.
type step struct {
	label   decode.Label
	index   int32
	class   int32 // 1 + the index of that of a field, else 0
	at, end int32 // of an entry: the key, if it is a string; at of a field of the body: which one
}

// at of a field of the body that is a value.
const (
	resultRoot = iota
	argumentRoot
	attachmentsRoot
)

// printedTarget is an object, list or map, with the way to it.
type printedTarget struct {
	step
	up int32 // -1: name is the way
	// copied to copiedTo are what a reference to it prints, of [meant].copies; nothing if that is the way to it.
	copied, copiedTo int32
}

const (
	// maxPrintedPath is far enough below the limit of a path for a segment that is escaped.
	maxPrintedPath = decode.MaxPath / 2
	// maxPrintedName limits names of entries and fields. Longer ones are cut in paths.
	maxPrintedName = 100
	// maxPrintedClass limits the definition of a class, maxPrintedClasses those that are kept of earlier bodies, both in bytes: a field of two bytes takes
	// a hundred times as much.
	maxPrintedClass, maxPrintedClasses = 1 << 12, 1 << 17
	// maxPrintedKeys is the number of keys that are kept of earlier bodies.
	maxPrintedKeys = 1 << 12
)

// Print implements [decode.Printer].
func (r *Reader) Print(to *decode.Printed) {
	p := &r.printing
	p.to, p.parts = to, to.Printing == decode.PrintParts
	p.classes, p.targets = emptied(p.classes), emptied(p.targets)
	p.meant.reset()
	if len(r.Buf) > decode.MaxPrintedBody || r.first {
		r.unusual()
	}
}

// unusual stops printing. It returns -1.
func (r *Reader) unusual() int { return r.fail(decode.Unsupported, "a usual value", "another one") }

// print prints the value at the cursor and counts its bytes.
func (r *Reader) print(l decode.Label, name string, index int, typ string) {
	p, at := &r.printing, r.Off
	p.names, p.overhead, p.within, p.depth = 0, 0, -1, 0
	class, out := decode.ClassValues, &p.to.Values
	s := step{label: l, index: int32(index)}
	switch {
	case l == decode.ByIndex:
		name = "args"
		s.at = argumentRoot
	case name == "attachments":
		class, s.at = decode.ClassAttachments, attachmentsRoot
		out = &p.to.Attachments
	}
	if p.parts {
		out = &p.to.Parts
		p.path = append(append(append(p.path[:0], ','), decode.PartBegin...), name...)
		if l == decode.ByIndex {
			p.path = appendIndex(p.path, index)
		}
	}
	p.out = *out
	stop := 0
	if p.parts {
		if stop = r.leafEnd(at); stop > at {
			p.part(noSegment, stop-at)
		} else {
			stop = r.printContainer(at, s)
		}
	} else {
		stop = r.printValue(at, s, typ == "F" || typ == "Ljava/lang/Float;")
	}
	printed := p.out
	p.out = nil
	if stop < 0 || len(printed) > decode.MaxJSON {
		r.unusual()
		return
	}
	*out, r.Off = printed, stop
	sum, _ := r.Sum()
	if class == decode.ClassAttachments {
		p.names, p.overhead = 0, 0
	}
	sum[decode.ClassNames] += int32(p.names)
	sum[decode.ClassOverhead] += int32(p.overhead)
	sum[class] += int32(stop - at - p.names - p.overhead)
	r.SetSum(sum)
}

// printValue prints the value at an offset and returns the offset after it, -1 if it is not usual.
func (r *Reader) printValue(at int, s step, floats bool) (stop int) {
	if stop = r.printLeaf(at, floats); stop == at {
		return r.printContainer(at, s)
	}
	return stop
}

// printLeaf is printValue for a value without parts. It returns at for a container.
func (r *Reader) printLeaf(at int, floats bool) (stop int) {
	b, p := r.Buf, &r.printing
	if at >= len(b) {
		return -1
	}
	op := b[at]
	if op <= 0x1f && len(b)-at > window { // most texts
		m, from := &asciiMasks[op], (*[window]byte)(b[at+1:])
		if decode.NotPlain(binary.LittleEndian.Uint64(from[:]), m[0])|decode.NotPlain(binary.LittleEndian.Uint64(from[8:]), m[1])|
			decode.NotPlain(binary.LittleEndian.Uint64(from[16:]), m[2])|decode.NotPlain(binary.LittleEndian.Uint64(from[24:]), m[3]) == 0 {
			out, n := p.room(), int(op)
			out[0] = '"'
			*(*[window]byte)(out[1:]) = *from
			out[n+1] = '"'
			p.out = p.out[:len(p.out)+n+2]
			return at + 1 + n
		}
	}
	g := grammar[op]
	stop = at + int(g.size)
	if stop > len(b) {
		return -1
	}
	switch g.rule {
	case integer, long:
		p.out = decode.AppendInt(p.out, number(b[at:stop]))
		return stop
	case text:
		return r.printText(at)
	case definition, object, list, dict:
		return at
	}
	return r.printOther(at, stop, g.rule, floats)
}

// printOther is printLeaf for a value that may end at stop.
func (r *Reader) printOther(at, stop int, g rule, floats bool) int {
	b, p := r.Buf, &r.printing
	switch g {
	case null:
		p.out = append(p.out, "null"...)
	case boolean:
		p.out = strconv.AppendBool(p.out, b[at] == 'T')
	case double:
		bits := 64
		if floats {
			bits = 32
		}
		p.out = decode.AppendFloat(p.out, float(b[at:stop]), bits)
	case date:
		p.out = append(p.out, `{"@date":"`...)
		p.out = append(jdk.AppendInstant(p.out, instant(b[at:stop])), `"}`...)
	case blob:
		chunks := 0
		if stop, chunks = r.bytesEnd(at); stop > 0 {
			p.out = decode.AppendRaw(p.out, r.content(at, stop, chunks))
		}
	case reference:
		return r.printReference(at)
	default:
		return -1
	}
	return stop
}

// room returns memory for at least 2 * window bytes after those that are printed.
func (p *printing) room() *[2 * window]byte {
	if cap(p.out)-len(p.out) < 2*window {
		p.out = slices.Grow(p.out, 2*window)
	}
	return (*[2 * window]byte)(p.out[len(p.out):cap(p.out)])
}

// write prints a text that is mostly short.
func (p *printing) write(s *shortText) {
	if len(s.long) > 0 {
		p.out = append(p.out, s.long...)
		return
	}
	*(*[window]byte)(p.room()[:]) = s.short
	p.out = p.out[:len(p.out)+int(s.n)]
}

// shortText is a text of at most window bytes, which is faster to copy, or a longer one.
type shortText struct {
	short [window]byte
	n     uint8
	long  []byte
}

func newShortText(s []byte) shortText {
	if len(s) > window {
		return shortText{long: s}
	}
	t := shortText{n: uint8(len(s))}
	copy(t.short[:], s)
	return t
}

// printText prints the string at an offset and returns the offset after it, -1 if there is none.
func (r *Reader) printText(at int) (stop int) {
	b, p := r.Buf, &r.printing
	if head, more, _ := asText(b[at]); !more && len(b)-at >= head { // most texts
		from := at + head
		if n := decode.PlainUnits(b[from:], chunkLen(b[at:from])); n >= 0 {
			p.out = append(append(append(p.out, '"'), b[from:from+n]...), '"')
			return from + n
		}
	}
	if stop = r.textEnd(at, expectText); stop < 0 {
		return -1
	}
	start := len(p.out) + 1
	p.out = append(p.out, '"')
	for from := at; from < stop; {
		head, more, _ := asText(b[from])
		units, end := chunkLen(b[from:from+head]), stop
		if more {
			end, _ = skipUnits(b, from+head, units)
		}
		chunk := b[from+head : end]
		if len(chunk) != units && !utf8.Valid(chunk) {
			p.out = decode.AppendEscaped(p.out[:start], r.text(at, stop, false))
			break
		}
		p.out = decode.AppendEscaped(p.out, chunk)
		from = end
	}
	p.out = append(p.out, '"')
	return stop
}

// leafEnd returns the offset after the value at an offset if that has no parts, else an offset that is not greater.
func (r *Reader) leafEnd(at int) (stop int) {
	b := r.Buf
	if at >= len(b) {
		return -1
	}
	g := grammar[b[at]]
	switch {
	case g.size != 0:
		if stop = at + int(g.size); stop <= len(b) {
			return stop
		}
	case g.rule == text:
		return r.textEnd(at, expectText)
	case g.rule == blob:
		stop, _ = r.bytesEnd(at)
		return stop
	case g.rule == reference:
		if i, stop := r.int(at+1, "the index of an object"); stop > 0 && i >= 0 && i < int(r.table.n) {
			return stop
		}
	default:
		return at
	}
	return -1
}

// printReference prints the reference at an offset.
func (r *Reader) printReference(at int) (stop int) {
	p := &r.printing
	i, stop := r.int(at+1, "the index of an object")
	if stop < 0 || i < 0 || i >= len(p.targets) {
		return -1
	}
	if to := &p.targets[i]; to.copiedTo > to.copied {
		if len(p.out) > decode.MaxJSON {
			return -1
		}
		p.out = append(p.out, p.meant.copies[to.copied:to.copiedTo]...)
		return stop
	}
	path := r.appendTarget(p.path[:0], int32(i))
	if p.path = path; len(path) > maxPrintedPath || len(p.out) > decode.MaxJSON {
		return -1
	}
	p.out = decode.AppendReference(p.out, path)
	return stop
}

// appendTarget appends the path of a target.
func (r *Reader) appendTarget(path []byte, i int32) []byte {
	t := &r.printing.targets[i]
	name := ""
	switch {
	case t.up >= 0:
		if path = r.appendTarget(path, t.up); len(path) > maxPrintedPath {
			return path
		}
		switch {
		case t.class > 0:
			name = r.printing.classes[t.class-1].fields[t.index].name
		case t.end > 0:
			name = r.text(int(t.at), int(t.end), true)
		}
		return decode.AppendSegment(path, t.label, name, int(t.index))
	case t.at == argumentRoot:
		return appendIndex(append(path, "args"...), int(t.index))
	case t.at == attachmentsRoot:
		return append(path, "attachments"...)
	}
	return append(path, "result"...)
}

func appendIndex(path []byte, index int) []byte {
	return append(strconv.AppendInt(append(path, '['), int64(index), 10), ']')
}

// printContainer prints the object, list or map at an offset and returns the offset after it, -1 if it is not usual.
func (r *Reader) printContainer(at int, s step) (stop int) {
	b, p := r.Buf, &r.printing
	if at < 0 || at >= len(b) || p.depth >= decode.MaxPrintedDepth || len(p.out) > decode.MaxJSON ||
		p.parts && (len(p.path) > maxPrintedPath || len(p.out) > decode.MaxPrintedParts) {
		return -1
	}
	within := p.within
	if b[at] != 'W' { // an Iterator or Enumeration
		r.table.n++
		if !p.parts {
			p.targets = append(p.targets, printedTarget{step: s, up: within})
			p.within = int32(len(p.targets) - 1)
		}
	}
	p.depth++
	switch grammar[b[at]].rule {
	case definition, object:
		stop = r.printObject(at)
	case list:
		stop = r.printList(at)
	case dict:
		stop = r.printMap(at, &s)
	default:
		stop = -1
	}
	p.depth--
	p.within = within
	return stop
}

// printPart prints the parts of the value at an offset, whose segment of the path is given, and returns the offset after it, -1 if it is not usual.
func (r *Reader) printPart(at int, of segment, s step) (stop int) {
	p := &r.printing
	if stop = r.leafEnd(at); stop > at && len(p.out) <= decode.MaxPrintedParts {
		p.part(of, stop-at)
		return stop
	}
	return r.printWithin(at, of, s)
}

// printWithin is printPart for a container.
func (r *Reader) printWithin(at int, of segment, s step) (stop int) {
	p := &r.printing
	length := len(p.path)
	p.path = append(p.path, of[:len(of)-len(decode.PartMiddle)]...)
	stop = r.printContainer(at, s)
	p.path = p.path[:length]
	return stop
}

// part prints a part of the open container.
func (p *printing) part(of segment, n int) {
	out := append(append(p.out, p.path...), of...)
	if n < 10 {
		p.out = append(out, '0'+byte(n), '}')
		return
	}
	p.out = append(decode.AppendInt(out, int64(n)), decode.PartEnd...)
}

// segment is the last segment of a path, as JSON, with [decode.PartMiddle] after it.
type segment []byte

func newSegment(name string) segment {
	path := decode.AppendSegment([]byte{'x'}, decode.ByField, name, 0)[1:]
	return append(decode.AppendEscaped(nil, path), decode.PartMiddle...)
}

var (
	noSegment                                                          = segment(decode.PartMiddle)
	typeSegment, lengthSegment, endSegment, classSegment, fieldSegment = newSegment("#type"), newSegment("#length"), newSegment("#end"), newSegment("#class"), newSegment("#field")
)

// indexSegment returns the segment of an element. It is valid until the next call.
func (p *printing) indexSegment(i int) segment {
	p.index = append(appendIndex(p.index[:0], i), decode.PartMiddle...)
	return p.index
}

// role prints and counts n bytes of overhead.
func (p *printing) role(of segment, n int) {
	p.overhead += n
	if p.parts {
		p.part(of, n)
	}
}

// printHead takes the definitions of classes in front of an object at an offset, and the number of its class. It returns the offset after that, -1 if they are not
// usual.
func (r *Reader) printHead(at int) (class, stop int) {
	b, p := r.Buf, &r.printing
	for at < len(b) && b[at] == 'C' {
		if at = r.printDefinition(at); at < 0 {
			return 0, -1
		}
	}
	if at >= len(b) {
		return 0, -1
	}
	class = int(b[at] & 15)
	stop = at + 1
	switch {
	case b[at] == 'O':
		if class, stop = r.int(stop, "the index of a class"); stop < 0 {
			return 0, -1
		}
	case b[at]&0xf0 != 0x60:
		return 0, -1
	}
	if class < 0 || class >= len(p.classes) {
		return 0, -1
	}
	p.role(typeSegment, stop-at)
	return class, stop
}

// printObject prints an object, after the definitions of classes in front of it.
func (r *Reader) printObject(at int) (stop int) {
	p := &r.printing
	i, stop := r.printHead(at)
	if stop < 0 {
		return -1
	}
	c := p.classes[i]
	if c.means != nothing && !p.parts {
		return r.printMeaning(stop, i)
	}
	if !p.parts {
		p.out = append(p.out, c.begin...)
	}
	at = stop
	for k := range c.fields {
		f := &c.fields[k]
		if p.parts {
			at = r.printPart(at, f.segment, step{label: decode.ByField, index: int32(k), class: int32(i + 1)})
		} else {
			p.write(&f.value)
			if stop = r.printLeaf(at, false); stop == at {
				stop = r.printContainer(at, step{label: decode.ByField, index: int32(k), class: int32(i + 1)})
			}
			at = stop
		}
		if at < 0 {
			return -1
		}
	}
	if !p.parts {
		p.out = append(p.out, '}')
	}
	return at
}

// printDefinition takes the definition of a class at an offset.
func (r *Reader) printDefinition(at int) (stop int) {
	p := &r.printing
	name := r.textEnd(at+1, "the name of a class")
	if name < 0 {
		return -1
	}
	n, fields := r.count(name, "the number of a class's fields")
	if fields < 0 {
		return -1
	}
	stop = fields
	for range n {
		if stop = r.textEnd(stop, "the name of a field"); stop < 0 {
			return -1
		}
	}
	if stop-at > maxPrintedClass {
		return -1
	}
	c := p.known[string(r.Buf[at:stop])]
	if c == nil {
		c = r.newPrintedClass(at, name, fields, stop, n)
	}
	if p.parts && !c.distinct || !p.parts && !c.valued {
		return -1
	}
	p.classes = append(p.classes, c)
	p.names += stop - fields + name - at
	p.overhead += fields - name
	if p.parts {
		p.part(classSegment, name-at)
		p.part(lengthSegment, fields-name)
		if stop > fields {
			p.part(fieldSegment, stop-fields)
		}
	}
	return stop
}

// newPrintedClass returns the class with n fields that is defined from offset at to stop; name is the end of its name, fields the start of its fields.
func (r *Reader) newPrintedClass(at, name, fields, stop, n int) *printedClass {
	p, b := &r.printing, r.Buf
	class := r.text(at+1, name, true)
	c := &printedClass{fields: make([]printedField, n)}
	names := make([]string, n)
	first, distinct := []byte(nil), true
	for k, from := 0, fields; k < n; k++ {
		end := r.textEnd(from, "the name of a field")
		if k == 0 {
			first = b[from:end]
		}
		s := r.text(from, end, true)
		distinct = distinct && len(s) <= maxPrintedName && (s == "" || s[0] != '#') && (k == 0 || s != names[k-1])
		names[k] = s
		value := append(decode.AppendString([]byte{','}, s), ':')
		c.fields[k] = printedField{s, newShortText(value), newSegment(s)}
		from = end
	}
	wire := b[at+1 : name]
	usual := countedAs(wire, first) == once && compactOf(wire, n) == ""
	c.distinct = usual && distinct
	if c.class, c.means = class, meaningOf(class, names); c.means == enumConstant {
		c.kind = calledEnum(class)
	}
	c.valued = usual && class != "" && c.means.prints()
	c.begin = decode.AppendString([]byte(`{"@class":`), class)
	if p.kept += stop - at; p.known == nil || p.kept > maxPrintedClasses {
		p.known, p.kept = make(map[string]*printedClass), stop-at
	}
	p.known[string(b[at:stop])] = c
	return c
}

// printList prints a list.
func (r *Reader) printList(at int) (stop int) {
	b, p := r.Buf, &r.printing
	op, n, floats := b[at], untilEnd, false
	stop = at + 1
	if op == 'U' || op == 'V' || op&0xf8 == 0x70 {
		typ := 0
		if typ, stop = r.listType(stop); stop < 0 {
			return -1
		}
		floats = r.types[typ].floats
		p.role(typeSegment, stop-at)
		at = stop
	}
	switch {
	case op == 'W':
		if !p.parts { // references know only what the table of objects has
			return -1
		}
		p.role(typeSegment, 1)
	case op == 'V' || op == 'X':
		if n, stop = r.count(stop, "the length of a list"); stop < 0 {
			return -1
		}
		p.role(lengthSegment, stop-at)
	case op >= 0x78:
		n = int(op & 7)
		p.role(lengthSegment, 1)
	case op >= 0x70:
		n = int(op & 7)
	}
	if !p.parts {
		p.out = append(p.out, '[')
	}
	at = stop
	for i := 0; i != n; i++ {
		if n == untilEnd && at < len(b) && b[at] == 'Z' {
			p.role(endSegment, 1)
			at++
			break
		}
		s := step{label: decode.ByIndex, index: int32(i)}
		if p.parts {
			at = r.printPart(at, p.indexSegment(i), s)
		} else {
			if i > 0 {
				p.out = append(p.out, ',')
			}
			at = r.printValue(at, s, floats)
		}
		if at < 0 {
			return -1
		}
	}
	if !p.parts {
		p.out = append(p.out, ']')
	}
	return at
}

// printMap prints a map. of is the way to it.
func (r *Reader) printMap(at int, of *step) (stop int) {
	b, p := r.Buf, &r.printing
	stop = at + 1
	if b[at] == 'M' {
		if _, stop = r.listType(stop); stop < 0 {
			return -1
		}
	}
	p.role(typeSegment, stop-at)
	at = stop
	attachments := p.depth == 1 && of.at == attachmentsRoot
	last, pairs, grouped := "", false, false // the key before, whether the map is printed as a list of pairs
	for i := 0; ; i++ {
		if at >= len(b) {
			return -1
		}
		if b[at] == 'Z' {
			p.role(endSegment, 1)
			switch {
			case p.parts:
			case pairs:
				p.out = append(p.out, "]}"...)
			case i == 0:
				p.out = append(p.out, "{}"...)
			default:
				p.out = append(p.out, '}')
			}
			return at + 1
		}
		value := step{label: decode.ByEntry, index: int32(i)}
		name := ""
		isText := grammar[b[at]].rule == text
		if isText {
			if stop = r.textEnd(at, "a key"); stop < 0 {
				return -1
			}
			value.at, value.end = int32(at), int32(stop)
			name = r.text(at, stop, true)
			if attachments && name == "group" && !grouped {
				end := -1
				if stop < len(b) && grammar[b[stop]].rule == text {
					end = r.textEnd(stop, expectText)
				}
				if end < 0 {
					return -1
				}
				p.to.Group, grouped = r.text(stop, end, true), true
			}
		}
		if p.parts {
			if len(name) > maxPrintedName || name != "" && (name[0] == '#' || name == last) {
				return -1
			}
			last = name
			at = r.printEntry(at, i, name, value)
		} else {
			usual := isText && !(name != "" && name[0] == '@')
			switch {
			case i == 0 && usual:
				p.out = append(p.out, '{')
			case i == 0:
				p.out = append(p.out, `{"@map":[[`...)
				pairs = true
			case pairs:
				p.out = append(p.out, ",["...)
			case usual:
				p.out = append(p.out, ',')
			default:
				return -1
			}
			if at = r.printValue(at, step{label: decode.ByKey, index: int32(i)}, false); at < 0 {
				return -1
			}
			if pairs {
				p.out = append(p.out, ',')
			} else {
				p.out = append(p.out, ':')
			}
			if at = r.printValue(at, value, false); pairs {
				p.out = append(p.out, ']')
			}
		}
		if at < 0 {
			return -1
		}
	}
}

// printEntry prints the parts of entry i of a map, which have one path if key and value have no parts. name is the key if that is a string.
func (r *Reader) printEntry(at, i int, name string, value step) (stop int) {
	p := &r.printing
	of := p.indexSegment(i)
	if name != "" {
		of = p.keySegment(name)
	}
	key := 0
	if stop = r.leafEnd(at); stop > at {
		key, at = stop-at, stop
	} else {
		if at = r.printWithin(at, of, step{label: decode.ByKey, index: int32(i)}); at < 0 {
			return -1
		}
		last := p.out[max(0, bytes.LastIndexByte(p.out, '{')):]
		if bytes.Contains(last, typeSegment) || bytes.Contains(last, lengthSegment) {
			return -1 // the value may begin with a part of the same path, and these are one part
		}
		of = p.indexSegment(i) // others were made
	}
	if stop = r.leafEnd(at); stop > at && len(p.out) <= decode.MaxPrintedParts {
		p.part(of, key+stop-at)
		return stop
	}
	if key > 0 {
		p.part(of, key)
	}
	return r.printWithin(at, of, value)
}

// keySegment returns the segment of an entry.
func (p *printing) keySegment(name string) segment {
	of, ok := p.keys[name]
	if !ok {
		if p.keys == nil || len(p.keys) >= maxPrintedKeys {
			p.keys = make(map[string]segment)
		}
		of = newSegment(name)
		p.keys[name] = of
	}
	return of
}
