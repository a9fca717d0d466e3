package report

import (
	"bytes"
	"strconv"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// Frames prints frames as JSON records; Inputs are the names of files by index.
type Frames struct {
	Inputs []string
	// Depth folds parts below that many path segments; 0 keeps all.
	Depth int
	// Redact leaves messages of errors out, and keys of maps out of paths.
	Redact bool
	parts  []decode.Part
	rest   []byte
}

// AppendJSON appends the record of one frame, without a line end. What Prepare returned for its row is used, if it is
// there.
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

// Prepare returns the record of one frame from the first field on that does not depend on what came before.
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
	f.Text("id", m.ID())
	f.Text("serialization", m.SerializationName())
	f.optional("serializationId", int64(m.SerializationID))
	if m.HeaderFormat != nil {
		f.Text("headerSerialization", m.HeaderFormat.Name)
	}
	if !m.Request {
		f.optional("status", int64(m.Status))
		if text := m.StatusText(); text != "" {
			f.Text("statusText", text)
		}
	} else if m.Status > 0 {
		f.Int("requestStatus", int64(m.Status)) // always 0 where Dubbo wrote it
	}
	f.Int("headerBytes", int64(m.HeaderLen))
	f.Int("bodyBytes", int64(m.BodyLen))
	f.bool("complete", m.Complete)
	f.bool("foundByResync", m.Resync)
	f.Int("firstPacket", m.First.Packet)
	f.Int("lastPacket", m.Last.Packet)
	f.envelope(m, !p.Redact)
	if m.Tree != nil || f.isCSV() && m.Decoded != "" {
		p.appendParts(f, m)
		f.Text("decoded", m.Decoded)
		if m.Err != nil {
			// Offsets are counted from the frame's first byte.
			f.Int("undecodedAt", int64(m.HeaderLen)+int64(m.Err.At))
			f.Text("cause", m.Err.Cause.String())
			f.Text("error", errorText(m.Err))
		}
	}
}

// fileOf returns the name of an input, "" if it is unknown.
func fileOf(inputs []string, i int) string {
	if i < len(inputs) {
		return inputs[i]
	}
	return ""
}

// envelope is what a message says of itself; texts asks for those of errors, too.
func (f *Record) envelope(m *rpc.Message, texts bool) {
	if n := m.Operation; n != nil {
		f.Text("dubboVersion", n.ProtocolVersion)
		f.nullable("service", n.Service, n.ServiceNull)
		f.nullable("version", n.Version, n.VersionNull)
		if m.Group != "" {
			f.Text("group", m.Group)
		}
		f.Text("method", n.Method)
		f.list("parameterTypes", n.Types)
	}
	switch m.ResultKind {
	case 0, 3:
		f.Text("resultKind", "exception")
	case 1, 4:
		f.Text("resultKind", "value")
	case 2, 5:
		f.Text("resultKind", "null")
	}
	if m.ExceptionClass != "" {
		f.Text("exceptionClass", m.ExceptionClass)
	}
	if texts && (m.HasErrorText || f.isCSV()) {
		f.Text("errorMessage", m.ErrorMessage+m.ExceptionMessage) // one of them
	}
}

// appendParts prints the leaves of the frame: the header and those of the body.
func (p *Frames) appendParts(f *Record, m *rpc.Message) {
	if f.isCSV() {
		return
	}
	p.parts = m.Tree.Parts(p.parts[:0], p.Depth)
	f.Name("parts")
	f.JSON = append(f.JSON, `[{"path":"header","bytes":`...)
	f.JSON = strconv.AppendInt(f.JSON, int64(m.HeaderLen), 10)
	f.JSON = append(f.JSON, '}')
	for i := range p.parts {
		f.JSON = append(f.JSON, `,{"path":`...)
		f.JSON = decode.AppendString(f.JSON, p.parts[i].Path)
		f.JSON = append(f.JSON, `,"bytes":`...)
		f.JSON = strconv.AppendInt(f.JSON, int64(p.parts[i].Bytes), 10)
		f.JSON = append(f.JSON, '}')
	}
	f.JSON = append(f.JSON, ']')
}

func errorText(e *decode.Error) string {
	s := ""
	if e.Expected != "" {
		s = "expected " + e.Expected
	}
	if e.Found != "" {
		s += ", found " + e.Found
	}
	return s
}

// Calls prints calls as JSON records.
type Calls struct {
	Inputs []string
	// NoValues leaves arguments, results, attachments and messages of exceptions out.
	NoValues bool
	// Redact says of messages of exceptions only how long they are.
	Redact bool
}

// AppendJSON appends the record of one call, without a line end.
func (p *Calls) AppendJSON(dst []byte, c *call.Call) []byte {
	f := Record{JSON: append(dst, '{')}
	p.append(&f, c)
	return append(f.JSON, '}')
}

func (p *Calls) append(f *Record, c *call.Call) {
	req, resp := c.Request, c.Response
	any := req
	if any == nil {
		any = resp
	}
	f.Int("connection", int64(c.Conn.Number))
	if any.Last.File < len(p.Inputs) {
		f.Text("file", p.Inputs[any.Last.File])
	}
	f.Text("id", any.ID())
	f.Text("client", c.Client())
	f.Text("server", c.Server())
	if req != nil {
		f.Int("requestFrame", req.Number)
	}
	if resp != nil {
		f.Int("responseFrame", resp.Number)
	}
	f.Text("protocol", any.Protocol.Name)
	f.Text("serialization", any.SerializationName())
	if any.HeaderSerialization != "" {
		f.Text("headerSerialization", any.HeaderSerialization)
	}
	if req != nil && resp != nil && otherSerialization(req, resp) {
		f.Text("responseSerialization", resp.SerializationName())
	}
	if req != nil && resp != nil && resp.HeaderSerialization != "" {
		f.Text("responseHeaderSerialization", resp.HeaderSerialization)
	}
	p.request(f, req)
	p.response(f, c)
	f.Text("state", c.State().String())
	if n := req.Count(); n > 1 || req != nil && !req.Ends {
		f.Int("requestMessages", int64(n))
	}
	if n := resp.Count(); n > 1 || resp != nil && !resp.Ends {
		f.Int("responseMessages", int64(n))
	}
	if req != nil {
		f.Int("requestBodyBytes", req.BodyBytes())
	}
	if resp != nil {
		f.Int("responseBodyBytes", resp.BodyBytes())
	}
	if req != nil {
		f.Int("requestFrameBytes", req.FrameBytes())
	}
	if resp != nil {
		f.Int("responseFrameBytes", resp.FrameBytes())
	}
	f.time("time", any.FirstTime)
	if ns, ok := c.Latency(); ok {
		f.Micros("latencyMicros", ns)
	} else {
		f.null("latencyMicros")
	}
	if ns, ok := c.Wait(); ok {
		f.Micros("waitMicros", ns)
	} else {
		f.null("waitMicros")
	}
}

// otherSerialization reports whether an answer is in another serialization than its request, by header or by bytes.
func otherSerialization(req, resp *call.Message) bool {
	return req.SerializationID != resp.SerializationID ||
		(req.HeaderSerialization != "" || resp.HeaderSerialization != "") && req.SerializationName() != resp.SerializationName()
}

func (p *Calls) request(f *Record, m *call.Message) {
	if m == nil || m.Operation == nil {
		f.Text("service", call.Unknown)
		f.Text("method", call.Unknown)
		if m != nil {
			p.values(f, "arguments", m)
			f.bool("oneWay", !m.TwoWay)
		}
		return
	}
	n := m.Operation
	f.nullable("service", n.Service, n.ServiceNull)
	f.nullable("version", n.Version, n.VersionNull)
	if m.Group != "" {
		f.Text("group", m.Group)
	}
	f.Text("method", m.Method())
	f.bool("generic", m.GenericMethod != "")
	if m.GenericMethod != "" {
		f.list("parameterTypes", m.GenericTypes)
	} else {
		f.list("parameterTypes", n.Types)
	}
	p.values(f, "arguments", m)
	if !p.NoValues {
		f.values("attachments", m.AttachmentsJSON)
	}
	f.bool("oneWay", !m.TwoWay)
}

// values prints the values of a message; of a streaming call a list of those of all messages.
func (p *Calls) values(f *Record, name string, m *call.Message) {
	switch {
	case p.NoValues:
		return
	case m.Next == nil && m.Ordinal == 0 && m.Ends:
		f.values(name, m.Values)
		return
	}
	list := []byte{'['}
	for k := m; k != nil; k = k.Next {
		if k != m {
			list = append(list, ',')
		}
		if len(k.Values) == 0 {
			list = append(list, "null"...)
		}
		list = append(list, k.Values...)
	}
	f.Raw(name, append(list, ']'))
}

func (f *Record) values(name string, json []byte) {
	if len(json) > 0 {
		f.Raw(name, json)
	}
}

func (p *Calls) response(f *Record, c *call.Call) {
	m := c.Answer()
	if m == nil {
		if c.Aborted != "" {
			f.null("status")
			f.Text("error", c.Aborted)
		}
		return
	}
	switch {
	case m.Failed:
		p.exception(f, "", m.ErrorMessage, m.HasErrorText)
	case m.Exception:
		p.exception(f, m.ExceptionClass, m.ExceptionMessage, m.HasErrorText)
	default:
		p.values(f, "result", c.Response)
	}
	if !p.NoValues {
		f.values("responseAttachments", m.AttachmentsJSON)
	}
	f.optional("status", int64(m.Status))
	switch {
	case c.Aborted != "":
		f.Text("error", c.Aborted)
	case m.Failed:
		f.Text("error", m.StatusName())
	case m.Exception && m.ExceptionClass != "":
		f.Text("error", m.ExceptionClass)
	case m.Exception:
		f.Text("error", "exception")
	}
}

// exception prints what a call failed with; said is false where there is no message.
func (p *Calls) exception(f *Record, class, message string, said bool) {
	if f.isCSV() {
		f.Text("errorMessage", message)
		return
	}
	e := Record{JSON: []byte{'{'}}
	e.nullable("class", class, class == "")
	switch {
	case p.NoValues:
	case p.Redact && said:
		e.Raw("message", decode.RedactedText(nil, message))
	default:
		e.nullable("message", message, !said)
	}
	f.Raw("exception", append(e.JSON, '}'))
}
