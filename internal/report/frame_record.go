package report

import (
	"bytes"
	"cmp"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/term"
)

// Frames appends the JSON records of frames. Inputs are the names of files by index. A Frames belongs to one goroutine.
type Frames struct {
	Inputs []string
	// Depth is the maximum number of path segments of parts; 0 means no limit.
	Depth int
	// Redact omits error messages, and map keys in paths.
	Redact bool
	// rest and fields are scratch.
	rest   []byte
	fields []rpc.HeaderField
}

// AppendJSON appends the record of a frame without a line end. It uses the result of Prepare if the row has it.
func (p *Frames) AppendJSON(dst []byte, r *pipeline.Row) []byte {
	f := Record{JSON: append(dst, '{')}
	p.first(&f, r)
	if rest, ok := r.Prepared.([]byte); ok {
		f.JSON = append(f.JSON, rest...)
	} else {
		p.appendRest(&f, r)
	}
	return append(f.JSON, '}')
}

// first appends the members that depend on earlier frames.
func (p *Frames) first(f *Record, r *pipeline.Row) {
	f.Int("frame", r.Number)
	f.Text("file", fileOf(p.Inputs, r.Msg.Last.File))
	f.time("time", r.Msg.Last.Time)
	f.Int("connection", int64(r.Conn.Number))
}

// Prepare returns the part of a frame's record that does not depend on earlier frames.
func (p *Frames) Prepare(r *pipeline.Row) any {
	f := Record{JSON: p.rest[:0], sep: true}
	p.appendRest(&f, r)
	p.rest = f.JSON
	return bytes.Clone(f.JSON)
}

func (p *Frames) appendRest(f *Record, r *pipeline.Row) {
	m := r.Msg
	f.Text("src", r.Conn.Ends[r.Side])
	f.Text("dst", r.Conn.Ends[1-r.Side])
	f.Text("protocol", m.Protocol.Name)
	f.Text("kind", m.Kind.String())
	f.bool("twoWay", m.TwoWay)
	f.number("id", int64(m.Exchange)) // as ID does
	if !m.Protocol.Numbered && !m.Kind.Control() {
		f.Int("message", int64(m.Ordinal)+1)
	}
	if !m.NoBody() {
		f.Text("serialization", m.SerializationName())
	}
	f.OptionalInt("serializationId", int64(m.SerializationID))
	if m.HeaderFormat != nil {
		f.Text("headerSerialization", m.HeaderFormat.Name)
	}
	if !m.Request && (m.Status >= 0 || m.Ends) { // it comes with the last message
		f.OptionalInt("status", int64(m.Status))
		f.OptionalText("statusText", m.StatusText())
	} else if m.Status > 0 {
		f.Int("requestStatus", int64(m.Status)) // Dubbo always writes 0
	}
	f.Int("headerBytes", int64(m.HeaderLen))
	f.Int("bodyBytes", int64(m.BodyLen))
	if m.Encoding != "" {
		f.Text("encoding", m.Encoding)
		f.OptionalInt("uncompressedBytes", int64(m.UncompressedLen))
	}
	f.bool("complete", m.Complete)
	f.bool("foundByResync", m.Resync)
	f.Int("firstPacket", m.First.Packet)
	f.Int("lastPacket", m.Last.Packet)
	if m.Stalled > 0 {
		f.Micros("stalledMicros", m.Stalled)
	}
	if !m.Request && m.Protocol.PlainHTTP {
		f.product(r.Conn.Product(r.Side, m.Product()))
	}
	f.envelope(m, !p.Redact)
	p.headerParts(f, m)
	if m.Tree != nil {
		m.Tree.Redact = p.Redact
	}
	if m.Tree != nil || m.Printed != nil || f.isCSV() && m.Decoded != "" {
		p.appendParts(f, m)
		f.Text("decoded", m.Decoded)
		if m.Err != nil {
			// The offset is from the start of the frame, as if its body was not compressed.
			f.Int("undecodedAt", int64(m.HeaderLen)+int64(m.Err.At))
			f.Text("cause", m.Err.Cause.String())
			f.Text("error", errorText(m.Err, p.Redact))
		}
	}
}

// product appends the product of a server, null if it is not known.
func (f *Record) product(name string) { f.nullable("product", name, name == "") }

// fileOf returns the name of an input, "" if it is unknown.
func fileOf(inputs []string, i int) string {
	if i < len(inputs) {
		return inputs[i]
	}
	return ""
}

// envelope appends the names, types and result kind of a message, and its error message if texts.
func (f *Record) envelope(m *rpc.Message, texts bool) {
	if n := m.Operation; n != nil {
		if n.ProtocolVersion != "" || m.Protocol.Numbered {
			f.Text("dubboVersion", n.ProtocolVersion)
		}
		f.nullable("service", n.Service, n.ServiceNull)
		if n.Version != "" || m.Protocol.Numbered {
			f.nullable("version", n.Version, n.VersionNull)
		}
		f.OptionalText("group", m.Group)
		f.Text("method", n.Method)
		if n.Types != nil {
			f.list("parameterTypes", n.Types)
		}
		f.OptionalText("layout", n.Layout)
	}
	switch m.ResultKind {
	case 0, 3:
		f.Text("resultKind", "exception")
	case 1, 4:
		f.Text("resultKind", "value")
	case 2, 5:
		f.Text("resultKind", "null")
	}
	f.OptionalText("exceptionClass", m.ExceptionClass)
	if texts && (m.HasErrorText || f.isCSV()) {
		f.Text("errorMessage", cmp.Or(m.ErrorMessage, m.ExceptionMessage)) // a failed call of Triple may have both
	}
}

// appendParts appends the header and the leaves of the body.
func (p *Frames) appendParts(f *Record, m *rpc.Message) {
	if f.isCSV() {
		return
	}
	f.beginParts("parts")
	f.part("header", int(m.HeaderLen))
	if m.Printed != nil {
		f.JSON = append(f.JSON, m.Printed.Parts...)
		f.endParts()
		return
	}
	if m.Plain != nil {
		f.part(decode.CompressedPath, m.BodyLen)
		f.endParts()
		f.beginParts("uncompressedParts")
	}
	compressed := m.Plain == nil && m.Encoding != "" // and what is inside is not known
	m.Tree.EachPart(p.Depth, func(path []byte, class decode.Class, _, bytes int) {
		if compressed && class == decode.ClassOpaque {
			f.part(decode.CompressedPath, bytes)
			return
		}
		f.separatePart()
		f.JSON = decode.AppendPart(f.JSON, path, bytes)
	})
	f.endParts()
}

// headerParts appends the fields of the header, for protocols whose headers vary.
func (p *Frames) headerParts(f *Record, m *rpc.Message) {
	if f.isCSV() || m.Protocol.HeaderLen > 0 || m.Protocol.Header == nil {
		return
	}
	f.beginParts("headerParts")
	p.fields = m.Protocol.Header(p.fields[:0], m, false)
	for i := range p.fields {
		f.part(p.fields[i].Name, p.fields[i].Len)
	}
	f.endParts()
}

func (f *Record) beginParts(name string) {
	f.Name(name)
	f.JSON = append(f.JSON, '[')
}

func (f *Record) endParts() { f.JSON = append(f.JSON, ']') }

// part appends a part to the list that was begun.
func (f *Record) part(path string, bytes int) {
	f.separatePart()
	f.JSON = decode.AppendPart(f.JSON, path, bytes)
}

// separatePart separates the next part from those before it.
func (f *Record) separatePart() {
	if f.JSON[len(f.JSON)-1] != '[' {
		f.JSON = append(f.JSON, ',')
	}
}

// errorText describes an error, without the bytes that were found if redact.
func errorText(e *decode.Error, redact bool) string {
	s := ""
	expected, found := ErrorTexts(e, redact)
	if expected != "" {
		s = "expected " + expected
	}
	if found != "" {
		s += ", found " + found
	}
	if e.Misfit != nil && e.Misfit.Text() != "" {
		s += "; " + e.Misfit.Text()
	}
	return s
}

// ErrorTexts returns what was expected and what was found where decoding stopped, the latter not if redact.
func ErrorTexts(e *decode.Error, redact bool) (expected, found string) {
	if !redact {
		found = term.GroupIn(e.Found, "bytes", "captured", "of")
	}
	return term.GroupIn(e.Expected), found
}
