// Package http2 reads HTTP/2 connections: those of gRPC and of Dubbo's Triple, and others. It also reads those of HTTP/1 (http1.go): an exchange
// is a stream, and its body comes as if in frames. Package http1 has their heads.
//
// Bytes of a connection come in, with gaps; messages go out. DATA and HEADERS belong to messages, all other frames are counted
// by kind. A message is a gRPC message or a plain body. What headers and bodies mean is package triple's. A connection owns its
// header tables, and of each open stream the newest message of each direction; the connections of a lane share a budget for
// them, beyond which the oldest streams are closed.
//
// Sources: RFC 9113 (HTTP/2), RFC 7541 (HPACK), RFC 7540, section 3.2, and RFC 9112 (the switch from HTTP/1), the gRPC protocol over HTTP/2 (prefix and trailers).
package http2

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"strconv"

	"golang.org/x/net/http2"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/http1"
	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/rpc"
)

// The protocols of calls over HTTP. What a call's headers, or those of earlier calls of its connection, tell decides among them.
var (
	// HTTP is calls of HTTP/1 and HTTP/2 without another protocol in them. It opens the connections that begin with HTTP/1.
	HTTP = &rpc.Protocol{
		Name: "http", Read: "messages, bodies", RecognisedBy: "a first line of HTTP/1; HTTP/2 without gRPC",
		Releases: "all: http, and rest of other clients", Capture: "rest-3.2.16.pcap.zst", Sniff: http1.Sniff, Found: http1.Found, New: openHTTP1,
		KeepHead: http1.KeepHead, Marker: http2.ClientPreface,
		StatusText: http.StatusText, Header: headerFields, NewDecoder: newDecoder, ScrubHead: scrubHead, ScrubBody: triple.ScrubBody, PlainHTTP: true,
	}
	// REST is the calls of HTTP that have a mark of Dubbo's: see [triple.Head].Dubbo.
	REST = &rpc.Protocol{
		Name: "rest", Read: "messages, bodies", RecognisedBy: "http with a header that only Dubbo writes, or --product",
		Releases: "2.6.0 and later", Capture: "rest-jetty-json-2.7.23.pcap.zst",
		StatusText: http.StatusText, Header: headerFields, NewDecoder: newDecoder, ScrubHead: scrubHead, ScrubBody: triple.ScrubBody, PlainHTTP: true,
	}
	// Hessian is the calls of HTTP whose bodies are messages of Hessian.
	Hessian = &rpc.Protocol{
		Name: "hessian", Read: "messages, bodies", RecognisedBy: "http with the content type of Hessian, or without one a body of Hessian",
		Releases: "2.x, later by extension", Capture: "hessian-http-2.7.23.pcap.zst",
		AsksFor:    triple.AsksForHessian,
		StatusText: http.StatusText, Attachments: rpc.Attachments{Request: []string{"remote.application"}}, Header: headerFields, NewDecoder: newDecoder, ScrubHead: scrubHead, PlainHTTP: true,
	}
	GRPC = &rpc.Protocol{
		Name: "grpc", Read: "messages, bodies", RecognisedBy: "the content type application/grpc", Releases: "2.7.5 to 2.7.23", Capture: "grpc-java-1.72.0.pcap.zst",
		StatusText: triple.StatusText, Attachments: triple.Attachments, Header: headerFields, NewDecoder: newDecoder, ScrubHead: scrubHead, ScrubBody: triple.ScrubBody,
	}
	Triple = &rpc.Protocol{
		Name: "triple", Read: "messages, bodies", RecognisedBy: "gRPC with a header tri-…, a serialization in its content type, or Dubbo's wrapper",
		Releases: "3.x", Capture: "triple-3.3.6.pcap.zst",
		StatusText: triple.StatusText, Attachments: triple.Attachments, Header: headerFields, NewDecoder: newDecoder, ScrubHead: scrubHead, ScrubBody: triple.ScrubBody,
	}
)

// Protocol opens the connections of HTTP/2. It has no calls of its own: reports print its name for connections without any.
var Protocol = &rpc.Protocol{
	Name: "http2", Read: "recognised", RecognisedBy: "its preface or SETTINGS, without calls",
	Releases: "3.x", Capture: "upgrade-3.3.6.pcap.zst", Sniff: sniff, Found: Found, New: open,
}

// sniffLen is the number of bytes of the preface that identify it.
const sniffLen = 16

// sniff recognises the client's preface, and the SETTINGS that a server sends first.
func sniff(head []byte) rpc.Verdict {
	switch {
	case bytes.HasPrefix(head, []byte(http2.ClientPreface[:sniffLen])):
		return rpc.Mine
	case len(head) < sniffLen && string(head) == http2.ClientPreface[:len(head)]:
		return rpc.More
	}
	return sniffServer(head)
}

// sniffServer recognises the server's preface: a SETTINGS frame without flags (RFC 9113, section 3.4), and as much of the next frame
// as head has. A capture of the server's side alone begins with it.
func sniffServer(head []byte) rpc.Verdict {
	if len(head) < frameHeaderLen {
		return rpc.NotMine // the verdict of more bytes does not depend on this one
	}
	h := parseFrameHeader(head)
	if h.kind != typeSettings || h.flags != 0 || !h.valid() || h.length > maxServerSettings*settingLen {
		return rpc.NotMine
	}
	rest := head[frameHeaderLen:]
	settings := rest[:min(h.length, len(rest))]
	for ; len(settings) >= 2; settings = settings[min(settingLen, len(settings)):] {
		if id := binary.BigEndian.Uint16(settings); id == 0 || id > maxSettingID {
			return rpc.NotMine
		}
	}
	next := rest[min(h.length, len(rest)):]
	switch {
	case len(next) >= frameHeaderLen:
		if h = parseFrameHeader(next); !mayBegin(next) || !h.valid() {
			return rpc.NotMine
		}
	case h.length == 0: // nine bytes that are nearly all zero may be anything
		return rpc.More
	}
	return rpc.Mine
}

// A setting is a number of two bytes and a value of four. The numbers are those that the IANA has registered, up to
// SETTINGS_NO_RFC7540_PRIORITIES, and some to come; real servers send up to four settings.
const (
	settingLen        = 6
	maxServerSettings = 16
	maxSettingID      = 0x10
)

// headerFields describes the head of a message.
func headerFields(list []rpc.HeaderField, m *rpc.Message, values bool) []rpc.HeaderField {
	n, ok := m.Native.(*native)
	if !ok {
		return list
	}
	l := headerLister{list: list, headers: m.Headers, values: values}
	for p := range n.pieces.all {
		l.piece(&p, m.Head[p.off:p.off+p.len])
	}
	return l.list
}

// maxListed is the number of fields of a head from which on those that are not decoded are joined.
const maxListed = 4 << 10

// headerLister lists the fields of a head.
type headerLister struct {
	list    []rpc.HeaderField
	headers []rpc.Header // those that follow
	values  bool         // are wanted
}

// piece adds the fields of a piece.
func (l *headerLister) piece(p *piece, own []byte) {
	value, rest := fieldValue, "tableSize"
	switch p.kind {
	case pieceFields:
	case pieceLines:
		value, rest = http1Value, "lines"
	default:
		text := ""
		if l.values && len(l.list) < maxListed {
			text = p.value(own)
		}
		l.add(rpc.HeaderField{Name: pieceNames[p.kind], Value: text, Off: int(p.off), Len: int(p.len), Secret: p.isSecret()})
		return
	}
	at, end := int(p.off), int(p.off+p.len)
	for len(l.headers) > 0 && int(l.headers[0].Off) < end && int(l.headers[0].Off) >= at {
		h := &l.headers[0]
		if int(h.Off) > at {
			l.add(rpc.HeaderField{Name: rest, Off: at, Len: int(h.Off) - at, Secret: p.kind == pieceLines})
		}
		to := min(int(h.Off+h.Len), end)
		from := int(h.Off)
		parts, before := query(h, own[from-int(p.off):to-int(p.off)], from)
		f := rpc.HeaderField{Name: fieldName(h), Off: from, Len: before}
		if l.values {
			f.Value = value(h)
		}
		l.list = append(l.list, f)
		for _, part := range parts {
			l.add(part)
		}
		at = to
		l.headers = l.headers[1:]
	}
	if at < end {
		name := "fields"
		if at > int(p.off) {
			name = "more fields"
		}
		l.add(rpc.HeaderField{Name: name, Off: at, Len: end - at, Secret: true})
	}
}

// add adds a field that is not decoded.
func (l *headerLister) add(f rpc.HeaderField) {
	if len(l.list) >= maxListed {
		f.Name, f.Value = "more", ""
		if last := &l.list[len(l.list)-1]; last.Name == f.Name {
			last.Len += f.Len
			last.Secret = last.Secret || f.Secret
			return
		}
	}
	l.list = append(l.list, f)
}

func fieldName(h *rpc.Header) string {
	name := h.Name
	if name == "" {
		name = "?"
	}
	if h.Trailer {
		return "trailers." + name
	}
	return "headers." + name
}

// fieldValue returns the value of a header, what it means if it is coded, and what compression did.
func fieldValue(h *rpc.Header) string {
	if h.Unknown {
		text := fmt.Sprintf("unknown: dynamic entry %d, sent before the capture or in a gap", h.Entry)
		if h.Indexed {
			text += "; added to the table"
		}
		return text
	}
	value := h.Text()
	if text := triple.HeaderText(h); text != "" {
		value += " = " + text
	}
	how := "literal"
	switch {
	case h.Entry > staticLen:
		how = "dynamic entry " + strconv.Itoa(int(h.Entry))
	case h.Entry > 0:
		how = "static entry " + strconv.Itoa(int(h.Entry))
	}
	if h.Indexed {
		how += ", added to the table"
	}
	unit := "bytes"
	if h.Len == 1 {
		unit = "byte"
	}
	return fmt.Sprintf("%s (%s; %d %s instead of %d)", value, how, h.Len, unit, h.PlainLen)
}

// newDecoder returns a decoder for the bodies of kept messages.
func newDecoder(formats []decode.Format) rpc.Decoder {
	return &keptDecoder{formats: formats, bodies: triple.NewDecoder(formats), alone: make(map[string]*triple.Decoder)}
}

type keptDecoder struct {
	formats []decode.Format
	bodies  *triple.Decoder
	alone   map[string]*triple.Decoder // by full name of the only format of each
	again   rpc.Message
}

// Decode implements [rpc.Decoder].
func (d *keptDecoder) Decode(m *rpc.Message, detail rpc.Detail) *rpc.Message {
	return d.decode(d.bodies, m, detail)
}

// DecodeAs implements [rpc.Decoder].
func (d *keptDecoder) DecodeAs(m *rpc.Message, f *decode.Format) *rpc.Message {
	name := f.FullName()
	if d.alone[name] == nil {
		d.alone[name] = triple.NewDecoder([]decode.Format{*f})
	}
	return d.decode(d.alone[name], m, rpc.Values)
}

func (d *keptDecoder) decode(bodies *triple.Decoder, m *rpc.Message, detail rpc.Detail) *rpc.Message {
	d.again = *m
	var request *rpc.Operation
	if n, ok := m.Native.(*native); ok {
		request = n.request
	}
	heads := triple.HeadsOf(m.Headers)
	if !m.Interleaved && heads.First != nil {
		heads.First.SetPlain()
	}
	bodies.DecodeBy(heads, &d.again, request, detail)
	if n, ok := m.Native.(*native); ok && n.err != nil {
		d.again.Err = n.err
	}
	return &d.again
}
