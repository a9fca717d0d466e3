package jsonlines

import (
	"bytes"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// printing prints a text that was counted, and so has the form of JSON: its values, or the sizes of its parts. The result is that of a tree.
// Objects whose keys begin with "@", beans that name their class, and bodies beyond the limits need one.
type printing struct {
	to *decode.Printed // nil: nothing is printed
	// Only a tree tells what an attachment "group" means, which says what group of providers is meant, and what a member "class".
	group, class bool
	out          []byte
	parts        decode.PartPrinter
	punct        int // bytes of the open container that no part has yet
	stack        []printedContainer
}

// printedContainer is a container that is open.
type printedContainer struct {
	n      int // members or elements so far
	object bool
	keyed  bool // its keys are values
}

// PrintWhole implements [decode.WholePrinter].
func (r *Reader) PrintWhole(to *decode.Printed) { r.printing.to = to }

// Print implements [decode.Printer].
func (r *Reader) Print(to *decode.Printed) {
	r.printing.to = to
	if r.prefixed || r.proto {
		r.unusual()
	}
}

// unusual stops printing.
func (r *Reader) unusual() {
	r.Fail(decode.Unsupported, "a text that prints without a tree", "another one")
}

// printLine prints the part that is the line end after a text.
func (r *Reader) printLine(l decode.Label, n int) {
	p := &r.printing
	if p.to == nil || p.to.Printing != decode.PrintParts || !r.OK() {
		return
	}
	p.parts.Begin(p.to.Parts, l)
	p.parts.Part(decode.ByRole, "line", 0, n)
	p.to.Parts, p.parts.Out = p.parts.Out, nil
}

// printLeaf takes and prints a text that is neither an object nor a list.
func (r *Reader) printLeaf(l decode.Label, name string, index, open int) {
	text := r.Buf[r.Off:r.end]
	if !isLeaf(text) {
		r.unusual()
		return
	}
	r.document(l, name, index, open)
	if r.OK() && (r.Off != r.end || r.fault != nil || !r.print(l, name, index, text)) {
		r.unusual()
	}
}

// isLeaf reports whether a text is a JSON string, a number, null, true or false.
func isLeaf(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	switch c := text[0]; {
	case c == '"':
		return stringEnd(text, 0) == len(text)
	case c == '-' || c-'0' <= 9:
		var plain writer
		return plain.scanNumber(text, 0).end == len(text)
	}
	return string(text) == "null" || string(text) == "true" || string(text) == "false"
}

// print prints a whole text. It returns false if that needs a tree.
func (r *Reader) print(l decode.Label, name string, index int, text []byte) (ok bool) {
	p := &r.printing
	if len(r.Buf) > decode.MaxPrintedBody || r.outer == theException ||
		r.fastjson && (bytes.Contains(text, []byte(`"@`)) || bytes.Contains(text, []byte(referenceStart))) {
		return false
	}
	attachments := name == "attachments"
	p.group, p.class = attachments, r.classLast
	out := &p.to.Values
	switch {
	case p.to.Printing == decode.PrintParts:
		out = &p.to.Parts
	case attachments:
		out = &p.to.Attachments
	}
	if p.to.Printing == decode.PrintValues {
		p.out = *out
		ok = p.values(text)
		*out, p.out = p.out, nil
		return ok
	}
	p.parts.Begin(*out, l)
	ok = r.printParts(text, l, name, index, attachments || r.outer == aMap)
	*out, p.parts.Out = p.parts.Out, nil
	return ok
}

// values prints the values.
func (p *printing) values(text []byte) bool {
	depth := 0
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end := stringEnd(text, i)
			token := text[i+1 : end-1]
			if len(token) > 0 && (token[0] == '@' || token[0] == '\\' || p.hasMeaning(token)) && isKey(text[end:]) {
				return false
			}
			if bytes.IndexByte(token, '\\') < 0 && utf8.Valid(token) {
				p.out = decode.AppendString(p.out, token)
			} else {
				p.out = decode.AppendString(p.out, Unquote(token))
			}
			i = end
		case c == '-' || c-'0' <= 9:
			i = p.number(text, i)
		case isSpace(c):
			i++
		default: // punctuation, and the letters of null, true and false
			switch c {
			case '{', '[':
				if depth++; depth > decode.MaxPrintedDepth || len(p.out) > decode.MaxJSON {
					return false
				}
			case '}', ']':
				depth--
			case 'B', 'S', 'L', 'F', 'D': // fastjson's letters for the types of numbers
				return false
			}
			p.out = append(p.out, c)
			i++
		}
	}
	return len(p.out) <= decode.MaxJSON
}

// isKey reports whether what follows a text says that it is a key.
func isKey(text []byte) bool {
	for _, c := range text {
		if !isSpace(c) {
			return c == ':'
		}
	}
	return false
}

// number prints the number at offset i and returns the offset after it.
func (p *printing) number(text []byte, i int) int {
	k := i
	for k < len(text) && text[k]-'0' <= 9 {
		k++
	}
	if digits := k - i; digits > 0 && digits < 19 && (digits == 1 || text[i] != '0') && k < len(text) && text[k] != '.' && text[k]|0x20 != 'e' {
		p.out = append(p.out, text[i:k]...) // as mostly
		return k
	}
	var plain writer
	n := plain.scanNumber(text, i)
	digits := text[i:n.end]
	switch v := n.value(digits); v.kind {
	case decode.Int:
		p.out = decode.AppendInt(p.out, v.num)
	case decode.Float64:
		if v.isExact(digits, &n) {
			p.out = append(p.out, digits...)
		} else {
			p.out = decode.AppendFloat(p.out, v.float, 64)
		}
	default:
		p.out = append(p.out, `{"@decimal":`...)
		p.out = append(decode.AppendString(p.out, digits), '}')
	}
	return n.end
}

// printParts prints the sizes of the parts. keyed: the keys of the outermost object are values.
func (r *Reader) printParts(text []byte, l decode.Label, name string, index int, keyed bool) bool {
	p := &r.printing
	if c := text[0]; c != '{' && c != '[' {
		p.parts.Part(l, name, index, len(text))
		return true
	}
	p.stack = p.stack[:0]
	p.open(text[0], l, name, index)
	p.stack[0].keyed = keyed
	for i := 1; i < len(text); {
		switch c := text[i]; {
		case c == ',' || isSpace(c):
			p.punct++
			i++
			continue
		case c == '}' || c == ']':
			p.punct++
			p.endPunct()
			p.parts.Close()
			p.stack = p.stack[:len(p.stack)-1]
			i++
			continue
		}
		in := &p.stack[len(p.stack)-1]
		l, name, index = decode.ByIndex, "", in.n
		in.n++
		p.endPunct()
		if in.object {
			end := stringEnd(text, i)
			ok := false
			if name, ok = r.printedKey(text[i+1 : end-1]); !ok {
				return false
			}
			l = decode.ByMember
			if in.keyed {
				l = decode.ByKey
			}
			p.parts.Part(l, name, index, end-i)
			for i = end; text[i] == ':' || isSpace(text[i]); i++ {
				p.punct++
			}
			p.endPunct()
			l = decode.ByEntry
		}
		if !p.parts.HasRoom() {
			return false
		}
		if c := text[i]; c == '{' || c == '[' {
			if len(p.stack) >= decode.MaxPrintedDepth {
				return false
			}
			p.open(c, l, name, index)
			i++
			continue
		}
		end := scalarEnd(text, i)
		p.parts.Part(l, name, index, end-i)
		i = end
	}
	return true
}

// open begins a container.
func (p *printing) open(c byte, l decode.Label, name string, index int) {
	p.parts.Open(l, name, index)
	p.stack = append(p.stack, printedContainer{object: c == '{'})
	p.punct = 1
}

// endPunct prints the punctuation of the open container.
func (p *printing) endPunct() {
	p.parts.Part(decode.ByRole, "punct", 0, p.punct)
	p.punct = 0
}

// printedKey returns the text of a key, which is given as it is between the quotes. It returns false if only a tree can tell the meaning of the key.
func (r *Reader) printedKey(key []byte) (name string, ok bool) {
	if r.printing.hasMeaning(key) {
		return "", false
	}
	if bytes.IndexByte(key, '\\') >= 0 {
		name = Unquote(key)
	} else {
		name = r.Name(key)
	}
	return name, name == "" || name[0] != '@'
}

// hasMeaning reports whether a key, which is given as it is between the quotes, may have a meaning that only a tree tells.
func (p *printing) hasMeaning(key []byte) bool {
	return p.group && string(key) == "group" || p.class && string(key) == "class" || (p.group || p.class) && bytes.IndexByte(key, '\\') >= 0
}

// scalarEnd returns the offset after the text, number or word at offset i.
func scalarEnd(text []byte, i int) int {
	if text[i] == '"' {
		return stringEnd(text, i)
	}
	for i < len(text) && text[i] != ',' && text[i] != '}' && text[i] != ']' && !isSpace(text[i]) {
		i++
	}
	return i
}
