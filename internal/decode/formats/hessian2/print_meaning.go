package hessian2

import (
	"slices"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// Objects that stand for a decimal number, a date or time, or an enum constant print as that when their fields were taken, into a small tree of their own.
// Where anything contradicts the meaning, printing stops.

// printedMeanings are the meanings that print.
var printedMeanings = []meaning{nothing, enumConstant, decimalText, sqlDate, localDate, localTime, localDateTime, instantTime}

// meant is what printing needs for objects with a meaning.
type meant struct {
	tree      decode.Tree
	constants map[constant]struct{} // of enums, that the body has had
	copies    []byte                // of what targets of references print, each of which is short
}

// reset forgets the body, and gives back memory that is too large to keep.
func (m *meant) reset() {
	if len(m.constants) > maxKept {
		m.constants = nil
	}
	if cap(m.copies) > maxJoin {
		m.copies = nil
	}
	clear(m.constants)
	m.copies = m.copies[:0]
}

// printMeaning prints the object of class i whose fields are at an offset, and returns the offset after it, -1 if it is not usual.
func (r *Reader) printMeaning(at, i int) (stop int) {
	p := &r.printing
	t := &p.meant.tree
	t.Reset()
	if stop = r.meantObject(at, i, ""); stop > 0 {
		p.out = t.AppendJSON(p.out, 0)
	}
	return stop
}

// meantObject adds the object of class i whose fields are at an offset to the tree, and returns the offset after it, -1 if it is not usual.
func (r *Reader) meantObject(at, i int, name string) (stop int) {
	p, b := &r.printing, r.Buf
	c, t := p.classes[i], &p.meant.tree
	if c.means == nothing || p.depth >= decode.MaxPrintedDepth {
		return -1
	}
	target := p.within
	node := t.Open(decode.Object, decode.ByField, name, 0, 0)
	t.Nodes[node].Class = c.class
	for k := range c.fields {
		if at >= len(b) {
			return -1
		}
		field := c.fields[k].name
		leaf := func(k decode.Kind) *decode.Node { return t.Leaf(k, decode.ByField, field, 0, at, stop) }
		g := grammar[b[at]]
		if stop = at + int(g.size); stop > len(b) {
			return -1
		}
		switch g.rule {
		case integer, long:
			leaf(decode.Int).Num = number(b[at:stop])
		case date:
			leaf(decode.Date).Text = jdk.Instant(instant(b[at:stop]))
		case text:
			if stop = r.textEnd(at, expectText); stop < 0 {
				return -1
			}
			leaf(decode.String).Text = r.text(at, stop, false)
		case definition, object:
			r.table.n++
			p.targets = append(p.targets, printedTarget{step: step{label: decode.ByField, index: int32(k), class: int32(i + 1)}, up: target})
			p.within = int32(len(p.targets) - 1)
			p.depth++
			inner := 0
			if inner, stop = r.printHead(at); stop > 0 {
				stop = r.meantObject(stop, inner, field)
			}
			p.depth--
			if p.within = target; stop < 0 {
				return -1
			}
		default:
			return -1
		}
		at = stop
	}
	t.Close()
	n := t.Node(node)
	if c.means == enumConstant {
		n.Kind, n.Text = decode.Enum, r.printedConstant(node, i)
	} else {
		n.Kind, n.Text = fieldsOf{t, node}.value(c.means)
	}
	if n.Text == "" {
		return -1
	}
	if len(n.Class)+len(n.Text) <= maxCopied { // a reference is a copy
		to := &p.targets[target]
		to.copied = int32(len(p.meant.copies))
		p.meant.copies = t.AppendJSON(p.meant.copies, node)
		to.copiedTo = int32(len(p.meant.copies))
	}
	return at
}

// printedConstant returns the name of the constant that an object of class i is, "" if it may not be one: nothing of the body may change that.
func (r *Reader) printedConstant(node, i int) string {
	p := &r.printing
	name := ""
	if v := (fieldsOf{&p.meant.tree, node}).get("name", decode.String); v != nil {
		name = v.Text
	}
	switch kind := p.classes[i].kind; {
	case kind == surelyEnum:
		return name
	case !isIdentifier(name), kind == likelyEnum && !isConstant(name):
		return ""
	}
	id := constant{i, name}
	if _, again := p.meant.constants[id]; again {
		return ""
	}
	if p.meant.constants == nil {
		p.meant.constants = make(map[constant]struct{})
	}
	p.meant.constants[id] = struct{}{}
	return name
}

// prints reports whether objects with the meaning print.
func (m meaning) prints() bool { return slices.Contains(printedMeanings, m) }
