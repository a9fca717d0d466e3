package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// WriteJSON prints the report as JSON, with members in a stable order. buckets adds the histograms, so that Read can read the
// report.
func (r *Report) WriteJSON(w io.Writer, buckets bool) error {
	return r.writeJSON(w, buckets, false)
}

// WriteLine prints the report as JSON on one line.
func (r *Report) WriteLine(w io.Writer) error { return r.writeJSON(w, false, true) }

// writeJSON encodes one group at a time, so the JSON of many groups is never in memory as a whole.
func (r *Report) writeJSON(w io.Writer, buckets, flat bool) error {
	p := newJSONPrinter(w, flat)
	p.object(r.jsonHead(buckets))
	p.member("groups")
	p.write("[")
	var j jsonGroup
	for i, g := range r.Groups {
		if i > 0 {
			p.write(",")
		}
		p.line(2)
		r.jsonGroup(&j, g, buckets)
		p.group = j.appendTo(p.group[:0])
		p.compact(p.group, 2)
		if p.err != nil {
			return p.err
		}
	}
	if len(r.Groups) > 0 {
		p.line(1)
	}
	p.write("]")
	for _, w := range r.Worst {
		p.member(string(w.Preset))
		p.value(r.jsonCalls(w), 1)
	}
	p.line(0)
	p.write("}\n")
	return p.flush()
}

// WriteJSON prints a value as indented JSON, in the layout of reports.
func WriteJSON(w io.Writer, v any) error { return writeJSON(w, v, false) }

// writeJSON prints v and a line end; flat puts all on one line.
func writeJSON(w io.Writer, v any, flat bool) error {
	p := newJSONPrinter(w, flat)
	p.value(v, 0)
	p.write("\n")
	return p.flush()
}

// jsonPrinter encodes values with encoding/json, indented by one space per level. It keeps the first error.
type jsonPrinter struct {
	w    *bufio.Writer
	text bytes.Buffer
	enc  *json.Encoder // to text
	flat bool          // all in one line
	err  error

	group, indented []byte
}

func newJSONPrinter(w io.Writer, flat bool) *jsonPrinter {
	p := &jsonPrinter{w: bufio.NewWriter(w), flat: flat}
	p.enc = newEncoder(&p.text)
	return p
}

func (p *jsonPrinter) write(s string) { _, _ = p.w.WriteString(s) }

func (p *jsonPrinter) flush() error {
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}

// line begins a line, indented to a level.
func (p *jsonPrinter) line(level int) {
	if p.flat {
		return
	}
	p.write("\n")
	for range level {
		p.write(" ")
	}
}

// compact prints JSON without spaces on a line of a level.
func (p *jsonPrinter) compact(text []byte, level int) {
	if !p.flat {
		p.indented = appendIndented(p.indented[:0], text, level)
		text = p.indented
	}
	_, _ = p.w.Write(text)
}

// value prints v on a line of a level.
func (p *jsonPrinter) value(v any, level int) { _, _ = p.w.Write(p.encode(v, level)) }

func (p *jsonPrinter) encode(v any, level int) []byte {
	p.text.Reset()
	var err error
	text := []byte(nil)
	if m, ok := v.(json.Marshaler); ok {
		text, err = m.MarshalJSON() // which writes it as it is
	} else {
		err = p.enc.Encode(v)
		text = bytes.TrimRight(p.text.Bytes(), "\n")
	}
	if err != nil && p.err == nil {
		p.err = err
	}
	if p.flat {
		return text
	}
	p.indented = appendIndented(p.indented[:0], text, level)
	return p.indented
}

// object prints an object without its closing brace, so that members can follow.
func (p *jsonPrinter) object(v any) {
	_, _ = p.w.Write(bytes.TrimRight(p.encode(v, 0), "\n}"))
}

// member prints the name of a further top-level member.
func (p *jsonPrinter) member(name string) {
	p.write(",")
	p.line(1)
	p.write(`"` + name + `":`)
	if !p.flat {
		p.write(" ")
	}
}

// appendIndented indents compact JSON. Lists of lists stay on one line: they are the buckets of distributions.
func appendIndented(dst, text []byte, level int) []byte {
	line := func() {
		dst = append(dst, '\n')
		for range level {
			dst = append(dst, ' ')
		}
	}
	nested := 0 // depth within a list of lists
	for i := 0; i < len(text); i++ {
		c := text[i]
		open, closing := c == '[' || c == '{', c == ']' || c == '}'
		if closing && nested == 0 {
			level--
			line()
		}
		dst = append(dst, c)
		switch {
		case c == '"':
			end := i + 1
			for ; text[end] != '"'; end++ {
				if text[end] == '\\' {
					end++
				}
			}
			dst = append(dst, text[i+1:end+1]...)
			i = end
		case open && nested == 0 && (text[i+1] == ']' || text[i+1] == '}'): // empty
			i++
			dst = append(dst, text[i])
		case c == '[' && (nested > 0 || text[i+1] == '['):
			nested++
		case closing && nested > 0:
			nested--
		case nested > 0:
		case open:
			level++
			line()
		case c == ',':
			line()
		case c == ':':
			dst = append(dst, ' ')
		}
	}
	return dst
}

// members is a JSON object with ordered members whose names are known only at run time.
type members []member

type member struct {
	name  string
	value any
}

// MarshalJSON encodes the members in order.
func (m members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := newEncoder(&b)
	b.WriteByte('{')
	for i, x := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		for k, v := range [2]any{x.name, x.value} {
			if err := enc.Encode(v); err != nil {
				return nil, err
			}
			b.Truncate(b.Len() - 1) // the line end
			if k == 0 {
				b.WriteByte(':')
			}
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// newEncoder returns an encoder without HTML escapes.
func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// marshal is json.Marshal without HTML escapes.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	err := newEncoder(&b).Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}
