package findings

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/report"
)

const (
	// maxHTTPConns limits the connections of plain HTTP in memory.
	maxHTTPConns = 1 << 16
	// A finding about connections that are not kept alive needs leastSingles calls of one client host to the same server that had a
	// connection of their own, and leastSinglesShare percent of the calls on connections whose number of calls is known.
	leastSingles, leastSinglesShare = 10, 20
	// mostIdle is the time in nanoseconds after the response within which such a connection ends. Later it ends because nobody used it.
	mostIdle = int64(1e9)
)

// closer says who ended a connection after its first call.
type closer uint8

const (
	clientAnnounced closer = iota // Connection: close, or HTTP/1.0 without keep-alive
	serverAnnounced
	clientClosed // with a FIN, unannounced
	serverClosed
)

var closerTexts = [...]string{
	clientAnnounced: "the client announced the close, with Connection: close or HTTP/1.0",
	serverAnnounced: "the server announced the close, with Connection: close or HTTP/1.0",
	clientClosed:    "the client closed it unannounced", serverClosed: "the server closed it unannounced",
}

// httpConn is a connection of plain HTTP with its first call.
type httpConn struct {
	conn           *call.Conn
	client, server string
	side           int8   // of the client
	closer         closer // clientClosed if nobody announced it
	failed         bool   // the call did, or switched to another protocol
	arrived        int64  // time of the response on the steady clock
	first          place
}

// addHTTPConn adds the connection of its first call.
func (k *Collector) addHTTPConn(c *call.Call, of *conn) {
	of.listed = true
	if len(k.httpConns) >= maxHTTPConns {
		return
	}
	p := c.Answer()
	one := httpConn{
		conn: c.Conn, client: of.client.host, server: c.Server(), side: int8(c.Side), closer: clientClosed, first: placeOf(c.Response), arrived: p.Arrived,
		failed: c.Failed() || p.Status < http.StatusOK || strings.HasPrefix(c.Request.Method(), http.MethodConnect+" "),
	}
	switch {
	case c.Request.Closes:
		one.closer = clientAnnounced
	case c.Response.Closes:
		one.closer = serverAnnounced
	}
	k.httpConns = append(k.httpConns, one)
}

// isSingle reports whether the connection carried its first call alone, and ended after it.
func (o *httpConn) isSingle() bool {
	end := o.conn.End
	return end != nil && end.Began && end.Shut && end.Messages == 2 && !o.failed && end.LastTime-o.arrived < mostIdle
}

// counts reports whether it is known how many calls the connection carried: it began and ended in the capture, or had several.
func (o *httpConn) counts() bool {
	end := o.conn.End
	return end != nil && (end.Messages > 2 || end.Began && end.Shut)
}

// endedBy returns who ended the connection.
func (o *httpConn) endedBy() closer {
	if o.closer == clientClosed && o.conn.End.FirstFIN != o.side {
		return serverClosed
	}
	return o.closer
}

// singles is the calls with a connection of their own.
type singles struct {
	alone, calls, conns, handshakes int64 // handshakes: link bytes of SYN and FIN packets
	closers                         [len(closerTexts)]int64
	first                           place
}

func (s *singles) add(o *singles) {
	if o.alone > 0 && (s.alone == 0 || o.first.frame < s.first.frame) {
		s.first = o.first
	}
	s.alone += o.alone
	s.calls += o.calls
	s.conns += o.conns
	s.handshakes += o.handshakes
	for i, n := range o.closers {
		s.closers[i] += n
	}
}

// shortConnections finds servers to which clients open connections for single calls.
func shortConnections(k *Collector, e *evidence) {
	type ends struct{ client, server string }
	pairs := make(map[ends]*singles)
	seen := make(map[*call.Conn]bool, len(k.httpConns)) // a connection may have been forgotten and listed again
	for i := range k.httpConns {
		o := &k.httpConns[i]
		if seen[o.conn] || !o.counts() {
			continue
		}
		seen[o.conn] = true
		one := singles{calls: (o.conn.End.Messages + 1) / 2, conns: 1}
		if o.isSingle() {
			one.alone, one.handshakes, one.first = 1, o.conn.End.HandshakeBytes, o.first
			one.closers[o.endedBy()] = 1
		}
		by := ends{o.client, o.server}
		if pairs[by] == nil {
			pairs[by] = new(singles)
		}
		pairs[by].add(&one)
	}
	servers, clients := make(map[string]*singles), make(map[string]map[string]int64)
	for by, s := range pairs {
		if s.alone < leastSingles || 100*s.alone < leastSinglesShare*s.calls {
			continue
		}
		if servers[by.server] == nil {
			servers[by.server], clients[by.server] = new(singles), make(map[string]int64)
		}
		servers[by.server].add(s)
		clients[by.server][by.client] = s.alone
	}
	for _, server := range slices.Sorted(maps.Keys(servers)) {
		s := servers[server]
		var hosts []string
		for _, c := range most(clients[server], strings.Clone) {
			hosts = append(hosts, c.key)
		}
		f := report.Finding{Subject: server, Frame: s.first.frame, File: s.first.file, Weight: s.handshakes}
		f.Text = fmt.Sprintf("%s of %s from %s had a connection of %s own (%s): each waited for a handshake, and SYN and FIN packets took %s",
			report.Count(s.alone), report.Plural(s.calls, "call"), someOf(hosts, 3), verb(s.alone, "its", "their"), reasons(closerTexts[:], s.closers[:]), report.Volume(s.handshakes))
		if len(k.httpConns) == maxHTTPConns {
			f.Text += fmt.Sprintf("; only the first %s connections of plain HTTP were looked at", report.Count(maxHTTPConns))
		}
		f.Facts = []report.Fact{
			fact("alone", s.alone), fact("calls", s.calls), fact("connections", s.conns), fact("clientAnnounced", s.closers[clientAnnounced]),
			fact("serverAnnounced", s.closers[serverAnnounced]), fact("clientClosed", s.closers[clientClosed]), fact("serverClosed", s.closers[serverClosed]),
			fact("handshakeBytes", s.handshakes), fact("clients", int64(len(hosts))),
			{Name: "clientNames", Names: hosts[:min(len(hosts), 20)]},
		}
		f.Verb, f.Args = "analyze", []string{"--server", server, "--by", "client,connection"}
		e.addCalls(f, s.alone)
	}
}
