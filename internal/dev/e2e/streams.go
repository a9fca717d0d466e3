package e2e

import (
	"fmt"
	"strings"
)

// http2Line holds the fields of a line of the log about an HTTP/2 frame or a message.
type http2Line struct {
	Dir, Local, Remote, Kind, Type string
	Stream, Bytes                  int
	Headers                        [][2]string
}

// stream is one HTTP/2 stream, as both ends logged what they sent.
type stream struct {
	path   string
	halves [2]half // of the client, of the server
	reset  bool
	failed bool // by the status in headers or trailers, or by an exception
}

// half is what one end sent on a stream.
type half struct {
	headed   bool
	reset    bool // by this end
	messages Sizes
}

// rows are the messages of a half as reports count them: one of no bytes where headers have none.
func (h *half) rows() Sizes {
	if h.headed && h.messages.Count == 0 {
		return Sizes{Count: 1}
	}
	return h.messages
}

// streamKey identifies a stream by the addresses of both ends.
type streamKey struct {
	client, server string
	id             int
}

// Method identifies the calls of a method in a protocol.
type Method struct{ Protocol, Service, Method string }

// Streams holds what peers sent over HTTP/2, according to their own log.
type Streams struct {
	Methods map[Method]*Group
	// Rows is the number of messages as reports count them, Connections that of TCP connections.
	Rows, Connections int64
	byKey             map[streamKey]*stream
}

// Streams returns what the peers have sent since Streams or Truth was last called. The server listens on port.
func (b *Bed) Streams(protocol, port string, peers ...*Peer) (*Streams, error) {
	s := &Streams{Methods: map[Method]*Group{}, byKey: map[streamKey]*stream{}}
	for _, p := range peers {
		if err := newLines(p, func(l *http2Line) { s.line(l, port) }); err != nil {
			return nil, err
		}
	}
	return s, s.group(protocol)
}

func (s *Streams) line(l *http2Line, port string) {
	if l.Dir != "out" || l.Stream == 0 {
		return
	}
	key, side := streamKey{l.Local, l.Remote, l.Stream}, 0
	if strings.HasSuffix(l.Local, ":"+port) {
		key, side = streamKey{l.Remote, l.Local, l.Stream}, 1
	}
	st := s.byKey[key]
	if st == nil {
		st = new(stream)
		s.byKey[key] = st
	}
	h := &st.halves[side]
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
	for _, f := range l.Headers {
		switch f[0] {
		case ":path":
			st.path = f[1]
		case "grpc-status":
			st.failed = st.failed || f[1] != "0"
		case "tri-exception-code":
			st.failed = true
		}
	}
}

func (s *Streams) group(protocol string) error {
	connections := map[[2]string]bool{}
	for key, st := range s.byKey {
		connections[[2]string{key.client, key.server}] = true
		slash := strings.LastIndexByte(st.path, '/')
		if slash < 1 {
			return fmt.Errorf("nobody has logged the request of stream %v", key)
		}
		m := Method{protocol, st.path[1:slash], st.path[slash+1:]}
		g := s.Methods[m]
		if g == nil {
			g = new(Group)
			s.Methods[m] = g
		}
		request, response := st.halves[0].rows(), st.halves[1].rows()
		g.Calls++
		g.Request.join(&request)
		g.Response.join(&response)
		switch {
		case st.failed:
			g.Errors++
		case st.reset:
			g.Errors++
		case response.Count == 0:
			g.Unanswered++
		}
		s.Rows += request.Count + response.Count
	}
	s.Connections = int64(len(connections))
	return nil
}
