package http2_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/bench/traffic"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// recordedConn records what is written.
type recordedConn struct {
	net.Conn
	side int
	log  *recordedTalk
}

type recordedTalk struct {
	sync.Mutex
	segments []traffic.Segment
}

func (c recordedConn) Write(b []byte) (int, error) {
	c.log.Lock()
	for part := range slices.Chunk(bytes.Clone(b), 30_000) {
		c.log.segments = append(c.log.segments, traffic.Segment{Side: c.side, Data: part})
	}
	c.log.Unlock()
	return c.Conn.Write(b)
}

// pipeListener accepts one end of a pipe.
type pipeListener struct{ conns chan net.Conn }

func (l pipeListener) Accept() (net.Conn, error) {
	c, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (l pipeListener) Close() error {
	close(l.conns)
	return nil
}
func (pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// talk returns what the client and the server of net/http write for n requests, at random, with a text as often as it fits into each body, which has at most as many bytes as largest.
func talk(t *testing.T, seed uint64, n, largest int, text string) []traffic.Segment {
	r := rand.New(rand.NewPCG(seed, 1))
	log := new(recordedTalk)
	listener := pipeListener{make(chan net.Conn, 1)}
	server := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		size, _ := strconv.Atoi(q.Header.Get("X-Size"))
		status, _ := strconv.Atoi(q.Header.Get("X-Status"))
		size = min(size, largest)
		body := bytes.Repeat([]byte(text), size/len(text)+1)[:size]
		w.Header().Set("Content-Type", "text/plain")
		if q.Header.Get("X-Gzip") != "" {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write(body)
			_ = z.Close()
			body = b.Bytes()
			w.Header().Set("Content-Encoding", "gzip")
		}
		if q.Header.Get("X-Trailer") != "" {
			w.Header().Set("Trailer", "X-Sum")
		}
		if q.Header.Get("X-Early") != "" {
			w.WriteHeader(http.StatusEarlyHints)
		}
		w.WriteHeader(status)
		for len(body) > 0 {
			k := min(len(body), 1+size/3)
			_, _ = w.Write(body[:k])
			if q.Header.Get("X-Flush") != "" {
				w.(http.Flusher).Flush()
			}
			body = body[k:]
		}
		w.Header().Set("X-Sum", "12")
	})}
	ended := make(chan struct{})
	go func() {
		_ = server.Serve(listener)
		close(ended)
	}()
	transport := &http.Transport{DisableCompression: true, MaxConnsPerHost: 1, DialContext: func(context.Context, string, string) (net.Conn, error) {
		a, b := net.Pipe()
		listener.conns <- recordedConn{b, 1, log}
		return recordedConn{a, 0, log}, nil
	}}
	for i := range n {
		method := []string{"GET", "POST", "PUT", "HEAD", "DELETE", "OPTIONS", "PATCH", "PROPFIND"}[r.IntN(8)]
		var body io.Reader
		if size := min(largest, []int{0, 3, 500, 70_000}[r.IntN(4)]); size > 0 && method != "GET" && method != "HEAD" {
			if body = strings.NewReader(strings.Repeat(text, size/len(text)+1)[:size]); r.IntN(2) == 0 {
				body = io.MultiReader(body) // of unknown length: in chunks
			}
		}
		q, err := http.NewRequest(method, fmt.Sprintf("http://acme.example/things/%d?a=%d", i, r.IntN(9)), body)
		require.NoError(t, err)
		q.Header.Set("X-Size", strconv.Itoa([]int{0, 7, 3000, 90_000}[r.IntN(4)]))
		q.Header.Set("X-Status", strconv.Itoa([]int{200, 200, 201, 204, 304, 404, 500}[r.IntN(7)]))
		for _, name := range []string{"X-Gzip", "X-Flush", "X-Trailer", "X-Early"} {
			if r.IntN(3) == 0 {
				q.Header.Set(name, "1")
			}
		}
		answer, err := transport.RoundTrip(q)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
	}
	transport.CloseIdleConnections()
	require.NoError(t, server.Close())
	<-ended
	return log.segments
}

// counted reads what was written with net/http.
func counted(t *testing.T, segments []traffic.Segment) (list []string) {
	var sides [2]bytes.Buffer
	for _, s := range segments {
		sides[s.Side].Write(s.Data)
	}
	client, server := bufio.NewReader(&sides[0]), bufio.NewReader(&sides[1])
	var requests []*http.Request
	for n := 1; ; n++ {
		q, err := http.ReadRequest(client)
		if err != nil {
			break
		}
		body, err := io.ReadAll(q.Body)
		require.NoError(t, err)
		requests = append(requests, q)
		list = append(list, fmt.Sprintf("%d acme.example/%s /things/{id} %d true", n, q.Method, len(body)))
	}
	for n, q := range requests {
		a, err := http.ReadResponse(server, q)
		for err == nil && a.StatusCode < 200 {
			a, err = http.ReadResponse(server, q)
		}
		require.NoError(t, err)
		body, err := io.ReadAll(a.Body)
		require.NoError(t, err)
		list = append(list, fmt.Sprintf("%d %d %d true", n+1, a.StatusCode, len(body)))
	}
	return list
}

// net/http is the second opinion on what its own client and server write, wherever deliveries are split.
func TestNetHTTP(t *testing.T) {
	for seed := range seeds(6) {
		segments := split(talk(t, seed, 40, 90_000, "POST /x HTTP/1.1\r\nHost: y\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"), nil)
		want := counted(t, segments)
		for _, cuts := range [][]byte{nil, {1, 2, 3, 250, 7}, bytes.Repeat([]byte{9}, 400)} {
			for _, detail := range []rpc.Detail{rpc.Envelope, rpc.Parts, rpc.Values} {
				found, totals := read(t, split(segments, cuts), detail)
				require.Equal(t, want, short(found))
				require.Zero(t, totals.Skipped)
				bytes := int64(0)
				for i := range found {
					for _, s := range found[i].Spans {
						bytes += s.To - s.From
					}
					assert.Equal(t, "http", found[i].Protocol)
				}
				assert.Equal(t, totals.FrameBytes, bytes)
			}
		}
	}
}

// seeds is n, or 1 with -short: the race detector finds nothing more in the others.
func seeds(n uint64) uint64 {
	if testing.Short() {
		return 1
	}
	return n
}

// Without any one segment nothing is invented.
func TestHTTP1Lost(t *testing.T) {
	for seed := range uint64(8) {
		segments := talk(t, seed, 12, 300, "a line of text\r\n")
		want, _ := read(t, segments, rpc.Envelope)
		for i := range segments {
			segments[i].Lost = true
			checkLost(t, segments, want)
			segments[i].Lost = false
		}
	}
}

// The headers of a packet that begins with a message are the message's, whatever bytes of no message came before it.
func TestPacketBehindRubbish(t *testing.T) {
	rpcBytes := func(rubbish string) int64 {
		request, answer := "GET /a HTTP/1.1\r\nHost: acme\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
		found, totals := read(t, []traffic.Segment{
			{Side: 0, Data: []byte(request + request)},
			{Side: 1, Data: []byte(answer)},
			{Side: 1, Data: []byte(rubbish)},
			{Side: 1, Data: []byte(answer)},
		}, rpc.Envelope)
		require.Len(t, found, 4)
		assert.EqualValues(t, len(rubbish), totals.Skipped)
		return totals.RPCBytes
	}
	assert.Equal(t, rpcBytes("\x00\x00\x00\x00\x00"), rpcBytes("first")) // could go on as the method of a request
}

// The host of a request is not known if the capture lacks the rest of its head; without a loss the request has none.
func TestHostLost(t *testing.T) {
	for _, head := range []struct{ captured, lost, name string }{
		{"GET /a HTTP/1.1\r\nAccept: */*\r\nHost: ac", "me:80\r\n\r\n", "?/GET /a"},
		{"GET /a HTTP/1.1\r\nHost: acme:80\r\n", "Accept: */*\r\n\r\n", "acme:80/GET /a"},
		{"GET /a HTTP/1.0\r\n\r\n", "", "/GET /a"},
	} {
		found, _ := read(t, []traffic.Segment{
			{Side: 0, Data: []byte(head.captured)},
			{Side: 0, Data: []byte(head.lost), Lost: true},
			{Side: 1, Data: []byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")},
		}, rpc.Values)
		assert.Equal(t, []string{fmt.Sprintf("1 %s 0 %t", head.name, head.lost == ""), "1 200 2 true"}, short(found))
	}
}

// A later request of a connection may switch, too: it becomes that of stream 1.
func TestLateUpgrade(t *testing.T) {
	for _, largest := range []int{9, 2000} {
		list := []traffic.Segment{
			{Side: 0, Data: []byte("GET /a HTTP/1.1\r\nHost: x:80\r\n\r\n")},
			{Side: 1, Data: []byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")},
		}
		list = append(list, switched(upgradeRequests[0].text, switching, largest)...)
		found, totals := read(t, list, rpc.Values)
		require.Zero(t, totals.Skipped)
		assert.Equal(t, []string{
			"1 x:80/GET /a 0 true", "1 com.acme.Users/first 12 true", "3 com.acme.Users/find 3 true", "5 com.acme.Users/find 3 true", "7 com.acme.Users/find 3 true",
			"1 200 2 true", "1 200 14 true", "3 200 13 true", "5 200 13 true", "7 200 13 true",
		}, short(found))
		assert.Equal(t, "http", found[1].Protocol)
	}
}

// FuzzHTTP1: whatever two peers send after a first line of HTTP/1, wherever it is split and what is lost of it, the books balance.
func FuzzHTTP1(f *testing.F) {
	f.Add("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\nHEAD / HTTP/1.1\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\tfolded\r\nContent-Length: 2\r\n\r\nokHTTP/1.0 404 \r\n\r\nrest", []byte{9, 200}, []byte{})
	f.Add("CONNECT x:1 HTTP/1.1\n\n\x16\x03\x01", "HTTP/1.1 200 OK\n\n\x16\x03\x03", []byte{3}, []byte{2})
	f.Add("GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n\x81", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81", []byte{}, []byte{})
	f.Add("POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 304 x\r\nDate: y\r\n\r\n", []byte{50}, []byte{4})
	for _, accept := range []string{"application/json", "x-application/hessian", "application/json-rpc", "multipart/form-data", "text/event-stream"} {
		f.Add("GET /a HTTP/1.1\r\nHost: x\r\nAccept: "+accept+"\r\n\r\n", "HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n[1,\"a\"]", []byte{20}, []byte{})
	}
	f.Fuzz(func(t *testing.T, client, server string, cuts, lost []byte) {
		if len(client)+len(server) > 1<<16 || len(cuts) > 64 {
			return
		}
		list := []traffic.Segment{{Data: []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")}}
		for side, text := range []string{client, server} {
			if text != "" {
				list = append(list, split([]traffic.Segment{{Side: side, Data: []byte(text)}}, cuts)...)
			}
		}
		for i := range list {
			list[i].Lost = i > 0 && i/8 < len(lost) && lost[i/8]>>(i%8)&1 == 1
		}
		for _, detail := range []rpc.Detail{rpc.Envelope, rpc.Values} {
			read(t, list, detail)
		}
	})
}

// After a lost start, heads are found that are longer than a packet, from either side alone.
func TestLongHeadsAfterLostStart(t *testing.T) {
	var list []traffic.Segment
	send := func(side int, write func(w io.Writer) error) {
		var b bytes.Buffer
		require.NoError(t, write(&b))
		for part := range slices.Chunk(b.Bytes(), 1448) {
			list = append(list, traffic.Segment{Side: side, Data: part})
		}
	}
	for i := range 5 {
		q, err := http.NewRequest("GET", fmt.Sprintf("http://acme.example/things/%d", i), nil)
		require.NoError(t, err)
		q.Header.Set("Cookie", "session="+strings.Repeat("c", 3000))
		send(0, q.Write)
		a := http.Response{StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Request: q, ContentLength: 2, Body: io.NopCloser(strings.NewReader("ok")), Header: http.Header{
			"Set-Cookie": {"session=" + strings.Repeat("d", 3000)}, "Content-Type": {"text/plain"}, "Date": {"Sun, 06 Nov 1994 08:49:37 GMT"},
		}}
		send(1, a.Write)
	}
	for name, lacks := range map[string]int{"both": -1, "client": 1, "server": 0} {
		some := slices.Clone(list)
		var began [2]bool
		for i := range some {
			side := some[i].Side
			some[i].Lost = !began[side] || side == lacks
			began[side] = true
		}
		found, _ := read(t, some, rpc.Envelope)
		var got [2]int
		for i := range found {
			assert.True(t, found[i].Complete)
			if found[i].Side == 0 {
				assert.Equal(t, "acme.example/GET /things/{id}", found[i].Name)
			}
			assert.Equal(t, []int{0, 2}[found[i].Side], found[i].Body)
			got[found[i].Side]++
		}
		expected := [2]int{4, 4}
		if lacks >= 0 {
			expected[lacks] = 0
		}
		assert.Equal(t, expected, got, name)
	}
}

// headStarts collects where messages of HTTP/1 begin, with their methods and paths, or their statuses.
type headStarts map[string]string

func (h headStarts) Call(*call.Call, bool) {}

func (h headStarts) Frame(r *pipeline.Row) {
	m := r.Msg
	text := fmt.Sprint(m.Status)
	if m.Kind == rpc.Request {
		text = m.Operation.Method
	}
	h[fmt.Sprint(r.Conn.Ends, r.Side, m.Span.From)] = text
}

// A snap length that cuts every head leaves the messages their places, their names and their statuses, but for those of which it leaves less
// than the first line.
func TestSnapLengthCutsHeads(t *testing.T) {
	for _, name := range []string{"rest-jetty-json-2.7.23", "rest-netty-xml-gzip-2.7.23", "rest-3.3.6"} {
		starts := func(snap int) headStarts {
			src, err := capture.Open([]string{testkit.Get(t, name).Path()}, capture.Options{})
			require.NoError(t, err)
			defer src.Close()
			h := headStarts{}
			_, err = pipeline.Run(&damaged{Source: src, snap: snap}, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Envelope, Rows: true}, h)
			require.NoError(t, err)
			return h
		}
		whole := starts(0)
		require.NotEmpty(t, whole)
		for _, snap := range []int{160, 200, 300, 400} {
			assert.Equal(t, whole, starts(snap), "%s, snap length %d", name, snap)
		}
		few := starts(96)
		assert.Greater(t, len(few), len(whole)/2, name)
		for at, text := range few {
			assert.Equal(t, whole[at], text, "%s, %s", name, at)
		}
	}
}

// A request whose head the snap length cuts has what follows as its body until the server has answered it.
func TestSnapLengthMessageInBody(t *testing.T) {
	src, err := capture.Open([]string{testkit.Get(t, "rest-edge-tomcat-2.7.23").Path()}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	h := headStarts{}
	_, err = pipeline.Run(&damaged{Source: src, snap: 200}, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Envelope, Rows: true}, h)
	require.NoError(t, err)
	assert.Greater(t, len(h), 150)
	for _, name := range h {
		assert.NotEqual(t, "GET /users/{id}", name) // only a body has it
	}
}
