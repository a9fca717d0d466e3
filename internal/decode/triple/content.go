package triple

import (
	"strings"

	"dubbo-wire/internal/decode"
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
	// otherContent has a name only.
	otherContent
)

// content is what a body consists of: the name is that of its serialization. framed is set if it is a message of gRPC, unsure if there
// is a content type that the capture lacks.
type content struct {
	kind           kind
	name           string
	framed, unsure bool
}

// isPlain reports whether a content type says that the body is not gRPC.
func (c content) isPlain() bool { return !c.framed && !c.unsure }

// contentOf returns what a body is by the headers before it. Without a content type it is a message of gRPC: of these only the first one
// of a direction has headers, while a plain body always has them.
func (d *Decoder) contentOf(h Heads) content {
	typed := h.contentType()
	if typed == nil && h.First != nil && h.First.told && h.First.Use == Plain {
		return content{kind: otherContent, name: "bytes"}
	}
	if typed == nil {
		// One of the headers that are not known may be the content type.
		return content{kind: grpcMessage, name: protobuf, framed: true, unsure: h.First != nil && h.First.unnamed}
	}
	if typed.typeLost {
		return content{kind: grpcMessage, name: protobuf, unsure: true}
	}
	text := typed.ContentType
	if text == "" || text == grpcType || text == grpcType+"+proto" {
		return content{kind: grpcMessage, name: protobuf, framed: true}
	}
	text, _, _ = strings.Cut(text, ";")
	text = strings.TrimSpace(text)
	if !isGRPC(text) {
		return d.plainContent(text)
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

// contentLike returns what a body is, by the headers before it or, if these have no content type, by the operation of its call.
func (d *Decoder) contentLike(h Heads, op *rpc.Operation) content {
	if len(d.operations.contents) > 0 && op != nil {
		if typed := h.contentType(); typed == nil || typed.ContentType == "" {
			if like, ok := d.operations.contents[op]; ok {
				return like
			}
		}
	}
	return d.contentOf(h)
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

// plainContent returns what a media type without parameters stands for.
func (d *Decoder) plainContent(text string) content {
	text = strings.ToLower(text)
	top, sub, _ := strings.Cut(text, "/")
	switch {
	case sub == json || sub == "json-rpc" || strings.HasSuffix(sub, "+json"):
		return content{kind: jsonText, name: json}
	case text == "text/event-stream":
		return content{kind: eventStream, name: json}
	case sub == "xml" || strings.HasSuffix(sub, "+xml"):
		return content{kind: xmlText, name: "xml"}
	case sub == "x-www-form-urlencoded":
		return content{kind: formText, name: "form"}
	case top == "multipart":
		return content{kind: otherContent, name: "multipart"}
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

// internText returns the name of a serialization that a peer made up, "bytes" if it cannot be a name.
func (d *Decoder) internText(name string) string {
	if name == "" || len(name) > maxNameLen || !decode.CanBeName(name) {
		return "bytes"
	}
	return d.intern([]byte(name))
}
