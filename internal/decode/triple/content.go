package triple

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/content/charset"
	"dubbo-wire/internal/decode/content/multipart"
	"dubbo-wire/internal/rpc"
)

// kind is what a content type stands for.
type kind uint8

const (
	// grpcMessage is a protocol buffers message or a wrapper, after the five bytes of gRPC.
	grpcMessage kind = iota
	jsonText
	eventStream
	protobufMessage
	plainText
	xmlText
	formText
	multipartBody
	hessianMessage
	jsonRPC
	// otherContent has a name only.
	otherContent
)

// content is what a body consists of: the name is that of its serialization. framed is set if it is a message of gRPC, unsure if there
// is a content type that the capture lacks.
type content struct {
	kind           kind
	name           string
	framed, unsure bool
	mediaType      string // with its parameters, of a plain body
}

// isPlain reports whether a content type says that the body is not gRPC.
func (c content) isPlain() bool { return !c.framed && !c.unsure }

// contentOf returns what a body is by the headers before it. Without a content type it is a message of gRPC: of these only the first one
// of a direction has headers, while a plain body always has them.
func (d *Decoder) contentOf(h Heads) content {
	typed := h.contentType()
	if (typed == nil || typed.ContentType == "" && !typed.typeLost) && h.First != nil && h.First.told && h.First.Use == Plain {
		return content{kind: otherContent, name: "bytes"}
	}
	if typed == nil {
		// One of the headers that are not known may be the content type.
		return content{kind: grpcMessage, name: protobuf, framed: true, unsure: h.First != nil && h.First.unnamed}
	}
	if typed.typeLost {
		return content{kind: grpcMessage, name: protobuf, unsure: true}
	}
	return d.contentTyped(typed.ContentType)
}

// contentTyped returns what a body of a content type is, which may be "".
func (d *Decoder) contentTyped(contentType string) content {
	text := contentType
	if text == "" || text == grpcType || text == grpcType+"+proto" {
		return content{kind: grpcMessage, name: protobuf, framed: true}
	}
	if contentType == d.lastPlain.mediaType { // usual
		return d.lastPlain
	}
	text, _, _ = strings.Cut(text, ";")
	text = strings.TrimSpace(text)
	if !isGRPC(text) {
		c := d.plainContent(text)
		c.mediaType = contentType
		d.lastPlain = c
		return c
	}
	switch sub := subtype(text); sub {
	case "":
		return content{kind: grpcMessage, name: protobuf, framed: true}
	case json:
		return content{kind: jsonText, name: json, framed: true}
	default:
		return content{kind: otherContent, name: d.internText(sub), framed: true}
	}
}

// contentLike returns what a body is: by the headers before it or, if these tell less, by the content type of the requests of its call, or
// by what these accept.
func (d *Decoder) contentLike(h Heads, op *rpc.Operation) content {
	own := d.contentOf(h)
	if op == nil {
		return own
	}
	if op.ContentType == "" {
		if typed := h.contentType(); own.isBytes() && (typed == nil || typed.ContentType == "") && h.First.succeeded() {
			if c, ok := d.accepted(op.Accept); ok {
				return c
			}
		}
		return own
	}
	like := d.contentTyped(op.ContentType)
	typed := h.contentType()
	switch {
	case typed == nil, typed.ContentType == "", like.kind == hessianMessage && own.isBytes(), like.kind == jsonRPC && own.kind == jsonText:
		return like
	}
	return own
}

// accepted returns what a list of media types leaves as the content of a response, if that is one: application/json, application/problem+json.
// REST of Dubbo 3.2.4 sends no Content-Type with more than about 1,000 bytes.
func (d *Decoder) accepted(list string) (all content, ok bool) {
	for text := range strings.SplitSeq(list, ",") {
		text, _, _ = strings.Cut(text, ";")
		text = strings.TrimSpace(text)
		c := d.plainContent(text)
		if c.kind == otherContent || ok && (c.kind != all.kind || c.name != all.name) {
			return content{}, false
		}
		if !ok {
			all, ok = c, true
			all.mediaType = text
		}
	}
	return all, ok
}

// isBytes reports whether nothing is known of a body.
func (c content) isBytes() bool { return c.kind == otherContent && c.name == "bytes" }

// namesMethodInBody reports whether bodies of requests of a content type name the method that is called: those of Hessian and JSON-RPC.
func namesMethodInBody(contentType string) bool {
	sub := subtypeOf(contentType)
	return sub == jsonRPCType || isHessian(sub)
}

// subtypeOf returns the subtype of a media type, in lower case and without parameters.
func subtypeOf(contentType string) string {
	if contentType == "application/json" { // usual
		return json
	}
	text, _, _ := strings.Cut(contentType, ";")
	_, sub, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), "/")
	return sub
}

// subtype returns what follows the content type of gRPC, "" for messages of protocol buffers.
func subtype(contentType string) string {
	if len(contentType) <= len(grpcType) || contentType == grpcType+"+proto" {
		return ""
	}
	text, _, _ := strings.Cut(contentType[len(grpcType):], ";")
	if text = strings.TrimPrefix(strings.TrimSpace(text), "+"); text == "proto" {
		return ""
	}
	return text
}

// plainContent returns what a media type without parameters stands for. It keeps what it found out of those that are usual.
func (d *Decoder) plainContent(text string) content {
	c, ok := d.contents[text]
	if !ok {
		if c = d.newContent(text); len(text) <= maxKeptType && len(d.contents) < maxKeptTypes {
			if d.contents == nil {
				d.contents = make(map[string]content)
			}
			d.contents[strings.Clone(text)] = c
		}
	}
	return c
}

// The length of a media type, and the number of them, that are kept.
const (
	maxKeptType  = 64
	maxKeptTypes = 256
)

func (d *Decoder) newContent(text string) content {
	text = strings.ToLower(text)
	top, sub, _ := strings.Cut(text, "/")
	switch {
	case sub == jsonRPCType:
		return content{kind: jsonRPC, name: json}
	case isHessian(sub):
		return hessianContent
	case sub == json || strings.HasSuffix(sub, "+json"):
		return content{kind: jsonText, name: json}
	case text == "text/event-stream":
		return content{kind: eventStream, name: json}
	case sub == "xml" || strings.HasSuffix(sub, "+xml"):
		return content{kind: xmlText, name: "xml"}
	case sub == "x-www-form-urlencoded":
		return content{kind: formText, name: "form"}
	case top == "multipart":
		return content{kind: multipartBody, name: "multipart"}
	case sub == "yaml" || sub == "x-yaml":
		return content{kind: otherContent, name: "yaml"}
	case sub == "protobuf" || sub == "proto" || sub == "x-protobuf" || sub == "vnd.google.protobuf":
		return content{kind: protobufMessage, name: protobuf}
	case top == "text":
		return content{kind: plainText, name: "text"}
	case sub == "octet-stream":
		return content{kind: otherContent, name: "bytes"}
	}
	return content{kind: otherContent, name: d.internText(sub)}
}

// partReader returns the reader for what a part of a multipart body contains; see [multipart.Content].
func (d *Decoder) partReader(mediaType string) (r multipart.Whole, text func([]byte) string) {
	kind, _, _ := strings.Cut(mediaType, ";")
	set, ok := charset.Find(charset.Name(mediaType))
	if !ok {
		return nil, nil
	}
	switch d.plainContent(strings.TrimSpace(kind)).kind {
	case plainText:
		return nil, set.Text
	case jsonText:
		if all := d.byName[json]; len(all) > 0 && isUTF8(charset.Name(mediaType)) {
			r, _ = all[0].reader().(multipart.Whole)
		}
		return r, set.Text
	case xmlText:
		d.xml.Text = textOf(mediaType, set)
		r = &d.xml
	case formText:
		d.form.Text = set.Text
		r = &d.form
	default:
		return nil, nil
	}
	if !set.ASCII {
		r = nil
	}
	return r, set.Text
}

// textOf returns what decodes texts of a body, nil if its media type names no charset.
func textOf(mediaType string, set charset.Charset) func([]byte) string {
	if charset.Name(mediaType) == "" {
		return nil
	}
	return set.Text
}

// charset returns that of the body, and why it cannot be read in it, nil if it can. What consists of ASCII is the same in most.
func (b *body) charset() (charset.Charset, *decode.Error) {
	name := charset.Name(b.content.mediaType)
	set, ok := charset.Find(name)
	switch kind := b.content.kind; {
	case kind == hessianMessage, kind == multipartBody: // parts have charsets of their own
		return charset.UTF8, nil
	case !ok && !bytes.ContainsFunc(b.b, func(c rune) bool { return c >= utf8.RuneSelf }): // in UTF-16 every other byte would be 0
		return charset.UTF8, nil
	case !ok, kind != plainText && !set.ASCII:
	case kind != jsonText && kind != eventStream && kind != jsonRPC || isUTF8(name) || !bytes.ContainsFunc(b.b, func(c rune) bool { return c >= utf8.RuneSelf }):
		return set, nil
	}
	return set, &decode.Error{Cause: decode.Unsupported, Expected: "a body in UTF-8, ISO-8859-1, windows-1252 or, of text, UTF-16", Found: strconv.Quote(name)}
}

// isUTF8 reports whether a charset is read as UTF-8.
func isUTF8(name string) bool {
	return name == "" || strings.EqualFold(name, "utf-8") || strings.EqualFold(name, "utf8") || strings.HasSuffix(strings.ToLower(name), "ascii")
}

// internText returns the name of a serialization that a peer made up, "bytes" if it cannot be a name.
func (d *Decoder) internText(name string) string {
	if name == "" || len(name) > maxNameLen || !decode.CanBeName(name) {
		return "bytes"
	}
	return d.intern([]byte(name))
}
