package report

import (
	"bytes"
	"strconv"
	"time"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// fields appends the members of one JSON object to dst, in order. Absent facts are left out.
type fields struct {
	dst []byte
	sep bool
}

func (f *fields) name(name string) {
	if f.sep {
		f.dst = append(f.dst, ',')
	}
	f.sep = true
	f.dst = append(f.dst, '"')
	f.dst = append(f.dst, name...)
	f.dst = append(f.dst, '"', ':')
}

func (f *fields) str(name, v string) {
	f.name(name)
	f.dst = decode.AppendString(f.dst, v)
}

func (f *fields) num(name string, v int64) {
	f.name(name)
	f.dst = strconv.AppendInt(f.dst, v, 10)
}

func (f *fields) bool(name string, v bool) {
	f.name(name)
	f.dst = strconv.AppendBool(f.dst, v)
}

func (f *fields) raw(name string, v []byte) {
	f.name(name)
	f.dst = append(f.dst, v...)
}

func (f *fields) null(name string) {
	f.name(name)
	f.dst = append(f.dst, "null"...)
}

func (f *fields) list(name string, v []string) {
	f.name(name)
	f.dst = append(f.dst, '[')
	for i, s := range v {
		if i > 0 {
			f.dst = append(f.dst, ',')
		}
		f.dst = decode.AppendString(f.dst, s)
	}
	f.dst = append(f.dst, ']')
}

func (f *fields) time(name string, ns int64) {
	f.name(name)
	f.dst = append(f.dst, '"')
	f.dst = time.Unix(0, ns).UTC().AppendFormat(f.dst, "2006-01-02T15:04:05.000000000Z07:00")
	f.dst = append(f.dst, '"')
}

// micros prints nanoseconds as microseconds, exactly.
func (f *fields) micros(name string, ns int64) {
	f.name(name)
	if ns%1000 == 0 {
		f.dst = strconv.AppendInt(f.dst, ns/1000, 10)
		return
	}
	f.dst = strconv.AppendFloat(f.dst, float64(ns)/1000, 'f', -1, 64)
}

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
	f := fields{dst: append(dst, '{')}
	f.num("frame", r.Number)
	f.str("file", p.file(r.Msg.Last.File))
	f.time("time", r.Msg.Last.Time)
	f.num("connection", int64(r.Conn.Number))
	if rest, ok := r.Prepared.([]byte); ok {
		f.dst = append(f.dst, rest...)
	} else {
		p.appendRest(&f, r)
	}
	return append(f.dst, '}')
}

// Prepare returns the record of one frame from the first field on that does not depend on what came before.
func (p *Frames) Prepare(r *pipeline.Row) any {
	f := fields{dst: p.rest[:0], sep: true}
	p.appendRest(&f, r)
	p.rest = f.dst
	return bytes.Clone(f.dst)
}

func (p *Frames) appendRest(f *fields, r *pipeline.Row) {
	m := r.Msg
	f.str("src", r.Conn.Ends[r.Side])
	f.str("dst", r.Conn.Ends[1-r.Side])
	f.str("protocol", m.Protocol.Name)
	f.str("kind", m.Kind.String())
	f.bool("twoWay", m.TwoWay)
	f.str("id", m.ID())
	f.str("serialization", m.SerializationName())
	f.optional("serializationId", int64(m.SerializationID))
	if m.HeaderFormat != nil {
		f.str("headerSerialization", m.HeaderFormat.Name)
	}
	if !m.Request {
		f.optional("status", int64(m.Status))
		if text := m.StatusText(); text != "" {
			f.str("statusText", text)
		}
	} else if m.Status > 0 {
		f.num("requestStatus", int64(m.Status)) // always 0 where Dubbo wrote it
	}
	f.num("headerBytes", int64(m.HeaderLen))
	f.num("bodyBytes", int64(m.BodyLen))
	f.bool("complete", m.Complete)
	f.bool("foundByResync", m.Resync)
	f.num("firstPacket", m.First.Packet)
	f.num("lastPacket", m.Last.Packet)
	f.envelope(m, !p.Redact)
	if m.Tree != nil {
		p.appendParts(f, m)
		f.str("decoded", m.Decoded)
		if m.Err != nil {
			// Offsets are counted from the frame's first byte.
			f.num("undecodedAt", int64(m.HeaderLen)+int64(m.Err.At))
			f.str("cause", m.Err.Cause.String())
			f.str("error", errorText(m.Err))
		}
	}
}

func (p *Frames) file(i int) string {
	if i < len(p.Inputs) {
		return p.Inputs[i]
	}
	return ""
}

// envelope is what a message says of itself; texts asks for those of errors, too.
func (f *fields) envelope(m *rpc.Message, texts bool) {
	if n := m.Operation; n != nil {
		f.str("dubboVersion", n.ProtocolVersion)
		f.nullable("service", n.Service, n.ServiceNull)
		f.nullable("version", n.Version, n.VersionNull)
		if m.Group != "" {
			f.str("group", m.Group)
		}
		f.str("method", n.Method)
		f.list("parameterTypes", n.Types)
	}
	switch m.ResultKind {
	case 0, 3:
		f.str("resultKind", "exception")
	case 1, 4:
		f.str("resultKind", "value")
	case 2, 5:
		f.str("resultKind", "null")
	}
	if m.ExceptionClass != "" {
		f.str("exceptionClass", m.ExceptionClass)
	}
	if m.HasErrorText && texts {
		f.str("errorMessage", m.ErrorMessage+m.ExceptionMessage) // one of them
	}
}

func (f *fields) nullable(name, v string, null bool) {
	if null {
		f.null(name)
		return
	}
	f.str(name, v)
}

// appendParts prints the leaves of the frame: the header and those of the body.
func (p *Frames) appendParts(f *fields, m *rpc.Message) {
	p.parts = m.Tree.Parts(p.parts[:0], p.Depth)
	f.name("parts")
	f.dst = append(f.dst, `[{"path":"header","bytes":`...)
	f.dst = strconv.AppendInt(f.dst, int64(m.HeaderLen), 10)
	f.dst = append(f.dst, '}')
	for i := range p.parts {
		f.dst = append(f.dst, `,{"path":`...)
		f.dst = decode.AppendString(f.dst, p.parts[i].Path)
		f.dst = append(f.dst, `,"bytes":`...)
		f.dst = strconv.AppendInt(f.dst, int64(p.parts[i].Bytes), 10)
		f.dst = append(f.dst, '}')
	}
	f.dst = append(f.dst, ']')
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
	f := fields{dst: append(dst, '{')}
	req, resp := c.Request, c.Response
	any := req
	if any == nil {
		any = resp
	}
	f.num("connection", int64(c.Conn.Number))
	if any.Last.File < len(p.Inputs) {
		f.str("file", p.Inputs[any.Last.File])
	}
	f.str("id", any.ID())
	f.str("client", c.Client())
	f.str("server", c.Server())
	if req != nil {
		f.num("requestFrame", req.Number)
	}
	if resp != nil {
		f.num("responseFrame", resp.Number)
	}
	f.str("protocol", any.Protocol.Name)
	f.str("serialization", any.SerializationName())
	if any.HeaderSerialization != "" {
		f.str("headerSerialization", any.HeaderSerialization)
	}
	if req != nil && resp != nil && otherSerialization(req, resp) {
		f.str("responseSerialization", resp.SerializationName())
	}
	if req != nil && resp != nil && resp.HeaderSerialization != "" {
		f.str("responseHeaderSerialization", resp.HeaderSerialization)
	}
	p.request(&f, req)
	p.response(&f, c)
	f.str("state", c.State().String())
	if n := req.Count(); n > 1 || req != nil && !req.Ends {
		f.num("requestMessages", int64(n))
	}
	if n := resp.Count(); n > 1 || resp != nil && !resp.Ends {
		f.num("responseMessages", int64(n))
	}
	if req != nil {
		f.num("requestBodyBytes", req.BodyBytes())
	}
	if resp != nil {
		f.num("responseBodyBytes", resp.BodyBytes())
	}
	if req != nil {
		f.num("requestFrameBytes", req.FrameBytes())
	}
	if resp != nil {
		f.num("responseFrameBytes", resp.FrameBytes())
	}
	f.time("time", any.FirstTime)
	if ns, ok := c.Latency(); ok {
		f.micros("latencyMicros", ns)
	} else {
		f.null("latencyMicros")
	}
	if ns, ok := c.Wait(); ok {
		f.micros("waitMicros", ns)
	} else {
		f.null("waitMicros")
	}
	return append(f.dst, '}')
}

// otherSerialization reports whether an answer is in another serialization than its request, by header or by bytes.
func otherSerialization(req, resp *call.Message) bool {
	return req.SerializationID != resp.SerializationID ||
		(req.HeaderSerialization != "" || resp.HeaderSerialization != "") && req.SerializationName() != resp.SerializationName()
}

func (p *Calls) request(f *fields, m *call.Message) {
	if m == nil || m.Operation == nil {
		f.str("service", call.Unknown)
		f.str("method", call.Unknown)
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
		f.str("group", m.Group)
	}
	f.str("method", m.Method())
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
func (p *Calls) values(f *fields, name string, m *call.Message) {
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
	f.raw(name, append(list, ']'))
}

// optional prints null for a number that is not there.
func (f *fields) optional(name string, n int64) {
	if n < 0 {
		f.null(name)
		return
	}
	f.num(name, n)
}

func (f *fields) values(name string, json []byte) {
	if len(json) > 0 {
		f.raw(name, json)
	}
}

func (p *Calls) response(f *fields, c *call.Call) {
	m := c.Answer()
	if m == nil {
		if c.Aborted != "" {
			f.null("status")
			f.str("error", c.Aborted)
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
		f.str("error", c.Aborted)
	case m.Failed:
		f.str("error", m.StatusName())
	case m.Exception && m.ExceptionClass != "":
		f.str("error", m.ExceptionClass)
	case m.Exception:
		f.str("error", "exception")
	}
}

// exception prints what a call failed with; said is false where there is no message.
func (p *Calls) exception(f *fields, class, message string, said bool) {
	e := fields{dst: []byte{'{'}}
	e.nullable("class", class, class == "")
	switch {
	case p.NoValues:
	case p.Redact && said:
		e.raw("message", decode.RedactedText(nil, message))
	default:
		e.nullable("message", message, !said)
	}
	f.raw("exception", append(e.dst, '}'))
}
