// Package triple gives meaning to what HTTP/2 streams carry: the headers, the messages of gRPC and of Dubbo's Triple, and plain bodies.
//
// A message of Triple is a protocol buffers message: that of an interface definition, or a wrapper that names a serialization and
// has each argument, or the result, as a stream of that serialization. The wrapper is recognised by its bytes, since no header
// tells. Arguments do not share references. Attachments are headers. A [Decoder] owns the tree and the memory of the last message
// that it decoded.
//
// Sources: RpcContextFilter of Dubbo 2.7.23, RestHeaderEnum of 3.2.16, RestConstants of 3.3.6; Dubbo 3.0.0 to 3.3.1, triple_wrapper.proto, ReflectionPackableMethod, TripleCustomerProtocolWrapper, StreamUtils,
// TripleHeaderEnum, RequestMetadata, TripleServerStream, ExceptionCustomizerWrapper; the gRPC protocol over HTTP/2;
// google/rpc/status.proto and error_details.proto.
package triple

import (
	"hash/maphash"
	"math"
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/compress"
	"dubbo-wire/internal/decode/content/form"
	"dubbo-wire/internal/decode/content/multipart"
	"dubbo-wire/internal/decode/content/xml"
	"dubbo-wire/internal/rpc"
)

// Encodings of messages whose compression has no name.
const (
	// NoEncoding is for a message that is marked as compressed, though the headers name no compression.
	NoEncoding = "none"
	// UnknownEncoding is for a message that is marked as compressed if the capture lacks the headers.
	UnknownEncoding = "?"
)

// Decoder decodes the messages of the connections of a lane. It is not safe for concurrent use.
type Decoder struct {
	// Route names plain requests that the user has given a name, see [rpc.Env]; nil without such names.
	Route func(method, path string) string
	// Borrow lets trees have texts that are valid only as long as their body, see [decode.Tree].
	Borrow bool
	// AllFields says that all fields of a wrapper are looked at for its envelope, so that more detail finds it to be nothing else.
	AllFields bool
	// Printed takes what usual wrappers print, which then have no tree; nil: nothing is printed.
	Printed *decode.Printed

	byName     map[string][]*serialization
	jsonPart   *decode.Format // JSON as a part of a body, of which a tree is needed to replace its values
	known      map[string]*known
	recent     *known
	compress   compress.Decompressor
	operations operations
	names      map[string]string // names that peers made up, by themselves
	types      map[string]typeKind
	lastPlain  content // of the last media type of a plain body
	contents   map[string]content
	wrapped    map[wrappedService]bool // names that are words, of wrappers that were seen
	// descriptors are those of types of results, by their names.
	descriptors map[string]string
	tree        decode.Tree
	xml         xml.Reader
	form        form.Reader
	multipart   multipart.Reader
	wrapper     wrapper
	mangled     [][]byte // the memory of the types in the name of a method
}

// serialization is a format with its reader.
type serialization struct {
	format *decode.Format
	r      decode.Reader
	// classes is the same reader if it has classes of the application, else nil.
	classes decode.ClassReader
}

func (s *serialization) reader() decode.Reader {
	if s.r == nil {
		s.r = s.format.New()
		if r, ok := s.r.(decode.ReleaseReader); ok {
			r.Dubbo3()
		}
		s.classes, _ = s.r.(decode.ClassReader)
	}
	return s.r
}

// NewDecoder returns a decoder for bodies in the given serializations.
func NewDecoder(formats []decode.Format) *Decoder {
	d := &Decoder{byName: make(map[string][]*serialization), names: make(map[string]string), types: make(map[string]typeKind), descriptors: make(map[string]string)}
	d.operations.seed = maphash.MakeSeed()
	for i := range formats {
		f := &formats[i]
		if strings.HasPrefix(f.Dialect, "id ") { // the same format under another id, of which Triple has none
			continue
		}
		known := d.byName[f.Name]
		at := len(known)
		if at > 0 && hasDubbo3(f) && !hasDubbo3(known[0].format) {
			at = 0
		}
		d.byName[f.Name] = slices.Insert(known, at, &serialization{format: f})
	}
	if all := d.byName[json]; len(all) > 0 {
		part := *all[0].format
		part.ScrubBody, d.jsonPart = nil, &part
	}
	d.knowNames()
	return d
}

// hasDubbo3 reports whether releases of Dubbo 3, which alone speak Triple, carry the format.
func hasDubbo3(f *decode.Format) bool {
	return strings.HasPrefix(f.Releases, "3.") || strings.Contains(f.Releases, " 3.") || f.Releases == "all"
}

// Names of serializations that content types stand for.
const (
	protobuf = "protobuf"
	json     = "json"
)

// The name that the wrapper has for hessian2.
const hessian4 = "hessian4"

// known is a name that a wrapper may have.
type known struct {
	name    string
	formats []*serialization // the dialects of one format
	// certain: hardly any other message starts with the name. rare: seldom is the name all that a message of an application has.
	certain, rare bool
}

// words are names that an application may send as the first text of a message of its own. The value is set if it would hardly send
// that text alone.
var words = map[string]bool{
	"java": false, "json": false, "custom": false, "dubbo": false, "protobuf": true, "gson": true, "jackson": true, "avro": true, "fury": true, "smartbuf": true,
}

// knowNames fills the table of known names.
func (d *Decoder) knowNames() {
	d.known = make(map[string]*known)
	for name, formats := range d.byName {
		rare, word := words[name]
		d.known[name] = &known{name: name, formats: formats, certain: !word, rare: rare}
	}
	if hessian2 := d.byName["hessian2"]; hessian2 != nil {
		d.known[hessian4] = &known{name: hessian4, formats: hessian2, certain: true}
	}
}

// named returns what is known of a name, nil if nothing is.
func (d *Decoder) named(name []byte) *known {
	if k := d.recent; k != nil && k.name == string(name) {
		return k
	}
	k := d.known[string(name)]
	if k != nil {
		d.recent = k
	}
	return k
}

// Product returns what the server calls itself in the headers of a response, "" if they do not tell. Equal ones are shared.
func (d *Decoder) Product(h Heads) string {
	first, _ := h.both()
	if first.product == "" {
		return ""
	}
	if s, ok := d.names[first.product]; ok {
		return s
	}
	return d.intern([]byte(first.product))
}

// Bounds of the names that are kept.
const (
	maxNames   = 1 << 10
	maxNameLen = 64
)

// intern returns b as a string. Equal names share one copy.
func (d *Decoder) intern(b []byte) string {
	if s, ok := d.names[string(b)]; ok {
		return s
	}
	s := decode.UTF8(b)
	if len(s) <= maxNameLen && len(d.names) < maxNames {
		d.names[s] = s
	}
	return s
}

// Decode decodes the body of m as far as detail requires. m has the kind, the headers that its row has, the body and its encoding;
// Failed is set if its call has a status other than OK. request is the operation of the call, nil if it is not known. A message of
// no bytes has a Body that is not nil: a row without a message has none.
//
// It sets Operation of a request, Group, Serialization, SerializationID, Format, ResultKind, Exception, UncompressedLen, Plain, Tree,
// Parts, Decoded and Err, what is known of an exception and of a generic call, and Key of headers that carry attachments. The results
// that are borrowed are valid until the next call.
func (d *Decoder) Decode(m *rpc.Message, request *rpc.Operation, detail rpc.Detail) {
	d.DecodeBy(HeadsOf(m.Headers), m, request, detail)
}

// DecodeBy is Decode for a message with these heads, whose header fields are kept only if more than its envelope is needed.
func (d *Decoder) DecodeBy(h Heads, m *rpc.Message, request *rpc.Operation, detail rpc.Detail) {
	m.SerializationID, m.Serialization, m.Format = rpc.NoSerialization, "", nil
	m.ResultKind, m.Exception = -1, false
	m.Plain, m.UncompressedLen, m.Tree, m.Printed, m.Decoded, m.Err, m.Parts = nil, 0, nil, nil, "", nil, decode.PartBytes{}
	if m.Operation == nil && m.Kind == rpc.Request {
		m.Operation = request
	}
	b := body{d: d, m: m, heads: h, content: d.contentLike(h, request), b: m.Body, short: m.Short}
	if request != nil {
		b.service, b.called = request.Service, request
	} else if m.Kind == rpc.Request {
		b.called = m.Operation
	}
	if m.Kind == rpc.Request {
		m.Group = h.group()
	}
	if detail > rpc.Envelope {
		markAttachments(m, b.content.kind == hessianMessage)
	}
	if m.BodyLen == 0 && m.Body == nil {
		unanswered := m.Complete && m.Kind == rpc.Response && m.Status == 0 && b.content.framed // a stream without answers
		if unanswered {
			m.ResultKind = 1
		}
		if detail == rpc.Values {
			d.tree.Reset()
			switch {
			case !m.Complete:
				m.Err = &decode.Error{Cause: m.Short, Expected: "a message, or the end of the stream"}
			case unanswered:
				d.tree.Open(decode.List, decode.ByField, "result", 0, 0)
				d.tree.Close()
			}
			m.Tree = &d.tree
			sums := d.tree.Sums()
			m.Decoded, m.Err = d.tree.Decoded(&sums, m.Err, m.Operation != nil)
		}
		return
	}
	if m.BodyLen > math.MaxInt32 {
		b.tooLong(detail)
		return
	}
	if b.short == decode.None && len(m.Body) < m.BodyLen {
		b.short = decode.Limit // only the start of the body was kept
	}
	b.whole = m.IsWhole()
	if !b.decompress() {
		b.opaque(detail)
		return
	}
	if m.Failed && m.Kind == rpc.Response && !m.HasErrorText && b.content.kind == jsonText {
		m.ErrorMessage, m.HasErrorText = jsonMessage(b.b)
	}
	b.read(detail)
}

// Enough reports whether b, the start of the body of m, is all that Decode needs for Envelope, so that the rest need not be kept. m
// has its kind, encoding and announced length. request is the operation of the call, nil if it is not known.
func (d *Decoder) Enough(h Heads, m *rpc.Message, request *rpc.Operation, b []byte) bool {
	if m.Encoding != "" { // the size without compression is part of it
		return false
	}
	switch d.contentLike(h, request).kind {
	case grpcMessage:
		return d.enoughMessage(b, m)
	case hessianMessage:
		return d.enoughHessian(m, b)
	case jsonRPC:
		return enoughJSONRPC(m, b)
	}
	return len(b) >= enough
}
