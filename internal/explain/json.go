package explain

import (
	"encoding/hex"
	"io"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/report"
)

// Schema names the layout of the JSON.
const Schema = "dubbo-wire/explain/1"

// WriteJSON prints the frame as one JSON object: its record in the output of "frames", its call, every part with its offset,
// bytes and value, and the damage. All parts are printed in full; masked bytes have no hex.
func (f *Frame) WriteJSON(w io.Writer) error {
	s := f.subject
	j := report.Record{JSON: []byte{'{'}}
	j.Text("schema", Schema)
	frames := report.Frames{Inputs: make([]string, s.Row.Msg.Last.File+1), Redact: f.redact}
	frames.Inputs[s.Row.Msg.Last.File] = s.File
	j.Name("frame")
	row := *s.Row
	row.Prepared = nil
	j.JSON = frames.AppendJSON(j.JSON, &row)
	if k := s.Call; k != nil {
		c := report.Record{JSON: []byte{'{'}}
		if k.Request > 0 {
			c.Int("requestFrame", k.Request)
		}
		if k.Response > 0 {
			c.Int("responseFrame", k.Response)
			c.OptionalInt("status", int64(k.Status))
		}
		c.Text("state", k.State.String())
		if k.Latency >= 0 {
			c.Micros("latencyMicros", k.Latency)
		}
		j.Name("call")
		j.JSON = append(j.JSON, append(c.JSON, '}')...)
	}
	j.Name("nodes")
	j.JSON = append(j.JSON, '[')
	for i := range f.rows {
		if i > 0 {
			j.JSON = append(j.JSON, ',')
		}
		j.JSON = append(j.JSON, '\n')
		j.JSON = f.appendNode(j.JSON, &f.rows[i])
		if len(j.JSON) > 1<<16 {
			if _, err := w.Write(j.JSON); err != nil {
				return err
			}
			j.JSON = j.JSON[:0]
		}
	}
	j.JSON = append(j.JSON, "\n]"...)
	if u, ok := f.fields(); ok {
		list, err := report.AppendFields(nil, u)
		if err != nil {
			return err
		}
		if string(list) != "[]" {
			j.Name("fields")
			j.JSON = append(j.JSON, list...)
		}
	}
	if d := f.damage; d != nil {
		c := report.Record{JSON: []byte{'{'}}
		c.Int("offset", int64(d.at))
		c.Text("cause", d.cause.String())
		c.OptionalText("expected", d.expected)
		c.OptionalText("found", d.found)
		c.OptionalText("likely", d.likely)
		j.Name("damage")
		j.JSON = append(j.JSON, append(c.JSON, '}')...)
	}
	j.JSON = append(j.JSON, "}\n"...)
	_, err := w.Write(j.JSON)
	return err
}

func (f *Frame) appendNode(dst []byte, r *row) []byte {
	j := report.Record{JSON: append(dst, '{')}
	j.Text("path", r.path)
	j.Int("depth", int64(r.depth))
	j.Text("kind", r.kind)
	j.OptionalText("javaClass", r.javaClass)
	if r.len > 0 {
		j.Int("offset", int64(r.off))
		j.Text("class", r.class)
	}
	j.Int("bytes", int64(r.len))
	if r.container {
		j.Int("totalBytes", int64(r.total))
	}
	t := f.subject.Row.Msg.Tree
	switch {
	case f.subject.Secret == Hidden && r.secret:
	case r.node < 0:
		j.OptionalText("text", r.value)
	case t.Nodes[r.node].Kind == decode.Overhead:
		j.OptionalText("text", r.value)
	case scalar(t.Nodes[r.node].Kind):
		j.Name("value")
		if t.IsName(r.node) {
			j.JSON = decode.AppendString(j.JSON, t.Nodes[r.node].Text)
		} else {
			j.JSON = t.AppendJSON(j.JSON, r.node)
		}
	}
	if raw, shown := f.bytes(r); shown && len(raw) > 0 {
		j.Name("hex")
		j.JSON = append(j.JSON, '"')
		j.JSON = hex.AppendEncode(j.JSON, raw)
		j.JSON = append(j.JSON, '"')
	}
	return append(j.JSON, '}')
}

// scalar reports whether values of this kind are printed as one value; others are printed as their parts.
func scalar(k decode.Kind) bool {
	switch k {
	case decode.List, decode.Map, decode.Object, decode.Overhead, decode.Alias, decode.Missing, decode.Opaque:
		return false
	}
	return true
}
