package triple

import (
	"bytes"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// The names of the fields of a wrapper in the tree. Its tags and lengths are overhead.
const (
	nodeName  = "serializeType"
	nodeTypes = "argTypes"
	nodeType  = "type"
	overhead  = "wrapper"
)

// readDialects reads a wrapper in the dialect that reads all of it, or in the first one if none does, and returns the offset after the
// last field.
func (b *body) readDialects() (at int) {
	all := b.formats
	defer func() { b.formats = all }()
	for i := range all {
		b.formats = all[i : i+1]
		if at = b.readWrapper(); b.m.Err == nil {
			b.m.Format = all[i].format
			return at
		}
		b.begin()
		b.m.Err = nil
	}
	b.formats = all[:min(len(all), 1)]
	return b.readWrapper()
}

// toldDialects returns the dialects that may have written the data of the wrapper, as far as its first bytes tell.
func (b *body) toldDialects() []*serialization {
	for _, f := range b.wrapper.data {
		for i, s := range b.formats {
			// Events are values without anything else.
			if s.format.Tell != nil && s.format.Tell(b.b[f.from:f.to], decode.BodyEvent) == decode.Own {
				return b.formats[i : i+1]
			}
		}
	}
	return b.formats
}

// readWrapper reads the fields of a wrapper into the tree and returns the offset after the last one.
func (b *body) readWrapper() int {
	w, t := b.wrapper, b.m.Tree
	b.text(w.name, nodeName)
	if b.m.Kind == rpc.Response {
		return b.readResponse()
	}
	if w.typesFirst {
		b.texts()
	}
	start := w.name.to
	if len(w.data) > 0 {
		start = w.data[0].tag
	}
	args := t.Open(decode.List, decode.ByField, "args", 0, start)
	for i, f := range w.data {
		t.Role(overhead, f.tag, f.from)
		b.value(f, decode.ByIndex, "", i, b.argumentType(i))
	}
	t.Close()
	if op := b.m.Operation; op != nil && op.Generic {
		b.m.ReadGeneric(args)
	}
	if !w.typesFirst {
		b.texts()
	}
	b.endsEarly()
	return w.end
}

// readResponse reads the result and its type.
func (b *body) readResponse() int {
	w, t := b.wrapper, b.m.Tree
	if w.typesFirst {
		b.texts()
	}
	for _, f := range w.data {
		from := len(t.Nodes)
		t.Role(overhead, f.tag, f.from)
		b.value(f, decode.ByField, b.resultName(), 0, b.resultType())
		if b.m.Exception && b.m.Format != nil {
			b.m.ReadException(from)
		}
	}
	if !w.typesFirst {
		b.texts()
	}
	b.endsEarly()
	return w.end
}

// argumentType returns the descriptor of an argument, "" if it is not known.
func (b *body) argumentType(i int) string {
	w := b.wrapper
	switch op := b.m.Operation; {
	case op != nil && i < len(op.Descriptors):
		return op.Descriptors[i]
	case op == nil && !w.cut && i < len(w.types): // the path is not known
		return b.d.descriptor(w.b[w.types[i].from:w.types[i].to])
	}
	return ""
}

// resultType returns the descriptor of the result, "" if it is not known or is not that of the data.
func (b *body) resultType() string {
	if w := b.wrapper; !b.m.Exception && len(w.types) == 1 {
		return b.d.descriptor(w.b[w.types[0].from:w.types[0].to])
	}
	return ""
}

// descriptor returns the descriptor of a class name.
func (d *Decoder) descriptor(name []byte) string {
	if known, ok := d.descriptors[string(name)]; ok {
		return known
	}
	of := descriptor(decode.UTF8(name))
	if len(name) <= maxTypeLen && len(d.descriptors) < maxTypes {
		d.descriptors[string(name)] = of
	}
	return of
}

// endsEarly sets the error of a wrapper that ends within a field.
func (b *body) endsEarly() {
	if b.wrapper.cut && b.m.Err == nil {
		cause := b.short
		if cause == decode.None {
			cause = decode.Malformed
		}
		b.m.Err = &decode.Error{Cause: cause, At: b.wrapper.end, Expected: "the rest of a field"}
	}
}

// texts reads the fields with types.
func (b *body) texts() {
	for _, f := range b.wrapper.types {
		b.text(f, typesName(b.m))
	}
}

// typesName returns the name of the fields with types in a wrapper of m.
func typesName(m *rpc.Message) string {
	if m.Kind == rpc.Response {
		return nodeType
	}
	return nodeTypes
}

// text reads a field that is a text.
func (b *body) text(f field, name string) {
	t := b.m.Tree
	t.Role(overhead, f.tag, f.from)
	if n := t.Leaf(decode.String, decode.ByField, name, 0, f.from, f.to); n != nil {
		n.Text = b.d.intern(b.b[f.from:f.to])
	}
}

// value reads a field that is a stream of the serialization.
func (b *body) value(f field, l decode.Label, name string, index int, typ string) {
	t := b.m.Tree
	if len(b.formats) == 0 {
		t.Leaf(decode.Opaque, l, name, index, f.from, f.to)
		return
	}
	if err := b.stream(b.formats[0], f, l, name, index, typ); b.m.Err == nil {
		b.m.Err = err
	}
}

// writtenBy tells a reader who wrote the message, and nothing of earlier ones, which may be of other connections.
func (b *body) writtenBy(r decode.ClassReader) {
	r.WrittenBy(b.writer())
	if o, ok := r.(decode.OrderReader); ok {
		o.SetOrders(decode.FieldOrders{})
	}
}

// stream reads a field and returns its first error. Objects that do not fit the classes of the class path are read again without
// them.
func (b *body) stream(s *serialization, f field, l decode.Label, name string, index int, typ string) *decode.Error {
	if s.reader(); s.classes == nil {
		return b.streamOnce(s, f, l, name, index, typ)
	}
	r, t := s.classes, b.m.Tree
	b.writtenBy(r)
	value, depth := len(t.Nodes), t.Depth()
	err := b.streamOnce(s, f, l, name, index, typ)
	doubt := err
	if at := f.from + s.r.Offset(); doubt == nil && at < f.to {
		doubt = &decode.Error{Cause: decode.Malformed, At: at, Expected: "the end of the value", Found: "more bytes"}
	}
	if doubt == nil || b.short != decode.None && doubt.Cause == b.short || !r.Misfits(doubt) {
		return err
	}
	misfit := decode.NewMisfit(r, b.writer(), doubt)
	if varying, ok := r.(decode.VaryingReader); ok && b.whole && b.detail == rpc.Values {
		misfit.Search(varying, func(t *decode.Tree) (bool, int) {
			s.r.Reset(b.b[f.from:f.to], decode.Malformed, t)
			b.readStream(s.r, l, name, index, typ)
			return problem(s.r, 0) == nil && s.r.Offset() == f.to-f.from, s.r.Offset()
		})
	}
	t.CloseTo(depth)
	t.Nodes = t.Nodes[:value]
	r.Distrust(misfit.Error())
	err = b.streamOnce(s, f, l, name, index, typ)
	r.Distrust(nil)
	return misfit.In(err)
}

// writer returns who wrote the body.
func (b *body) writer() decode.Side {
	if b.m.Kind == rpc.Request {
		return decode.Consumer
	}
	return decode.Provider
}

// readStream reads the value of a field, or an exception.
func (b *body) readStream(r decode.Reader, l decode.Label, name string, index int, typ string) {
	if name == "exception" {
		r.Throwable()
	} else {
		r.Value(l, name, index, typ)
	}
}

func (b *body) streamOnce(s *serialization, f field, l decode.Label, name string, index int, typ string) *decode.Error {
	t := b.m.Tree
	short := decode.Malformed
	if b.wrapper.cut && f.to == b.wrapper.end && b.short != decode.None {
		short = b.short
	}
	r := s.reader()
	value, depth := len(t.Nodes), t.Depth()
	r.Reset(b.b[f.from:f.to], short, t)
	b.readStream(r, l, name, index, typ)
	t.CloseTo(depth)
	for i := value; i < len(t.Nodes); i++ {
		t.Nodes[i].Off += int32(f.from)
	}
	at := f.from + r.Offset()
	err := problem(r, f.from)
	if r.Err() != nil {
		t.FailValue(value, f.from, err.At, f.to, l, name, index)
	} else if at < f.to {
		t.Role("trailing", at, f.to)
	}
	return err
}

// problem returns the first error of a reader, whose bytes start at offset from of the body.
func problem(r interface{ Err() *decode.Error }, from int) *decode.Error {
	err := r.Err()
	if faulter, ok := r.(decode.Faulter); ok && err == nil {
		err = faulter.Fault()
	}
	if err == nil {
		return nil
	}
	moved := *err
	moved.At += from
	if moved.Wrong > 0 {
		moved.Wrong += from
	}
	return &moved
}

// wholeReader reads bodies that are one value.
type wholeReader interface {
	decode.WholeReader
	Reset(body []byte, short decode.Cause, t *decode.Tree)
	Offset() int
	Err() *decode.Error
}

// readWhole reads a body that is one value and returns the offset after it. An array of JSON is the list of arguments if the path names a
// method of an interface: Dubbo takes it so, whatever the number of parameters.
func (b *body) readWhole(r wholeReader) int {
	m, t := b.m, b.m.Tree
	l, name := decode.ByField, b.resultName()
	request := m.Kind == rpc.Request
	switch {
	case request && b.isArgumentList():
		name, request = "args", false
	case request:
		l, name = decode.ByIndex, ""
		t.Open(decode.List, decode.ByField, "args", 0, 0)
	}
	value, depth := len(t.Nodes), t.Depth()
	b.setMethod(r)
	r.Reset(b.b, b.short, t)
	r.Whole(l, name, 0)
	m.Err = problem(r, 0)
	at := r.Offset()
	if r.Err() != nil {
		t.CloseTo(depth)
		t.FailValue(value, 0, m.Err.At, len(b.b), l, name, 0)
		at = len(b.b)
	}
	if request {
		t.Close()
	}
	return at
}

// setMethod tells a reader which method the body is a message of, if it needs that.
func (b *body) setMethod(r any) {
	typed, ok := r.(decode.MethodReader)
	switch {
	case !ok:
	case b.called == nil || b.called.Generic:
		typed.SetMethod(b.writer(), "", "")
	default:
		typed.SetMethod(b.writer(), b.called.Service, b.called.Method)
	}
}

// readText reads a body that is a text, decoded by text, and returns the offset after it.
func (b *body) readText(text func([]byte) string) int {
	t := b.m.Tree
	l, name := decode.ByField, b.resultName()
	if b.m.Kind == rpc.Request {
		l, name = decode.ByIndex, ""
		t.Open(decode.List, decode.ByField, "args", 0, 0)
	}
	t.Leaf(decode.String, l, name, 0, 0, len(b.b)).SetText(text(b.b))
	if b.m.Kind == rpc.Request {
		t.Close()
	}
	if b.short != decode.None {
		b.m.Err = &decode.Error{Cause: b.short, At: len(b.b), Expected: "the rest of a text"}
	}
	return len(b.b)
}

// isArgumentList reports whether a body of JSON is the list of arguments.
func (b *body) isArgumentList() bool {
	op := b.m.Operation
	if b.content.kind != jsonText || b.content.framed || op == nil || strings.Contains(op.Method, " ") {
		return false
	}
	text := bytes.TrimLeft(b.b, " \t\r\n")
	return len(text) > 0 && text[0] == '['
}

// eventData starts the line of an event that has its data.
var eventData = []byte("data:")

// readEvents reads the data of server-sent events, a JSON text in a line each, as a list, and returns the offset after the last line.
// Data that is not JSON is a text.
func (b *body) readEvents() int {
	m, t := b.m, b.m.Tree
	s := b.formats[0]
	r, ok := s.reader().(decode.WholeReader)
	if !ok {
		m.Err = decode.NotDecoded(0)
		return 0
	}
	name := b.resultName()
	if m.Kind == rpc.Request {
		name = "args"
	}
	t.Open(decode.List, decode.ByField, name, 0, 0)
	at, owned, n := 0, 0, 0
	for at < len(b.b) && !t.Full() {
		end := bytes.IndexByte(b.b[at:], '\n')
		if end < 0 {
			break // a line without an end is not complete
		}
		line := b.b[at : at+end+1]
		if text, ok := bytes.CutPrefix(line, eventData); ok {
			text = bytes.TrimSpace(text)
			from := at + len(eventData) + bytes.Index(line[len(eventData):], text)
			t.Role("event", owned, from)
			owned = from + len(text)
			b.eventValue(s, r, field{from: from, to: owned}, n)
			n++
		}
		at += len(line)
	}
	t.Role("event", owned, at)
	t.Close()
	if at < len(b.b) && m.Err == nil && b.short != decode.None {
		m.Err = &decode.Error{Cause: b.short, At: at, Expected: "the rest of an event"}
	}
	return at
}

// eventValue reads the data of event n.
func (b *body) eventValue(s *serialization, r decode.WholeReader, f field, n int) {
	t := b.m.Tree
	mark, depth := len(t.Nodes), t.Depth()
	s.r.Reset(b.b[f.from:f.to], decode.Malformed, t)
	r.Whole(decode.ByIndex, "", n)
	t.CloseTo(depth)
	if problem(s.r, 0) == nil {
		for i := mark; i < len(t.Nodes); i++ {
			t.Nodes[i].Off += int32(f.from)
		}
		return
	}
	t.Nodes = t.Nodes[:mark]
	t.Leaf(decode.String, decode.ByIndex, "", n, f.from, f.to).SetText(decode.UTF8(b.b[f.from:f.to]))
}
