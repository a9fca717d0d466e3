package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// httpLine holds the fields of a line of the log about an HTTP/2 frame, a message of HTTP/1 or HTTP/2, or a call.
type httpLine struct {
	Side, Dir, Local, Remote, Kind, Type string
	Stream, Bytes                        int
	Headers                              [][2]string

	// Path and Status are those of a message of HTTP/1 or of a call by a client of HTTP, Encoding that of a message in both versions.
	Path, Method, Error  string
	Status               int
	HeadBytes, BodyBytes int64
	ContentBytes         int64
	Encoding             string
	UncompressedBytes    int64

	Protocol, Provider, Service, Verb string
	Arguments                         []json.RawMessage
	ResultKind                        string
	Result                            json.RawMessage
}

// stream is a stream of HTTP/2, or a request of HTTP/1 and its response, as both ends logged what they sent.
type stream struct {
	verb, host, path string
	name             Method
	halves           [2]half // of the client, of the server
	reset            bool
	failed           bool // by the status in headers or trailers, or by an exception
}

// half is what one end sent on a stream.
type half struct {
	headed   bool
	reset    bool // by this end
	messages Sizes
	bytes    int64 // of the messages and their headers, with the headers of frames and the lines of chunks
	status   int
	// encoding and uncompressed are those of a compressed body.
	encoding     string
	uncompressed int64
}

// rows are the messages of a half as reports count them: one of no bytes where headers have none.
func (h *half) rows() Sizes {
	if h.headed && h.messages.Count == 0 {
		return Sizes{Count: 1}
	}
	return h.messages
}

// way identifies a connection by the addresses of both ends.
type way struct{ client, server string }

// streamKey identifies a stream: HTTP/1 counts the requests of a connection.
type streamKey struct {
	client, server string
	id             int
}

// Method identifies the calls of a method in a protocol.
type Method struct{ Protocol, Service, Method string }

// Streams holds what peers sent over HTTP, according to their own log.
type Streams struct {
	Methods map[Method]*Group
	// Rows is the number of messages as reports count them, Connections that of TCP connections.
	Rows, Connections int64
	byKey             map[streamKey]*stream
	counted           [2]map[way]int // the requests and responses of HTTP/1 so far
	calls             []httpLine     // those that consumers made, in order for each of them
	broken            []string
}

// errBroken is the error of peers that did not finish what they sent.
var errBroken = errors.New("messages without an end")

// Streams returns what the peers have sent since Streams or Truth was last called, without names.
func (b *Bed) Streams(peers ...*Peer) (*Streams, error) {
	s := &Streams{Methods: map[Method]*Group{}, byKey: map[streamKey]*stream{}, counted: [2]map[way]int{{}, {}}}
	for _, p := range peers {
		if err := newLines(p, s.line); err != nil {
			return nil, err
		}
	}
	if len(s.broken) > 0 {
		return nil, fmt.Errorf("%w: %s", errBroken, strings.Join(s.broken, "; "))
	}
	connections := map[way]bool{}
	for key, st := range s.byKey {
		connections[way{key.client, key.server}] = true
		if st.path == "" {
			return nil, fmt.Errorf("nobody has logged the request of stream %v", key)
		}
		s.Rows += st.halves[0].rows().Count + st.halves[1].rows().Count
	}
	s.Connections = int64(len(connections))
	return s, nil
}

func (s *Streams) line(l *httpLine) {
	if l.Kind == "call" && l.Side == "consumer" {
		s.calls = append(s.calls, *l)
	}
	if l.Dir != "out" {
		return
	}
	w, side := way{l.Local, l.Remote}, 0
	if l.Side == "provider" {
		w, side = way{l.Remote, l.Local}, 1
	}
	switch {
	case l.Kind == "http1message":
		s.http1(l, w, side)
	case l.Stream != 0:
		st := s.stream(w, l.Stream)
		st.http2(l, &st.halves[side])
	}
}

func (s *Streams) stream(w way, id int) *stream {
	key := streamKey{w.client, w.server, id}
	if s.byKey[key] == nil {
		s.byKey[key] = new(stream)
	}
	return s.byKey[key]
}

// http1 adds a message of HTTP/1.
func (s *Streams) http1(l *httpLine, w way, side int) {
	switch {
	case l.Error != "":
		s.broken = append(s.broken, l.Local+" > "+l.Remote+": "+l.Error)
		return
	case l.Method == "PRI": // the preface of HTTP/2
		return
	case side == 1 && l.Status < 200: // interim responses are not messages
		return
	}
	s.counted[side][w]++
	st := s.stream(w, s.counted[side][w])
	h := &st.halves[side]
	h.headed = true
	h.messages.add(l.ContentBytes)
	h.bytes = l.HeadBytes + l.BodyBytes
	h.status, h.encoding, h.uncompressed = l.Status, l.Encoding, l.UncompressedBytes
	st.failed = st.failed || l.Status >= 400
	if side == 0 {
		st.verb, st.path = l.Method, l.Path
		for _, f := range l.Headers {
			if strings.EqualFold(f[0], "host") {
				st.host = f[1]
			}
		}
	}
}

// http2 adds a frame or a message of HTTP/2.
func (st *stream) http2(l *httpLine, h *half) {
	switch {
	case l.Kind == "message" && h.reset:
		// Dubbo may write DATA after its own RST_STREAM, when the answer comes before the request is written. It belongs to no
		// message (docs/counting.md, "Frames of closed streams").
	case l.Kind == "message":
		h.messages.add(int64(l.Bytes))
	case l.Type == "RST_STREAM":
		st.reset, h.reset = true, true
	case l.Headers != nil:
		h.headed = true
	}
	switch l.Type {
	case "HEADERS", "CONTINUATION", "DATA":
		h.bytes += 9 + int64(l.Bytes) // RFC 9113, section 4.1
	}
	for _, f := range l.Headers {
		switch f[0] {
		case ":method":
			st.verb = f[1]
		case ":authority":
			st.host = f[1]
		case ":path":
			st.path = f[1]
		case ":status":
			_, _ = fmt.Sscan(f[1], &h.status)
			st.failed = st.failed || h.status >= 400
		case "grpc-status":
			st.failed = st.failed || f[1] != "0"
		case "tri-exception-code":
			st.failed = true
		}
	}
}

// NameByPath names all calls by their paths /service/method.
func (s *Streams) NameByPath(protocol string) error {
	for key, st := range s.byKey {
		slash := strings.LastIndexByte(st.path, '/')
		if slash < 1 {
			return fmt.Errorf("no method in the path of stream %v: %s", key, st.path)
		}
		st.name = Method{protocol, st.path[1:slash], st.path[slash+1:]}
	}
	s.group()
	return nil
}

// mayBe reports whether a call may have this name: by Dubbo's /interface/method, by the interface alone where the method is in the body, or else by
// host, method of HTTP and path. The host may be unknown, a segment of the path {id}, and matrix parameters are left out.
func (st *stream) mayBe(name Method) bool {
	path, _, _ := strings.Cut(st.path, "?")
	if i := strings.Index(path, "://"); i > 0 { // absolute form
		_, path, _ = strings.Cut(path[i+3:], "/")
		path = "/" + path
	}
	if path == "/"+name.Service+"/"+name.Method || path == "/"+name.Service {
		return true
	}
	verb, pattern, ok := strings.Cut(name.Method, " ")
	if !ok || verb != st.verb || name.Service != st.host && name.Service != "?" {
		return false
	}
	got, want := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(got) != len(want) {
		return false
	}
	for i, segment := range want {
		segment, _, _ = strings.Cut(segment, ";")
		if got[i] != "{id}" && got[i] != segment {
			return false
		}
	}
	return true
}

// group adds the calls of each name up.
func (s *Streams) group() {
	for _, st := range s.byKey {
		g := s.Methods[st.name]
		if g == nil {
			g = new(Group)
			s.Methods[st.name] = g
		}
		request, response := st.halves[0].rows(), st.halves[1].rows()
		g.Calls++
		g.Request.join(&request)
		g.Response.join(&response)
		switch {
		case st.failed, st.reset:
			g.Errors++
		case response.Count == 0:
			g.Unanswered++
		}
	}
}
