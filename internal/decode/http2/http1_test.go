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

	"dubbo-wire/internal/dev/bench/traffic"
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
		method := []string{"GET", "POST", "PUT", "HEAD", "DELETE", "OPTIONS", "PATCH"}[r.IntN(7)]
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
	for seed := range uint64(6) {
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
