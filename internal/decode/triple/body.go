package triple

import (
	"math"
	"slices"
	"strconv"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/compress"
	"dubbo-wire/internal/decode/content/form"
	"dubbo-wire/internal/decode/content/hessian"
	"dubbo-wire/internal/decode/content/multipart"
	"dubbo-wire/internal/decode/content/xml"
	"dubbo-wire/internal/rpc"
)

// body reads one body.
type body struct {
	d       *Decoder
	m       *rpc.Message
	heads   Heads
	content content
	service string         // of the call, "" if it is not known
	called  *rpc.Operation // of the call, nil if it is not known
	b       []byte         // without compression
	short   decode.Cause   // why b ends early, None if it does not
	whole   bool           // b is the whole body
	detail  rpc.Detail
	printed *decode.Printed // takes what count prints, nil if that is nothing
	// wrapper is nil if the body is not a wrapper. formats are the dialects of its serialization, nil if that is unknown.
	wrapper *wrapper
	formats []*serialization
	hessian hessian.Message // the start of a message of Hessian; its version is 0 if there is none
	// fault and null are set if a message whose result tells so is an error, or null.
	fault, null bool
}

// decompress removes the compression of the body. It returns false, with the error in the message, if that is not possible.
func (b *body) decompress() bool {
	m := b.m
	switch m.Encoding {
	case "":
		return true
	case "identity":
		m.Encoding = ""
		return true
	}
	m.UncompressedLen = -1
	switch {
	case !b.whole:
		m.Err = &decode.Error{Cause: b.short, At: len(m.Body), Expected: "the rest of a compressed message"}
		return false
	case m.Encoding == NoEncoding:
		m.Err = &decode.Error{Cause: decode.Malformed, Expected: "the name of a compression in the headers", Found: "none"}
		return false
	case m.Encoding == UnknownEncoding && len(m.Body) == 0: // Dubbo's compressors leave nothing as it is
		m.Plain, m.UncompressedLen, b.b = []byte{}, 0, []byte{}
		return true
	case m.Encoding == UnknownEncoding && !b.recognizeEncoding():
		m.Err = &decode.Error{Cause: decode.Unsupported, Expected: "the name of a compression in the headers", Found: "headers that the capture lacks"}
		return false
	}
	plain, err := b.d.compress.Plain(m.Encoding, m.Body)
	if err != nil {
		m.Err = err
		return false
	}
	m.Plain, m.UncompressedLen, b.b = plain, len(plain), plain
	return true
}

// recognizeEncoding sets the encoding of a message without headers by its bytes. A block of snappy begins with nothing of its own:
// there what it contains must be a wrapper for certain.
func (b *body) recognizeEncoding() bool {
	m := b.m
	if name := compress.Recognize(m.Body); name != "" {
		m.Encoding = name
		return true
	}
	plain, err := b.d.compress.Plain(snappy, m.Body)
	if err != nil {
		return false
	}
	if o := b.d.open(plain, len(plain)); !o.certain() {
		return false
	}
	m.Encoding = snappy
	return true
}

const snappy = "snappy"

// extent returns the extent of the bytes that the tree has nodes for.
func (b *body) extent() decode.Extent {
	m := b.m
	if m.Plain != nil {
		return decode.Extent{Len: len(m.Plain), Start: len(m.Plain), Captured: len(m.Plain)}
	}
	return decode.Extent{Len: m.BodyLen, Start: len(m.Body), Captured: m.Captured, Short: m.Short}
}

// opaque ends a body of which nothing can be read. Of a plain one the content type names the serialization.
func (b *body) opaque(detail rpc.Detail) {
	if b.content.kind != grpcMessage {
		b.m.Serialization = b.content.name
	}
	if detail == rpc.Envelope {
		return
	}
	b.begin()
	b.finish(0, detail)
}

// tooLong ends a body with more bytes than a tree can have. Only what was kept of it is a part.
func (b *body) tooLong(detail rpc.Detail) {
	m := b.m
	m.Err = &decode.Error{Cause: decode.Limit, Expected: "a body of at most " + strconv.Itoa(math.MaxInt32) + " bytes"}
	m.Serialization, m.UncompressedLen = b.content.name, -1
	if detail == rpc.Envelope {
		return
	}
	b.begin()
	m.Tree.Leaf(decode.Opaque, decode.Whole, "opaque", 0, 0, len(m.Body))
	m.Decoded = "none"
	m.Parts = m.BodyParts()
	if detail == rpc.Parts {
		m.Tree, m.Decoded = nil, ""
	}
}

// begin starts the tree.
func (b *body) begin() {
	t := &b.d.tree
	t.Reset()
	t.WithValues, t.Borrow = true, b.d.Borrow // some errors appear only when values are read
	b.m.Tree = t
}

// finish ends the tree. at is the offset after the last field that was read.
func (b *body) finish(at int, detail rpc.Detail) {
	m := b.m
	sums, err := m.Tree.Rest(at, b.extent(), m.Err)
	m.Decoded, m.Err = m.Tree.Decoded(&sums, err, m.Operation != nil || m.ResultKind >= 0)
	if m.Parts = sums.Parts; m.Encoding != "" {
		m.Parts = m.BodyParts()
	}
	if detail == rpc.Parts {
		m.Tree, m.Decoded = nil, ""
	}
}

// read reads the body as far as detail requires.
func (b *body) read(detail rpc.Detail) {
	m := b.m
	b.detail = detail
	bodyLen := b.extent().Len
	if b.content.isBytes() && (b.service == "" || m.Kind == rpc.Request) && hessian.Recognize(b.b, m.Kind == rpc.Request) {
		b.content = hessianContent
		if detail > rpc.Envelope {
			markAttachments(m, true)
		}
	}
	switch b.content.kind { // the name of a method may be anywhere
	case hessianMessage:
		b.openHessian()
	case jsonRPC:
		b.openJSONRPC()
	}
	if detail == rpc.Envelope && bodyLen > envelopeLen && !b.d.AllFields {
		b.b, b.whole = b.b[:min(len(b.b), envelopeLen)], false
	}
	switch b.content.kind {
	case grpcMessage:
		b.recognize(detail, bodyLen)
	case jsonText:
		b.serialization(b.d.byName[json], json)
	case eventStream:
		b.serialization(b.d.byName[json], json)
		m.Format = b.d.jsonPart
	case protobufMessage:
		b.serialization(b.d.byName[protobuf], protobuf)
	case hessianMessage, jsonRPC:
	default:
		m.Serialization = b.content.name
	}
	b.result()
	if detail == rpc.Envelope && m.Operation != nil && m.Operation.Generic && m.Kind == rpc.Request {
		b.genericMethod()
	}
	if detail == rpc.Envelope && !b.d.AllFields {
		return
	}
	if b.wrapper != nil && m.Kind == rpc.Request && m.Operation != nil && b.whole {
		b.types()
	}
	if b.wrapper != nil && len(b.formats) > 1 {
		b.formats = b.toldDialects()
		m.Format = b.formats[0].format
	}
	if detail == rpc.Envelope {
		if _, wrong := b.charset(); wrong != nil && b.content.kind == jsonText {
			m.Format = b.d.jsonPart
		}
		return
	}
	if detail == rpc.Parts && b.count() || detail == rpc.Values && b.print() {
		return
	}
	m.Err = nil
	b.begin()
	at := 0
	set, wrong := b.charset()
	switch {
	case wrong != nil:
		m.Err = wrong
	case b.content.kind == hessianMessage:
		at = b.readHessian()
	case b.content.kind == jsonRPC:
		at = b.readJSONRPC()
	case b.wrapper != nil && len(b.formats) > 1:
		at = b.readDialects()
	case b.wrapper != nil:
		at = b.readWrapper()
	case b.content.kind == eventStream:
		at = b.readEvents()
	case b.content.kind == plainText:
		at = b.readText(set.Text)
	case b.content.kind == xmlText:
		b.d.xml.Text = textOf(b.content.mediaType, set)
		if at = b.readWhole(&b.d.xml); !b.d.xml.Hidden() { // else redaction replaces all of it
			m.Format = &xml.Format
		}
	case b.content.kind == multipartBody:
		b.d.multipart.MediaType, b.d.multipart.Content = b.content.mediaType, b.d.partReader
		if at = b.readWhole(&b.d.multipart); !b.d.multipart.Hides {
			m.Format = &multipart.Format
		}
	case b.content.kind == formText:
		m.Format = &form.Format
		b.d.form.Text = set.Text
		at = b.readWhole(&b.d.form)
	case b.formats != nil:
		if r, ok := b.formats[0].reader().(wholeReader); ok {
			at = b.readWhole(r)
		} else {
			m.Err = decode.NotDecoded(0)
		}
	case m.Serialization == "" && b.short != decode.None:
		// The tree says what is missing.
	case m.Serialization == "":
		m.Err = &decode.Error{Cause: decode.Unsupported, Expected: "a content type", Found: "headers that the capture lacks"}
	default:
		m.Err = &decode.Error{Cause: decode.Unsupported, Expected: "a decoder for " + m.Serialization}
	}
	b.finish(at, detail)
}

// serialization sets the serialization of the message.
func (b *body) serialization(formats []*serialization, name string) {
	b.formats = formats
	b.m.Serialization = name
	if len(formats) > 0 {
		b.m.Format = formats[0].format
	}
}

// recognize decides whether the body is a wrapper or a message of protocol buffers. Envelope needs only the start of the body if the
// name in it is certain; then the start decides for it.
func (b *body) recognize(detail rpc.Detail, bodyLen int) {
	o := b.d.open(b.b, bodyLen)
	if o.more && b.short != decode.None {
		return // the capture lacks the bytes that would tell
	}
	if !o.maybe {
		b.protobuf()
		return
	}
	w, certain := &b.d.wrapper, detail == rpc.Envelope && !b.d.AllFields && o.certain()
	if certain && b.m.Kind == rpc.Request && (b.m.Operation == nil || !b.m.Operation.Generic) {
		b.wrapper = w // its fields are not needed
		b.serialization(o.known.formats, o.known.formats[0].format.Name)
		return
	}
	switch fields := w.scan(b.b); {
	case !certain && !(fields && b.isWrapper(w, o.known)):
		b.protobuf()
		return
	case o.known != nil:
		b.serialization(o.known.formats, o.known.formats[0].format.Name)
	default:
		b.m.Serialization = b.d.intern(b.b[w.name.from:w.name.to])
	}
	b.wrapper = w
	b.d.remember(b.service, o.known, w)
}

// protobuf takes the body for a message of protocol buffers, unless it is a plain one of which nobody knows what it is.
func (b *body) protobuf() {
	if p := b.m.Protocol; b.content.unsure && (p != nil && p.PlainHTTP || startsText(b.b)) {
		return
	}
	b.serialization(b.d.byName[protobuf], protobuf)
}

// startsText reports whether b starts as texts of JSON and XML do. In a message of protocol buffers these bytes would be a group of
// field 15, 11 or 7, and groups are not used any more.
func startsText(b []byte) bool { return len(b) > 0 && (b[0] == '{' || b[0] == '[' || b[0] == '<') }

// result sets the kind of the result of a response: 0 is an exception, 1 a value, 2 null.
func (b *body) result() {
	m := b.m
	if m.Kind != rpc.Response || m.Failed {
		return
	}
	switch {
	case b.heads.exception(), b.isThrowable(), b.fault:
		m.ResultKind, m.Exception = 0, true
	case b.isNull():
		m.ResultKind = 2
	default:
		m.ResultKind = 1
	}
}

// isNull reports whether the result is null: for that the bodies of heartbeats are examples, which are what writeObject(null) writes.
func (b *body) isNull() bool {
	data := b.b
	switch {
	case b.content.kind == hessianMessage, b.content.kind == jsonRPC:
		return b.null
	case b.wrapper != nil && len(b.wrapper.data) == 0:
		return !b.wrapper.cut
	case b.wrapper != nil:
		f := b.wrapper.data[0]
		if f.to == b.wrapper.end && b.wrapper.cut {
			return false
		}
		data = data[f.from:f.to]
	case b.content.kind == jsonText:
		return b.whole && string(data) == "null"
	default:
		return false
	}
	for _, s := range b.formats {
		if slices.ContainsFunc(s.format.Heartbeats, func(null []byte) bool { return string(null) == string(data) }) {
			return true
		}
	}
	return false
}

// types sets the types of the arguments, which are the last fields of a wrapper.
func (b *body) types() {
	w := b.wrapper
	if b.m.Operation.Types != nil { // the message is decoded again
		return
	}
	if len(w.types) == 0 {
		if len(w.data) == 0 { // a method without parameters
			b.m.Operation = b.d.withTypes(b.m.Operation, w, nil)
		}
		return
	}
	raw := b.b[w.types[0].tag:w.types[len(w.types)-1].to]
	b.m.Operation = b.d.withTypes(b.m.Operation, w, raw)
}

// genericMethod reads only the first argument of $invoke, a string.
func (b *body) genericMethod() {
	if b.content.kind == hessianMessage {
		b.hessianMethod()
		return
	}
	if b.wrapper == nil || len(b.wrapper.data) == 0 || len(b.formats) == 0 {
		return
	}
	f := b.wrapper.data[0]
	if f.to == b.wrapper.end && b.wrapper.cut {
		return
	}
	t := decode.Tree{WithValues: true}
	r := b.formats[0].reader()
	r.Reset(b.b[f.from:f.to], decode.Malformed, &t)
	r.Value(decode.ByIndex, "", 0, "Ljava/lang/String;")
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Kind == decode.String && n.Label == decode.ByIndex && n.Parent < 0 {
			b.m.GenericMethod = n.String()
			return
		}
	}
}

// resultName returns the name of the field with the result.
func (b *body) resultName() string {
	if b.m.Exception {
		return "exception"
	}
	return "result"
}
