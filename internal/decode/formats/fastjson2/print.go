package fastjson2

import "dubbo-wire/internal/decode"

// printing prints values, or the sizes of parts, as they are taken without a tree. The result is that of a tree. Documents with references, and with keys that are
// not texts or begin with "@", need one.
type printing struct {
	to          *decode.Printed // nil: nothing is printed
	values      bool            // values are printed, else parts
	parts       decode.PartPrinter
	out         []byte
	depth       int  // containers that are open
	attachments bool // of a request or a response, not values
	scalar      decode.Tree
}

// Print implements [decode.Printer].
func (r *Reader) Print(to *decode.Printed) {
	r.printing.to, r.printing.values = to, to.Printing == decode.PrintValues
	if len(r.body) > decode.MaxPrintedBody {
		r.unusual()
	}
}

// prints reports whether values or parts are printed.
func (r *Reader) prints() bool { return r.printing.to != nil }

// printsValues reports whether values are printed.
func (r *Reader) printsValues() bool { return r.prints() && r.printing.values }

// printsParts reports whether parts are printed.
func (r *Reader) printsParts() bool { return r.prints() && !r.printing.values && r.OK() }

// wanted reports whether texts and numbers are wanted.
func (r *Reader) wanted() bool { return r.printsValues() || r.Values() }

// leaf is Leaf, and prints the part.
func (r *Reader) leaf(k decode.Kind, l decode.Label, name string, index int) *decode.Node {
	if p := &r.printing.parts; r.printsParts() {
		if p.Part(l, name, index, r.Pending()); !p.HasRoom() {
			r.unusual()
		}
	}
	return r.Leaf(k, l, name, index)
}

// role is Role, and prints the part.
func (r *Reader) role(name string) {
	if r.printsParts() {
		r.printing.parts.Part(decode.ByRole, name, 0, r.Pending())
	}
	r.Role(name)
}

// fill is Fill, and prints the part.
func (r *Reader) fill(node int) {
	if r.printsParts() {
		r.printing.parts.Own(r.Pending())
	}
	r.Fill(node)
}

// unusual stops printing.
func (r *Reader) unusual() { r.Fail(decode.Unsupported, "a usual value", "another one") }

// printed calls read for a document, which is printed.
func (r *Reader) printed(l decode.Label, name string, read func()) {
	p := &r.printing
	if p.to == nil {
		read()
		return
	}
	p.attachments, p.depth = name == "attachments", 0
	out := &p.to.Values
	switch {
	case !p.values:
		out = &p.to.Parts
	case p.attachments:
		out = &p.to.Attachments
	}
	p.out = *out
	p.parts.Begin(*out, l)
	read()
	if !p.values {
		p.out = p.parts.Out
	}
	if *out, p.out, p.parts.Out = p.out, nil, nil; len(*out) > decode.MaxJSON {
		r.unusual()
	}
}

// printScalar prints a value without parts.
func (r *Reader) printScalar(s *scalar, class string) {
	p := &r.printing
	if !r.printsValues() || !r.OK() {
		return
	}
	if p.scalar.Nodes == nil {
		p.scalar.Nodes = make([]decode.Node, 1)
	}
	n := &p.scalar.Nodes[0]
	*n = decode.Node{Class: class}
	s.fill(n)
	p.out = p.scalar.AppendJSON(p.out, 0)
}

// printText prints a text.
func (r *Reader) printText(t text) {
	p := &r.printing
	if !p.values {
		return
	}
	if t.op == opASCII && decode.IsASCII(t.raw) {
		p.out = decode.AppendString(p.out, t.raw)
	} else {
		p.out = decode.AppendString(p.out, t.string())
	}
}

// printBegin begins an array or an object; class is "" without a class that is printed.
func (r *Reader) printBegin(c byte, class string) {
	p := &r.printing
	if p.to == nil {
		return
	}
	if p.depth++; p.depth > decode.MaxPrintedDepth || len(p.out) > decode.MaxJSON || !p.values && !p.parts.HasRoom() {
		r.unusual()
		return
	}
	if !p.values {
		return
	}
	if p.out = append(p.out, c); class != "" {
		p.out = decode.AppendString(append(p.out, `"@class":`...), class)
	}
}

// printEnd ends an array or an object.
func (r *Reader) printEnd(c byte) {
	p := &r.printing
	if p.depth--; r.printsValues() {
		p.out = append(p.out, c)
	}
}

// separate prints the comma before an element or a member, unless it is the first one.
func (r *Reader) separate() {
	p := &r.printing
	if !r.printsValues() || len(p.out) == 0 {
		return
	}
	if c := p.out[len(p.out)-1]; c != '[' && c != '{' {
		p.out = append(p.out, ',')
	}
}

// printName prints the name of a member.
func (r *Reader) printName(name string) {
	p := &r.printing
	if !r.printsValues() {
		return
	}
	if r.separate(); len(p.out) > decode.MaxJSON {
		r.unusual()
		return
	}
	p.out = append(decode.AppendString(p.out, name), ':')
}

// printKey prints the key of a map.
func (r *Reader) printKey(name string) {
	p := &r.printing
	if p.to != nil && (name != "" && name[0] == '@' || name == "group" && p.attachments && p.depth == 1) {
		r.unusual() // the attachment tells which group of providers is meant
	}
	r.printName(name)
}
