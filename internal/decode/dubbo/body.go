package dubbo

import "dubbo-wire/internal/decode"

// body reads the fields of one body.
type body struct {
	m             *Message
	f             *Frame
	r             decode.Reader
	d             *Decoder
	serialization *serialization
	layout        Layout
	printed       *decode.Printed // nil: nothing is printed
	// opaqueTo is the end of the bytes that became opaque.
	opaqueTo int
}

func (b *body) event() {
	if len(b.f.Body) > 0 {
		b.m.Tree.Leaf(decode.Custom, decode.ByField, "event", 0, 0, len(b.f.Body))
	}
}

// read reads the fields as far as detail requires.
func (b *body) read(detail Detail) {
	for f := b.f.firstField(); f != NoField && b.field(f, detail); f = f.Next(byte(b.m.ResultKind)) {
	}
}

// field reads one field and reports whether to continue.
func (b *body) field(f Field, detail Detail) bool {
	m := b.m
	switch f {
	case FieldEnvelope:
		b.readNames(detail)
		if detail == Envelope && m.Names != nil && m.Names.Generic {
			b.genericMethod()
		}
		if b.layout == LayoutUnknown && m.Names != nil {
			m.Err = &decode.Error{Cause: decode.Unsupported, At: b.r.Offset(), Expected: "parameter types; this is " + layouts[LayoutUnknown].name}
			return false
		}
		return detail > Envelope && m.Names != nil
	case FieldArguments:
		b.arguments()
	case FieldResultKind:
		return b.resultKind() && detail > Envelope
	case FieldThrowable, FieldResult:
		at, from := b.r.Offset(), len(m.Tree.Nodes)
		b.result(f)
		if b.r.Err() != nil {
			b.failed(at, from, 0, decode.ByField, m.resultName(), 0)
		}
		if f == FieldThrowable {
			m.ReadException(from)
		}
	case FieldAttachments:
		b.attachments()
	case FieldErrorText:
		if detail > Envelope {
			null := false
			m.ErrorMessage, null = b.r.Text("errorMessage")
			m.HasErrorText = !null && b.r.Err() == nil
		}
	}
	return true
}

// arguments reads the arguments and stops at the first that cannot be read.
func (b *body) arguments() {
	m := b.m
	args := m.Tree.Open(decode.List, decode.ByField, "args", 0, b.r.Offset())
	depth := m.Tree.Depth()
	types := m.Names.Descriptors
	if m.Names.unnumbered {
		types = make([]string, b.countArguments())
	}
	for i, typ := range types {
		at, value := b.r.Offset(), len(m.Tree.Nodes)
		b.r.Value(decode.ByIndex, "", i, typ)
		if b.r.Err() != nil {
			b.failed(at, value, depth, decode.ByIndex, "", i)
			break
		}
	}
	m.Tree.CloseTo(depth)
	m.Tree.Close()
	if m.Names.Generic {
		m.ReadGeneric(args)
	}
}

// countArguments returns the number of values between the envelope and the attachments, the last value of the body. It stops
// at the first value that cannot be read to its end.
func (b *body) countArguments() int {
	r := b.serialization.format.New()
	if c, ok := r.(decode.ClassReader); ok {
		c.WrittenBy(b.d.dialects.peer.writer(b.f))
		c.Distrust(b.d.distrusted)
	}
	if o, ok := r.(decode.OlderReader); ok {
		o.SetOlder(b.d.older)
	}
	r.Reset(b.f.Body, decode.Malformed, nil)
	FieldEnvelope.skip(r, b.layout)
	for n := range maxArguments + 1 {
		if r.Value(decode.ByIndex, "", n, ""); r.Err() != nil {
			return n + 1
		}
		if r.Offset() == len(b.f.Body) {
			return n
		}
	}
	return 1
}

// resultKind reads the kind of a result and reports whether it is one.
func (b *body) resultKind() bool {
	k := b.r.ResultKind()
	if b.r.Err() != nil {
		return false
	}
	if k > 5 {
		b.m.Err = &decode.Error{Cause: decode.Malformed, Expected: "a result kind from 0 to 5"}
		return false
	}
	b.m.ResultKind = int8(k)
	return true
}

// result reads the value or the exception of a result.
func (b *body) result(f Field) {
	if f == FieldThrowable {
		b.r.Throwable()
	} else {
		b.r.Value(decode.ByField, "result", 0, b.resultType())
	}
}

// resultType returns the descriptor of the type that the method returns, "" if it is not known or not needed.
func (b *body) resultType() string {
	request := b.d.dialects.peer.request
	if request == nil || request.Generic || !b.m.Format.TypedResults {
		return ""
	}
	r, ok := b.r.(decode.ResultReader)
	if !ok {
		return ""
	}
	return r.ResultType(b.d.dialects.peer.writer(b.f), request.Service, request.Method, request.Descriptors)
}

// genericMethod reads only the first argument of $invoke, a string.
func (b *body) genericMethod() {
	t := &b.d.first
	t.Reset()
	t.WithValues = true
	b.r.Reset(b.f.Body, decode.Cut, t)
	FieldEnvelope.skip(b.r, b.layout)
	from := len(t.Nodes)
	b.r.Value(decode.ByIndex, "", 0, "Ljava/lang/String;")
	for i := range t.Nodes[from:] {
		if n := &t.Nodes[from+i]; n.Kind == decode.String && n.Label == decode.ByIndex && n.Parent < 0 {
			b.m.GenericMethod = n.String()
			return
		}
	}
}

// failed continues after a value that could not be read to its end. The value starts at offset at and is node value of the tree.
// If the attachments can be found from the end of the body, the bytes before them are opaque; otherwise all following bytes
// are; see [decode.Tree.FailValue].
func (b *body) failed(at, value, depth int, l decode.Label, name string, index int) {
	m, t := b.m, b.m.Tree
	m.Err = b.r.Err()
	t.CloseTo(depth)
	end := len(b.f.Body)
	if finder, ok := b.r.(decode.AttachmentFinder); ok && m.Err.Cause == decode.Unsupported {
		if found, ok := finder.FindAttachments(m.Err.At); ok {
			end = found
		}
	}
	b.opaqueTo = end
	t.FailValue(value, at, m.Err.At, end, l, name, index)
}

// attachments reads the attachments if the values before them were read or skipped.
func (b *body) attachments() {
	if b.r.Err() != nil {
		return
	}
	b.r.Attachments()
	if m := b.m; m.Kind == Request {
		m.Group, _ = m.Attachment("group")
	}
}

// rest assigns the bytes after the last field that was read, and the missing bytes, to nodes, and notes how far the body was decoded.
func (b *body) rest() {
	m, at := b.m, 0
	switch {
	case m.Kind > Response:
		at = len(b.f.Body)
	case b.r != nil:
		at = b.r.Offset()
		if err := b.r.Err(); err != nil {
			at = max(err.At, b.opaqueTo)
		}
	}
	sums, err := m.Tree.Rest(at, decode.Extent{Len: b.f.BodyLen, Start: len(b.f.Body), Captured: b.f.Captured, Short: b.f.Short}, m.Err)
	m.Decoded, m.Err = m.Tree.Decoded(&sums, err, m.Names != nil || m.ResultKind >= 0 || m.HasErrorText || m.Kind > Response)
	m.Parts = sums.Parts
}
