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
	// otherContent has a name only.
	otherContent
)

// content is what a body consists of: the name is that of its serialization. framed is set if it is a message of gRPC.
type content struct {
	kind   kind
	name   string
	framed bool
}

// contentOf returns what a body is by the headers before it. Without a content type it is a message of gRPC: only its first message has
// headers, while a plain body always has them.
func (d *Decoder) contentOf(headers []rpc.Header) content {
	text := ""
	for i := range headers {
		if h := &headers[i]; h.Name == "content-type" && !h.Unknown {
			text = h.Value
			break
		}
	}
	if text == "" || text == grpcType || text == grpcType+"+proto" {
		return content{grpcMessage, protobuf, true}
	}
	text, _, _ = strings.Cut(text, ";")
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, grpcType); ok {
		switch rest = strings.TrimPrefix(rest, "+"); rest {
		case "", "proto":
			return content{grpcMessage, protobuf, true}
		case json:
			return content{jsonText, json, true}
		}
		return content{otherContent, d.internText(rest), true}
	}
	return d.plainContent(text)
}

// plainContent returns what a media type without parameters stands for.
func (d *Decoder) plainContent(text string) content {
	text = strings.ToLower(text)
	top, sub, _ := strings.Cut(text, "/")
	switch {
	case sub == json || strings.HasSuffix(sub, "+json"):
		return content{kind: jsonText, name: json}
	case text == "text/event-stream":
		return content{kind: eventStream, name: json}
	case sub == "xml" || strings.HasSuffix(sub, "+xml"):
		return content{kind: otherContent, name: "xml"}
	case sub == "x-www-form-urlencoded":
		return content{kind: otherContent, name: "form"}
	case top == "multipart":
		return content{kind: otherContent, name: "multipart"}
	case sub == "yaml" || sub == "x-yaml":
		return content{kind: otherContent, name: "yaml"}
	case sub == "protobuf" || sub == "x-protobuf" || sub == "vnd.google.protobuf":
		return content{kind: protobufMessage, name: protobuf}
	case top == "text":
		return content{kind: otherContent, name: "text"}
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
