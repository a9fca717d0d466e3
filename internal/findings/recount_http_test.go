package findings_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
)

// The findings about plain HTTP once more, from frames and packets.

// tcpConn is a connection by its packets.
type tcpConn struct {
	first, last int64  // times
	shut        string // the end with the first FIN
	marks       int64  // bytes of packets with SYN or FIN, without payload
}

// tcpConns are the connections with a SYN, by their two ends, in the order of time.
type tcpConns map[string][]*tcpConn

// packetConns reads the connections of a capture, each packet of which is there once.
func packetConns(t *testing.T, path string) tcpConns {
	src, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	conns := tcpConns{}
	var dec packet.Decoder
	var p capture.Packet
	var s packet.Segment
	for src.Next(&p) == nil {
		if dec.Decode(&p, &s) != packet.TCP {
			continue
		}
		key, from := endsKey(s.Src.String(), s.Dst.String()), s.Src.String()
		list := conns[key]
		if s.Flags&(packet.SYN|packet.ACK) == packet.SYN {
			list = append(list, &tcpConn{first: p.Time})
			conns[key] = list
		}
		if len(list) == 0 {
			continue
		}
		c := list[len(list)-1]
		c.last = p.Time
		fin := s.Flags&packet.FIN != 0
		if s.PayloadLen == 0 && (fin || s.Flags&packet.SYN != 0) {
			c.marks += int64(p.WireLen)
		}
		if fin && c.shut == "" {
			c.shut = from
		}
	}
	return conns
}

func endsKey(a, b string) string { return min(a, b) + " " + max(a, b) }

// at returns the connection between two ends at a time, nil if the capture does not have its start.
func (x tcpConns) at(ends [2]string, time int64) *tcpConn {
	for _, c := range x[endsKey(ends[0], ends[1])] {
		if time >= c.first && time <= c.last {
			return c
		}
	}
	return nil
}

// says reports whether a header field of the message has a word.
func (m *message) says(field, word string) bool {
	return strings.Contains(strings.ToLower(m.fields[field]), word)
}

// closes reports whether the sender of a message of HTTP/1 wants to close the connection after it.
func (m *message) closes() bool {
	return m.says("connection", "close") || m.oldHTTP && !m.says("connection", "keep-alive")
}

func isOldHTTP(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.HasPrefix(line, []byte("HTTP/1.0")) || bytes.HasSuffix(bytes.TrimSpace(line), []byte(" HTTP/1.0"))
}

// recountConns counts the calls with a connection of their own.
func recountConns(t *testing.T, x expected, path string, s *frames, all []exchange) {
	perConn := map[int]int{}
	for _, m := range s.list {
		if m.plainHTTP {
			perConn[m.conn]++
		}
	}
	type count struct {
		calls, conns int
		bytes        int64
		closers      map[string]int
	}
	pairs := map[[2]string]*count{}
	seen := map[int]bool{}
	var conns tcpConns
	for _, e := range all {
		if e.request == nil || e.response == nil || !e.request.plainHTTP || seen[e.request.conn] {
			continue
		}
		seen[e.request.conn] = true
		if conns == nil {
			conns = packetConns(t, path)
		}
		c := conns.at(e.request.ends, e.request.first)
		n := perConn[e.request.conn]
		ended := c != nil && c.shut != ""
		if n <= 2 && !ended {
			continue
		}
		by := [2]string{e.client(), e.request.ends[1-e.request.side]}
		if pairs[by] == nil {
			pairs[by] = &count{closers: map[string]int{}}
		}
		of := pairs[by]
		of.conns++
		of.calls += (n + 1) / 2
		if n != 2 || e.failed() || e.response.status < 200 || strings.HasPrefix(e.request.method, "CONNECT ") || c.last-e.response.last >= 1e9 {
			continue
		}
		of.bytes += c.marks
		of.closers["alone"]++
		switch {
		case e.request.closes():
			of.closers["clientAnnounced"]++
		case e.response.closes():
			of.closers["serverAnnounced"]++
		case c.shut == e.request.ends[e.request.side]:
			of.closers["clientClosed"]++
		default:
			of.closers["serverClosed"]++
		}
	}
	for by, of := range pairs {
		if n := of.closers["alone"]; n < 10 || 5*n < of.calls {
			continue
		}
		key := "keep-alive " + by[1]
		if x[key] == nil {
			x[key] = map[string]any{"handshakeBytes": int64(0), "clients": 0}
		}
		facts := x[key]
		facts["handshakeBytes"] = facts["handshakeBytes"].(int64) + of.bytes
		facts["clients"] = facts["clients"].(int) + 1
		of.closers["calls"], of.closers["connections"] = of.calls, of.conns
		for name, n := range of.closers {
			had, _ := facts[name].(int)
			facts[name] = had + n
		}
	}
}
