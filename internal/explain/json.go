package explain

import (
	"encoding/hex"
	"io"
	"strconv"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/report"
)

// Schema names the layout of the JSON.
const Schema = "dubbo-wire/explain/1"

// WriteJSON prints the frame as one JSON object: the record that "frames" has of it, its call, every part with its place,
// bytes and value, and the damage. Nothing is left out, however long; masked bytes have no hex.
func (f *Frame) WriteJSON(w io.Writer) error {
	s := f.subject
	j := object{dst: []byte{'{'}}
	j.str("schema", Schema)
	frames := report.Frames{Inputs: make([]string, s.Row.Msg.Last.File+1), Redact: f.redact}
	frames.Inputs[s.Row.Msg.Last.File] = s.File
	j.key("frame")
	row := *s.Row
	row.Prepared = nil
	j.dst = frames.AppendJSON(j.dst, &row)
	if k := s.Call; k != nil {
		c := object{dst: []byte{'{'}}
		if k.Request > 0 {
			c.num("requestFrame", k.Request)
		}
		if k.Response > 0 {
			c.num("responseFrame", k.Response)
			c.num("status", int64(k.Status))
		}
		c.str("state", k.State.String())
		if k.Latency >= 0 {
			c.key("latencyMicros")
			c.dst = strconv.AppendFloat(c.dst, float64(k.Latency)/1000, 'f', -1, 64)
		}
		j.key("call")
		j.dst = append(j.dst, append(c.dst, '}')...)
	}
	j.key("nodes")
	j.dst = append(j.dst, '[')
	for i := range f.rows {
		if i > 0 {
			j.dst = append(j.dst, ',')
		}
		j.dst = append(j.dst, '\n')
		j.dst = f.appendNode(j.dst, &f.rows[i])
		if len(j.dst) > 1<<16 {
			if _, err := w.Write(j.dst); err != nil {
				return err
			}
			j.dst = j.dst[:0]
		}
	}
	j.dst = append(j.dst, "\n]"...)
	if d := f.damage; d != nil {
		c := object{dst: []byte{'{'}}
		c.num("offset", int64(d.at))
		c.str("cause", d.cause.String())
		c.some("expected", d.expected)
		c.some("found", d.found)
		c.some("likely", d.likely)
		j.key("damage")
		j.dst = append(j.dst, append(c.dst, '}')...)
	}
	j.dst = append(j.dst, "}\n"...)
	_, err := w.Write(j.dst)
	return err
}

func (f *Frame) appendNode(dst []byte, r *row) []byte {
	j := object{dst: append(dst, '{')}
	j.str("path", r.path)
	j.num("depth", int64(r.depth))
	j.str("kind", r.kind)
	j.some("javaClass", r.javaClass)
	if r.len > 0 {
		j.num("offset", int64(r.off))
		j.str("class", r.class)
	}
	j.num("bytes", int64(r.len))
	if r.container {
		j.num("totalBytes", int64(r.total))
	}
	t := f.subject.Row.Msg.Tree
	switch {
	case f.subject.Secret == Hidden && r.secret:
	case r.node < 0:
		j.some("text", r.value)
	case t.Nodes[r.node].Kind == decode.Overhead:
		j.some("text", r.value)
	case scalar(t.Nodes[r.node].Kind):
		j.key("value")
		if t.IsName(r.node) {
			j.dst = decode.AppendString(j.dst, t.Nodes[r.node].Text)
		} else {
			j.dst = t.AppendJSON(j.dst, r.node)
		}
	}
	if raw, shown := f.bytes(r); shown && len(raw) > 0 {
		j.key("hex")
		j.dst = append(j.dst, '"')
		j.dst = hex.AppendEncode(j.dst, raw)
		j.dst = append(j.dst, '"')
	}
	return append(j.dst, '}')
}

// scalar reports whether a value of this kind is printed whole; of others its parts are.
func scalar(k decode.Kind) bool {
	switch k {
	case decode.List, decode.Map, decode.Object, decode.Overhead, decode.Alias, decode.Missing, decode.Opaque:
		return false
	}
	return true
}

// object appends the members of a JSON object.
type object struct {
	dst []byte
	sep bool
}

func (o *object) key(name string) {
	if o.sep {
		o.dst = append(o.dst, ',')
	}
	o.sep = true
	o.dst = append(o.dst, '"')
	o.dst = append(o.dst, name...)
	o.dst = append(o.dst, '"', ':')
}

func (o *object) str(name, v string) {
	o.key(name)
	o.dst = decode.AppendString(o.dst, v)
}

// some leaves an empty text out.
func (o *object) some(name, v string) {
	if v != "" {
		o.str(name, v)
	}
}

func (o *object) num(name string, n int64) {
	o.key(name)
	o.dst = strconv.AppendInt(o.dst, n, 10)
}
