package sniff

import (
	"bytes"
	"io"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// MaxHTTP2 is how many bytes from the start of a client's HTTP/2 stream are looked at.
const MaxHTTP2 = 8 << 10

// Requests tells what a client's HTTP/2 stream, which starts with head, is used for, by the headers of its first
// request: Triple where they have one of Dubbo's own, GRPC where their content type says so, HTTP2 else, and also where
// head has MaxHTTP2 bytes or cannot be read. "" asks for more bytes.
func Requests(head []byte) string {
	if len(head) < len(preface) {
		return ""
	}
	f := http2.NewFramer(io.Discard, bytes.NewReader(head[len(preface):min(len(head), MaxHTTP2)]))
	f.SetMaxReadFrameSize(MaxHTTP2)
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	f.MaxHeaderListSize = MaxHTTP2
	for {
		frame, err := f.ReadFrame()
		if (err == io.EOF || err == io.ErrUnexpectedEOF) && len(head) < MaxHTTP2 {
			return ""
		}
		if err != nil {
			return HTTP2
		}
		if headers, ok := frame.(*http2.MetaHeadersFrame); ok {
			return kind(headers.Fields)
		}
	}
}

func kind(headers []hpack.HeaderField) string {
	found := HTTP2
	for _, h := range headers {
		switch {
		case strings.HasPrefix(h.Name, "tri-"):
			return Triple
		case h.Name == "content-type" && strings.HasPrefix(h.Value, "application/grpc"):
			found = GRPC
		}
	}
	return found
}
