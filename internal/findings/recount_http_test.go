package findings_test

import (
	"bytes"
	"maps"
	"slices"
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

// asked returns the target of a request of plain HTTP, with its query.
func (m *message) asked() string {
	if !m.plainHTTP {
		return ""
	}
	return m.fields[":path"]
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

// recountCookies adds up the bytes of cookies.
func recountCookies(x expected, all []exchange) {
	for side, direction := range []string{"request", "response"} {
		field := []string{"cookie", "set-cookie"}[side]
		by := map[string]*[3]int64{}
		names := map[string]map[string]bool{}
		for _, e := range all {
			if e.name == "?/?" || side == 1 && e.request == nil {
				continue
			}
			for _, m := range [][]*message{e.requests, e.responses}[side] {
				if !m.plainHTTP || !m.complete || m.unresolved {
					continue
				}
				if by[e.name] == nil {
					by[e.name], names[e.name] = new([3]int64), map[string]bool{}
				}
				of := by[e.name]
				of[0]++
				of[1] += m.frame
				for _, h := range m.headers {
					if h.Name != field {
						continue
					}
					of[2] += int64(h.Len)
					texts := []string{h.Value}
					if side == 0 {
						texts = strings.Split(h.Value, ";")
					}
					for _, s := range texts {
						if name, _, ok := strings.Cut(strings.TrimSpace(s), "="); ok && !strings.Contains(name, " ") {
							names[e.name][name] = true
						}
					}
				}
			}
		}
		var sum [3]int64
		methods, list := 0, map[string]bool{}
		for name, of := range by {
			if of[2] == 0 {
				continue
			}
			methods++
			for i, n := range of {
				sum[i] += n
			}
			for cookie := range names[name] {
				list[cookie] = true
			}
		}
		if n := sum[0]; n >= 10 && 10*sum[2] >= sum[1] && sum[2] >= 50*n {
			x.add("cookies", direction, map[string]any{
				"looked": n, "frameBytes": sum[1], "cookieBytes": sum[2], "methods": methods, "cookies": slices.Collect(maps.Keys(list)),
			})
		}
	}
}

// recountHeads adds up the heads of HTTP/1, and the bodies of both directions.
func recountHeads(x expected, all []exchange) {
	heads, bodies := map[string]*[2]int64{}, map[string]int64{}
	counts := map[string]*[2]int64{}
	for _, e := range all {
		if e.name == "?/?" {
			continue
		}
		for side, list := range [][]*message{e.requests, e.responses} {
			for _, m := range list {
				if !m.plainHTTP || !m.complete || m.fieldsLen > 0 {
					continue
				}
				if heads[e.name] == nil {
					heads[e.name], counts[e.name] = new([2]int64), new([2]int64)
				}
				counts[e.name][side]++
				heads[e.name][side] += m.headerLen
				bodies[e.name] += m.body
			}
		}
	}
	for side, direction := range []string{"request", "response"} {
		methods, n, header, body := 0, int64(0), int64(0), int64(0)
		for name := range heads {
			if h, of := heads[name][side], counts[name][side]; of >= 10 && h >= 200*of && h >= bodies[name] {
				methods, n, header, body = methods+1, n+of, header+h, body+bodies[name]
			}
		}
		if methods > 0 {
			x.add("headers of HTTP/1", direction, map[string]any{"methods": methods, "messages": n, "headerBytes": header, "bodyBytes": body})
		}
	}
}

// recountRepeated compares each response to a GET with the one before to the same client and target.
func recountRepeated(x expected, all []exchange) {
	type target struct{ client, host, path string }
	latest := map[target]*message{}
	counts := map[string]map[string]any{}
	add := func(method, name string, n int64) {
		if counts[method] == nil {
			counts[method] = map[string]any{}
		}
		had, _ := counts[method][name].(int64)
		counts[method][name] = had + n
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b exchange) int { return int(a.closed() - b.closed()) })
	for _, e := range all {
		q, p := e.request, e.response
		if q == nil || p == nil || !q.plainHTTP || q.unresolved || p.unresolved || q.fields[":method"] != "GET" || p.status != 200 || p.body == 0 ||
			!q.complete || !p.complete || p.whole == "" || len(e.responses) > 1 || q.says("cache-control", "no-store") || p.says("cache-control", "no-store") {
			continue
		}
		host := q.fields[":authority"]
		if q.fields["host"] != "" {
			host = q.fields["host"]
		}
		to := target{q.host(), host, q.fields[":path"]}
		before := latest[to]
		latest[to] = p
		add(e.name, "looked", 1)
		add(e.name, "bodyBytes", p.body)
		if before == nil || before.whole != p.whole {
			continue
		}
		add(e.name, "repeated", 1)
		add(e.name, "repeatedBytes", p.body)
		switch {
		case q.fields["if-none-match"] != "" || q.fields["if-modified-since"] != "":
			add(e.name, "conditionNotHonoured", 1)
		case before.fields["etag"] != "" || before.fields["last-modified"] != "":
			add(e.name, "validatorIgnored", 1)
		default:
			add(e.name, "withoutValidator", 1)
		}
	}
	for name, facts := range counts {
		n, _ := facts["repeated"].(int64)
		bytes, _ := facts["repeatedBytes"].(int64)
		if n >= 5 && 5*n >= facts["looked"].(int64) && bytes >= 4096 {
			x.add("repeated-responses", name, facts)
		}
	}
}

// closed is the number of the message that completes the exchange.
func (e exchange) closed() (n int64) {
	for _, m := range append(slices.Clone(e.requests), e.responses...) {
		n = max(n, m.number)
	}
	return n
}
