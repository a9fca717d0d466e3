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
			m.readException(from)
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
		m.readGeneric(args)
	}
}

// countArguments returns the number of values between the envelope and the attachments, the last value of the body. It stops
// at the first value that cannot be read to its end.
func (b *body) countArguments() int {
	r := b.serialization.format.New()
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
		b.r.Value(decode.ByField, "result", 0, "")
	}
}

// genericMethod reads only the first argument of $invoke, a string.
func (b *body) genericMethod() {
	var t decode.Tree
	t.WithValues = true
	b.r.Reset(b.f.Body, decode.Cut, &t)
	FieldEnvelope.skip(b.r, b.layout)
	from := len(t.Nodes)
	b.r.Value(decode.ByIndex, "", 0, "Ljava/lang/String;")
	for i := range t.Nodes[from:] {
		if n := &t.Nodes[from+i]; n.Kind == decode.String && n.Label == decode.ByIndex && n.Parent < 0 {
			b.m.GenericMethod = n.Text
			return
		}
	}
}

// readGeneric takes the invoked method and its types from the arguments of $invoke: a string, an array of type names,
// an array of values.
func (m *Message) readGeneric(args int) {
	t := m.Tree
	if args < 0 || !t.WithValues {
		return
	}
	for c := args + 1; c < int(t.Nodes[args].End); c = int(t.Nodes[c].End) {
		n := &t.Nodes[c]
		switch {
		case n.Label != decode.ByIndex:
		case n.Index == 0 && n.Kind == decode.String:
			m.GenericMethod = n.Text
		case n.Index == 1 && n.Kind == decode.List:
			m.GenericTypes = []string{}
			for k := c + 1; k < int(n.End); k = int(t.Nodes[k].End) {
				if t.Nodes[k].Kind == decode.String {
					m.GenericTypes = append(m.GenericTypes, t.Nodes[k].Text)
				}
			}
		}
	}
}

// readException reads class and message of the throwable at node from or after it.
func (m *Message) readException(from int) {
	t := m.Tree
	for i := from; i < len(t.Nodes); i = int(t.Nodes[i].End) {
		n := &t.Nodes[i]
		if n.Label != decode.ByField || n.Name != "exception" {
			continue
		}
		m.ExceptionClass = n.Class
		m.ExceptionMessage, m.HasErrorText = m.exceptionText(i, 0)
		return
	}
}

// exceptionText returns the message of the throwable at node i, as its getMessage does. Formats that write fields have
// detailMessage and, for a class with its own message, also message, which then counts. Formats that write the results of
// getters have message. Others name their field in [decode.Format.ThrowableMessage].
func (m *Message) exceptionText(i, depth int) (text string, ok bool) {
	t := m.Tree
	var own, detail, other string
	var hasOwn, hasDetail, detailed, hasOther bool
	named := m.Format.ThrowableMessage
	for c := i + 1; c < int(t.Nodes[i].End); c = int(t.Nodes[c].End) {
		f := &t.Nodes[c]
		if f.Label != decode.ByField && f.Label != decode.ByEntry || f.Name == "" {
			continue
		}
		is := f.Kind == decode.String
		switch f.Name {
		case "message":
			if is {
				own, hasOwn = f.Text, true
			}
		case "detailMessage":
			detailed = true
			if is {
				detail, hasDetail = f.Text, true
			}
		case named:
			switch {
			case hasOther:
			case is:
				other, hasOther = f.Text, true
			case depth == 0:
				other, hasOther = m.exceptionText(c, 1)
			}
		}
	}
	switch {
	case hasOwn:
		return own, true
	case hasDetail:
		return detail, true
	case !detailed && hasOther:
		return other, true
	}
	return "", false
}

// failed continues after a value that could not be read to its end. The value starts at offset at and is node value of the tree.
// If the attachments can be found from the end of the body, the bytes before them are opaque; otherwise all following bytes
// are. The opaque bytes belong to the innermost open object, list or map. If nothing of the value was read, the value itself is
// opaque, named by label, name and index.
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
	if end <= m.Err.At {
		return
	}
	if at < m.Err.At {
		l, name = decode.Whole, "opaque"
	}
	leaf := t.Leaf(decode.Opaque, l, name, index, m.Err.At, end)
	if leaf == nil {
		return
	}
	last := len(t.Nodes) - 1
	for i := value; i < last; {
		n := &t.Nodes[i]
		switch {
		case int(n.End) < last: // something precedes it: overhead, or an element that was read
			i = int(n.End)
			continue
		case n.Kind != decode.Object && n.Kind != decode.List && n.Kind != decode.Map:
			return
		}
		leaf.Parent = int32(i)
		n.End = int32(last + 1)
		i++
	}
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

// rest assigns the bytes after the last field that was read, and the missing bytes, to nodes.
func (b *body) rest() {
	m, t := b.m, b.m.Tree
	t.CloseTo(0)
	at := 0
	switch {
	case m.Kind > Response:
		at = len(b.f.Body)
	case b.r != nil:
		at = b.r.Offset()
		if err := b.r.Err(); err != nil {
			at = max(err.At, b.opaqueTo)
		}
	}
	if n := len(b.f.Body); at < n {
		if m.Err == nil {
			t.Role("trailing", at, n)
		} else {
			t.Leaf(decode.Opaque, decode.Whole, "opaque", 0, at, n)
		}
	}
	lost := b.f.BodyLen - b.f.Captured
	if unread := b.f.BodyLen - len(b.f.Body) - lost; unread > 0 {
		// These bytes were captured, but they follow a gap or were not needed.
		t.Leaf(decode.Opaque, decode.Whole, "opaque", 0, len(b.f.Body)+lost, b.f.BodyLen)
	}
	if lost > 0 {
		t.Leaf(decode.Missing, decode.Whole, "missing", 0, len(b.f.Body), len(b.f.Body)+lost)
		if m.Err == nil {
			m.Err = &decode.Error{Cause: b.f.Short, At: len(b.f.Body), Expected: "the rest of the body"}
		}
	}
	b.balance(lost)
}

// balance checks that every byte has exactly one owner. If it has not, a decoder is wrong, and the whole body becomes opaque.
func (b *body) balance(lost int) {
	m, t := b.m, b.m.Tree
	sum := 0
	for i := range t.Nodes {
		sum += int(t.Nodes[i].Len)
	}
	if sum == b.f.BodyLen {
		return
	}
	full := t.Full()
	t.Reset()
	t.Leaf(decode.Opaque, decode.Whole, "opaque", 0, 0, b.f.BodyLen-lost)
	if lost > 0 {
		t.Leaf(decode.Missing, decode.Whole, "missing", 0, b.f.BodyLen-lost, b.f.BodyLen)
	}
	if m.Err == nil || full {
		m.Err = &decode.Error{Cause: decode.Limit, Expected: "a body of fewer values"}
	}
}

// decoded returns how far a body was decoded.
func decoded(m *Message) string {
	opaque, values := false, false
	t := m.Tree
	for i := range t.Nodes {
		n := &t.Nodes[i]
		switch {
		case n.Kind == decode.Opaque || n.Kind == decode.Missing:
			opaque = true
			if m.Err == nil {
				m.Err = notDecoded(int(n.Off))
			}
		case n.Parent >= 0 && t.Nodes[n.Parent].Name == "args", n.Parent < 0 && (n.Name == "result" || n.Name == "exception"):
			values = true
		}
	}
	switch {
	case !opaque && m.Err == nil:
		return "full"
	case values:
		return "partly"
	case m.Names != nil || m.ResultKind >= 0 || m.HasErrorText || m.Kind > Response:
		return "envelope"
	}
	return "none"
}

// notDecoded returns the error of a body whose only defect is an opaque value at offset at.
func notDecoded(at int) *decode.Error {
	return &decode.Error{Cause: decode.Unsupported, At: at, Expected: "a decoder for these values"}
}
