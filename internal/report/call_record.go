package report

import (
	"cmp"
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// Calls appends the JSON records of calls.
type Calls struct {
	Inputs []string
	// NoValues omits arguments, results, attachments and exception messages.
	NoValues bool
	// Redact replaces exception messages by their length.
	Redact bool
}

// AppendJSON appends the record of a call without a line end.
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
	if int(any.File) < len(p.Inputs) {
		f.Text("file", p.Inputs[any.File])
	}
	f.number("id", int64(any.Exchange)) // as ID does
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
	f.OptionalText("headerSerialization", any.HeaderSerialization)
	if req != nil && resp != nil {
		if otherSerialization(req, resp) {
			f.Text("responseSerialization", resp.SerializationName())
		}
		f.OptionalText("responseHeaderSerialization", resp.HeaderSerialization)
	}
	p.request(f, req)
	p.response(f, c)
	f.Text("state", c.State().String())
	if req.Incomplete() {
		f.bool("requestComplete", false)
	}
	if resp.Incomplete() {
		f.bool("responseComplete", false)
	}
	if n := req.Count(); n > 1 || req != nil && !req.Ends {
		f.Int("requestMessages", int64(n))
	}
	if n := resp.Count(); n > 1 || resp != nil && !resp.Ends {
		f.Int("responseMessages", int64(n))
	}
	f.intOf("requestBodyBytes", req, (*call.Message).BodyBytes)
	f.intOf("responseBodyBytes", resp, (*call.Message).BodyBytes)
	f.compression("encoding", "requestUncompressedBytes", req)
	f.compression("responseEncoding", "responseUncompressedBytes", resp)
	f.intOf("requestFrameBytes", req, (*call.Message).FrameBytes)
	f.intOf("responseFrameBytes", resp, (*call.Message).FrameBytes)
	f.intOf("requestWireBytes", req, c.WireBytes)
	f.intOf("responseWireBytes", resp, c.WireBytes)
	f.parts("requestParts", req)
	f.parts("responseParts", resp)
	f.time("time", any.FirstTime)
	f.optionalMicros("latencyMicros", c.Latency)
	f.optionalMicros("waitMicros", c.Wait)
	if any.Protocol.PlainHTTP {
		f.product(c.Product())
	}
}

// compression appends the compression of a side's messages and their bytes without it.
func (f *Record) compression(encoding, bytes string, m *call.Message) {
	if name := m.Compression(); name != "" {
		f.Text(encoding, name)
		f.OptionalInt(bytes, m.UncompressedBytes())
	}
}

// parts appends the bytes of a message's captured bodies by class; those of a compressed body only if there is one.
func (f *Record) parts(name string, m *call.Message) {
	if m == nil || f.isCSV() {
		return
	}
	f.Name(name)
	p := Record{JSON: append(f.JSON, '{')}
	for class := range decode.ClassMissing {
		if n := m.PartBytes(class); n > 0 || class != decode.ClassCompressed {
			p.Int(class.String(), n)
		}
	}
	f.JSON = append(p.JSON, '}')
}

// intOf appends an integer of a message unless it is nil; null if it is negative.
func (f *Record) intOf(name string, m *call.Message, of func(*call.Message) int64) {
	if m != nil {
		f.OptionalInt(name, of(m))
	}
}

// optionalMicros appends a time, or null if there is none.
func (f *Record) optionalMicros(name string, of func() (ns int64, ok bool)) {
	if ns, ok := of(); ok {
		f.Micros(name, ns)
	} else {
		f.null(name)
	}
}

// otherSerialization reports whether a response uses another serialization than its request, by header or by content.
func otherSerialization(req, resp *call.Message) bool {
	if req.SerializationID == rpc.NoSerialization && resp.SerializationID == rpc.NoSerialization {
		return resp.Serialization != "" && resp.Serialization != req.Serialization
	}
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
	if n.Version != "" || m.Protocol.Numbered {
		f.nullable("version", n.Version, n.VersionNull)
	}
	f.OptionalText("group", m.Group)
	f.Text("method", m.Method())
	known := n.Service != call.Unknown
	if known {
		f.bool("generic", m.GenericMethod != "")
	}
	types := n.Types
	if m.GenericMethod != "" {
		types = m.GenericTypes
	}
	if types != nil {
		f.list("parameterTypes", types)
	}
	f.OptionalText("layout", n.Layout)
	p.values(f, "arguments", m)
	if !p.NoValues && (known || len(m.AttachmentsJSON) > len("{}")) {
		f.values("attachments", m.AttachmentsJSON)
	}
	f.bool("oneWay", !m.TwoWay)
}

// values appends the values of a message or, for a streaming call, the list of those of all messages.
func (p *Calls) values(f *Record, name string, m *call.Message) {
	switch {
	case p.NoValues:
		return
	case m.Next == nil && m.Ordinal == 0 && (m.Ends || len(m.Values) == 0): // one message, or none
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
		p.exception(f, m.ExceptionClass, cmp.Or(m.ExceptionMessage, m.ErrorMessage), m.HasErrorText) // the details of a status may name a class
	case m.Exception:
		p.exception(f, m.ExceptionClass, m.ExceptionMessage, m.HasErrorText)
	default:
		p.values(f, "result", c.Response)
	}
	if !p.NoValues {
		f.values("responseAttachments", joinedObjects(c.Response, m))
	}
	switch {
	case c.Aborted != "":
		f.null("status")
	default:
		f.OptionalInt("status", int64(m.Status))
	}
	if c.Failed() {
		f.Text("error", c.ErrorName())
	}
}

// joinedObjects returns the attachments of the first and the last message of a response: both may have some.
func joinedObjects(first, last *call.Message) []byte {
	a, b := first.AttachmentsJSON, last.AttachmentsJSON
	switch {
	case first == last || len(a) <= len("{}"):
		return b
	case len(b) <= len("{}"):
		return a
	}
	return slices.Concat(a[:len(a)-1], []byte{','}, b[1:])
}

// exception appends the exception of a failed call. hasText is false if it has no message.
func (p *Calls) exception(f *Record, class, message string, hasText bool) {
	if f.isCSV() {
		switch {
		case p.NoValues:
			message = ""
		case p.Redact && message != "":
			message = string(decode.RedactedText(nil, message))
		}
		f.Text("errorMessage", message)
		return
	}
	e := Record{JSON: []byte{'{'}}
	e.nullable("class", class, class == "")
	switch {
	case p.NoValues:
	case p.Redact && hasText:
		e.Raw("message", decode.RedactedText(nil, message))
	default:
		e.nullable("message", message, !hasText)
	}
	f.Raw("exception", append(e.JSON, '}'))
}
