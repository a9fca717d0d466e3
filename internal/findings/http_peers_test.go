package findings_test

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
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/bench/traffic"
	"dubbo-wire/internal/findings"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
)

// peers are a client and a server of net/http, of which each write and each close is recorded.
type peers struct {
	t      *testing.T
	server *httptest.Server
	client *http.Client

	open     sync.WaitGroup // ends of connections
	mu       sync.Mutex
	segments []traffic.Segment
	conns    map[string]int // by address of the client
}

func newPeers(t *testing.T, handler http.HandlerFunc) *peers {
	p := &peers{t: t, conns: map[string]int{}}
	p.server = httptest.NewUnstartedServer(handler)
	p.server.Listener = recordedListener{p.server.Listener, p}
	p.server.Start()
	t.Cleanup(p.server.Close)
	p.client = &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 8, DialContext: func(_ context.Context, network, address string) (net.Conn, error) {
		return p.dial(network, address)
	}}}
	return p
}

// dial opens a connection to the server.
func (p *peers) dial(network, address string) (net.Conn, error) {
	c, err := net.Dial(network, address)
	if err != nil {
		return nil, err
	}
	return p.record(c, c.LocalAddr(), 0), nil
}

// number returns the number of a client's connection.
func (p *peers) number(client net.Addr) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, ok := p.conns[client.String()]
	if !ok {
		n = len(p.conns)
		p.conns[client.String()] = n
	}
	return n
}

// do makes a request and reads its response.
func (p *peers) do(method, target string, body io.Reader, headers ...string) *http.Response {
	q, err := http.NewRequest(method, p.server.URL+target, body)
	require.NoError(p.t, err)
	for i := 0; i < len(headers); i += 2 {
		q.Header.Add(headers[i], headers[i+1])
	}
	answer, err := p.client.Do(q)
	require.NoError(p.t, err)
	_, err = io.Copy(io.Discard, answer.Body)
	require.NoError(p.t, err)
	require.NoError(p.t, answer.Body.Close())
	return answer
}

// list ends all connections and returns what was recorded.
func (p *peers) list() []traffic.Segment {
	p.client.CloseIdleConnections()
	p.server.Close()
	p.open.Wait() // both close some of theirs in goroutines of their own
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.segments)
}

// found returns the findings of a kind in a capture with the segments; all of them are recounted.
func (p *peers) found(kind string, segments []traffic.Segment) (list []report.Finding) {
	path := filepath.Join(p.t.TempDir(), "peers.pcap")
	require.NoError(p.t, os.WriteFile(path, traffic.Talk(segments), 0o600))
	frames, totals := frameList(p.t, path)
	recountOne(p.t, path, frames, totals, false, map[string]int{})
	all1 := read(p.t, path, 1, all, false).Findings
	require.Equal(p.t, all1, read(p.t, path, 4, all, false).Findings)
	for _, sample := range []pipeline.Sample{some, all} {
		var kinds []string
		for _, f := range read(p.t, path, 1, sample, false).Findings {
			kinds = append(kinds, f.Kind+": "+f.Text)
		}
		p.t.Log(kinds)
	}
	for _, f := range all1 {
		if f.Kind == kind {
			list = append(list, f)
		}
	}
	return list
}

type recordedListener struct {
	net.Listener
	*peers
}

func (l recordedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.record(c, c.RemoteAddr(), 1), nil
}

// record returns an end of a client's connection that is recorded.
func (p *peers) record(c net.Conn, client net.Addr, side int) net.Conn {
	p.open.Add(1)
	return &recordedEnd{Conn: c, peers: p, conn: p.number(client), side: side}
}

// recordedEnd is one end of a connection.
type recordedEnd struct {
	net.Conn
	*peers
	conn, side int
	closed     bool
}

func (c *recordedEnd) Write(b []byte) (int, error) {
	c.mu.Lock()
	for part := range slices.Chunk(bytes.Clone(b), 30_000) {
		c.segments = append(c.segments, traffic.Segment{Conn: c.conn, Side: c.side, Data: part})
	}
	c.mu.Unlock()
	return c.Conn.Write(b)
}

func (c *recordedEnd) Close() error {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		defer c.open.Done()
		c.segments = append(c.segments, traffic.Segment{Conn: c.conn, Side: c.side, Last: true})
	}
	c.mu.Unlock()
	return c.Conn.Close()
}

// answerOK answers with some bytes of JSON.
func answerOK(w http.ResponseWriter, q *http.Request) {
	_, _ = io.Copy(io.Discard, q.Body)
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"path":%q,"random":%q}`, q.URL.Path, strings.Repeat("k7", 200))
}

// Calls that each open a connection are found, whichever side closes it.
func TestConnectionPerCall(t *testing.T) {
	for who, change := range map[string]func(p *peers){
		"clientAnnounced": func(p *peers) { p.client.Transport.(*http.Transport).DisableKeepAlives = true },
		"serverAnnounced": func(p *peers) { p.server.Config.SetKeepAlivesEnabled(false) },
		"clientClosed":    nil,
	} {
		t.Run(who, func(t *testing.T) {
			p := newPeers(t, answerOK)
			if change != nil {
				change(p)
			}
			for i := range 12 {
				p.do("POST", fmt.Sprintf("/things/%d", i%3), strings.NewReader("{}"))
				if change == nil {
					p.client.CloseIdleConnections()
				}
			}
			segments := p.list()
			found := p.found("keep-alive", segments)
			require.Len(t, found, 1)
			assert.EqualValues(t, 12, findings.Value(t, &found[0], "alone"))
			assert.EqualValues(t, 12, findings.Value(t, &found[0], who))
			assert.EqualValues(t, 12*4*54, findings.Value(t, &found[0], "handshakeBytes"), "four packets of Ethernet, IPv4 and TCP")
			assert.Contains(t, found[0].Text, "12 of 12 calls from 10.0.0.0 had a connection of their own (the ")

			// Without the ends of the connections nobody knows whether more calls followed.
			open := slices.DeleteFunc(slices.Clone(segments), func(s traffic.Segment) bool { return s.Last })
			assert.Empty(t, p.found("keep-alive", open))
			// Nor is it known of those whose start is not in the capture, and few of them are not worth a word.
			assert.Empty(t, p.found("keep-alive", slices.DeleteFunc(segments, func(s traffic.Segment) bool { return s.Conn > 8 })))
		})
	}
}

// Connections that are kept, that end after errors, or that nobody used again are not found.
func TestKeptConnections(t *testing.T) {
	for name, use := range map[string]func(p *peers){
		"kept": func(p *peers) {
			for range 40 {
				p.do("GET", "/a", nil)
			}
		},
		"used twice": func(p *peers) {
			for range 12 {
				p.do("GET", "/a", nil)
				p.do("GET", "/a", nil)
				p.client.CloseIdleConnections()
			}
		},
		"errors": func(p *peers) {
			for range 12 {
				p.do("GET", "/fail", nil)
			}
		},
		"mostly kept": func(p *peers) {
			for range 12 {
				p.do("GET", "/a", nil)
				p.client.CloseIdleConnections()
			}
			for range 60 {
				p.do("GET", "/a", nil)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeers(t, func(w http.ResponseWriter, q *http.Request) {
				if q.URL.Path == "/fail" {
					w.Header().Set("Connection", "close")
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				answerOK(w, q)
			})
			use(p)
			assert.Empty(t, p.found("keep-alive", p.list()))
		})
	}
}

// HTTP/1.0 closes after each call, unless both sides keep the connection.
func TestOldHTTP(t *testing.T) {
	for _, header := range []string{"", "Connection: keep-alive\r\n"} {
		p := newPeers(t, answerOK)
		for range 10 {
			c, err := p.dial("tcp", p.server.Listener.Addr().String())
			require.NoError(t, err)
			for range 1 + len(header)/20 {
				_, err = io.WriteString(c, "GET /x HTTP/1.0\r\nHost: a\r\n"+header+"\r\n")
				require.NoError(t, err)
				answer, err := http.ReadResponse(bufio.NewReader(c), nil)
				require.NoError(t, err)
				_, err = io.ReadAll(answer.Body)
				require.NoError(t, err)
			}
			require.NoError(t, c.Close())
		}
		found := p.found("keep-alive", p.list())
		if header != "" {
			assert.Empty(t, found)
			continue
		}
		require.Len(t, found, 1)
		assert.EqualValues(t, 10, findings.Value(t, &found[0], "clientAnnounced"))
	}
}

// Cookies are weighed in both directions, by name and without their values.
func TestCookies(t *testing.T) {
	const secret = "s3cr3t"
	p := newPeers(t, func(w http.ResponseWriter, q *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "SESSION", Value: secret + strings.Repeat("a", 150), HttpOnly: true})
		answerOK(w, q)
	})
	for i := range 12 {
		p.do("POST", fmt.Sprintf("/things/%d/%d", i%3, i), strings.NewReader("{}"), "Cookie", "SESSION="+secret+strings.Repeat("a", 150)+"; small=1; noname; a b=2")
	}
	p.do("GET", "/none", nil) // sets one, too
	segments := p.list()
	found := p.found("cookies", segments)
	require.Len(t, found, 2)
	slices.Reverse(found) // those of requests
	for _, f := range found {
		assert.NotContains(t, fmt.Sprint(f), secret)
	}
	assert.Regexp(t, `^cookies that requests carry are \d\d % of its request bytes \(\d+ of \d+ per request, 12 sampled\), in bytes: SESSION 1\d\d(.\d)?, small \d+(\.\d)?$`, found[0].Text)
	assert.Regexp(t, `^cookies that responses set are \d\d % of their response bytes \(\d+ of \d+ per response, 13 sampled\), in bytes: SESSION \d+; methods: POST`, found[1].Text)
	assert.EqualValues(t, 12*len("Cookie: SESSION=; small=1; noname; a b=2\r\n")+12*(len(secret)+150), findings.Value(t, &found[0], "cookieBytes"))
}

// Few cookies, and few messages with cookies, are not worth a word.
func TestFewCookies(t *testing.T) {
	p := newPeers(t, answerOK)
	for range 20 {
		p.do("GET", "/a", nil, "Cookie", "a=1")
	}
	for range 9 {
		p.do("GET", "/b/c", nil, "Cookie", "a="+strings.Repeat("1", 300))
	}
	segments := p.list()
	assert.Empty(t, p.found("cookies", segments[:2*20]))
	assert.Empty(t, p.found("cookies", segments[2*20:]))
}

// Heads that outweigh the bodies of both directions are named with their largest fields; small heads and those before large bodies are not.
func TestHeavyHeads(t *testing.T) {
	p := newPeers(t, func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/policies" {
			w.Header().Set("Content-Security-Policy", strings.Repeat("p", 400))
		}
		answerOK(w, q)
	})
	agent := []string{"User-Agent", strings.Repeat("u", 500), "X-Trace", strings.Repeat("t", 100)}
	for range 10 {
		p.do("GET", "/light", nil)
		p.do("GET", "/heavy", nil, agent...)
		p.do("POST", "/large", strings.NewReader(strings.Repeat("b", 600)), agent...)
		p.do("GET", "/policies", nil)
	}
	for range 9 {
		p.do("GET", "/rare", nil, agent...)
	}
	p.do("HEAD", "/heavy", nil, agent...)
	found := p.found("headers", p.list())
	require.Len(t, found, 2)
	slices.Reverse(found)
	assert.Regexp(t, `^headers of its responses outweigh the bodies of its calls: 5\d\d vs 4\d\d bytes per call, the largest: content-security-policy 427, date 37, content-type 32, 2 more \(10 sampled\)$`, found[0].Text)
	assert.Regexp(t, `^headers of its requests outweigh the bodies of its calls: 6\d\d vs 4\d\d bytes per call, the largest: user-agent 514, x-trace 111, host \d+, 2 more \(10 sampled\)$`, found[1].Text)
}

// Large answers that compression would shrink are found, with whose turn it is. Images, answers that are compressed, errors, those to HEAD
// and small ones are not.
func TestUncompressedAnswers(t *testing.T) {
	large := strings.Repeat(`{"name":"some text","number":12345},`, 100)
	noise := make([]byte, 5000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	p := newPeers(t, func(w http.ResponseWriter, q *http.Request) {
		text := large
		switch q.URL.Path {
		case "/image":
			w.Header().Set("Content-Type", "image/png")
			text = string(noise)
		case "/small":
			text = large[:900]
		case "/fail":
			w.WriteHeader(http.StatusInternalServerError)
		case "/able":
			if q.Header.Get("Accept-Encoding") != "" {
				w.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(w)
				_, _ = io.WriteString(z, text)
				_ = z.Close()
				return
			}
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		_, _ = io.WriteString(w, text)
	})
	accepts := []string{"Accept-Encoding", "br;q=0, gzip;q=0.5"}
	for range 5 {
		for _, path := range []string{"/json", "/image", "/small", "/fail", "/able"} {
			p.do("GET", path, nil, accepts...)
			p.do("HEAD", "/head", nil, accepts...)
		}
		p.do("GET", "/refusing", nil, "Accept-Encoding", "gzip; q=0.0, identity")
		p.do("GET", "/able", nil)
	}
	p.do("GET", "/mixed", nil)
	p.do("GET", "/mixed", nil, accepts...)
	p.do("GET", "/mixed", nil)
	texts := map[string]string{}
	for _, f := range p.found("compressible", p.list()) {
		_, path, _ := strings.Cut(f.Method, " ")
		texts[path] = f.Text[strings.LastIndex(f.Text, ";")+2:]
	}
	assert.Equal(t, map[string]string{
		"/json":     "the requests accept compression, so the server may compress",
		"/able":     "the requests do not accept compression: the client must ask for it with Accept-Encoding first",
		"/refusing": "the requests do not accept compression: the client must ask for it with Accept-Encoding first",
		"/mixed":    "1 of 3 sampled requests accept compression",
	}, texts)
}

// GETs whose responses bring the same body again are found with the reason. Those with 304, of other targets, of bodies that change or must
// not be stored, and those of errors and other methods are not.
func TestRepeatedResponses(t *testing.T) {
	var n atomic.Int64
	p := newPeers(t, func(w http.ResponseWriter, q *http.Request) {
		body := strings.Repeat(q.URL.Path+" ", 200)
		switch q.URL.Path {
		case "/tagged", "/revalidated":
			w.Header().Set("ETag", `"1"`)
			if q.URL.Path == "/revalidated" && q.Header.Get("If-None-Match") != "" {
				w.WriteHeader(http.StatusNotModified)
				return
			}
		case "/private":
			w.Header().Set("Cache-Control", "private, No-Store")
		case "/changing":
			body += strconv.FormatInt(n.Add(1), 10)
		case "/fail":
			w.WriteHeader(http.StatusNotFound)
		case "/short":
			body = "ok"
		}
		_, _ = io.WriteString(w, body)
	})
	for i := range 8 {
		for _, path := range []string{"/plain", "/tagged", "/private", "/changing", "/fail", "/short"} {
			p.do("GET", path, nil)
			p.do("HEAD", path, nil)
		}
		p.do("POST", "/form", strings.NewReader("x=1"))
		p.do("GET", fmt.Sprintf("/queries?page=%d", i), nil)
		p.do("GET", "/conditional?a=1", nil, "If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT")
		if i == 0 {
			p.do("GET", "/revalidated", nil)
		}
		p.do("GET", "/revalidated", nil, "If-None-Match", `"1"`)
		if i < 5 {
			p.do("GET", "/rare", nil)
		}
	}
	texts := map[string]string{}
	for _, f := range p.found("repeated-responses", p.list()) {
		texts[f.Method] = f.Text
	}
	const same = "7 of 8 sampled responses had the same body as the one before, for the same client and target "
	assert.Equal(t, map[string]string{
		"GET /plain":       same + "(9.80 kB, 1,400 per response): " + "the server sends neither ETag nor Last-Modified, so the client cannot ask for changes only",
		"GET /tagged":      same + "(11.2 kB, 1,600 per response): " + "the client ignores ETag or Last-Modified: asked with If-None-Match or If-Modified-Since, the server can answer 304 without a body",
		"GET /conditional": same + "(18.2 kB, 2,600 per response): " + "the request has If-None-Match or If-Modified-Since, and the server sends the body nevertheless",
	}, texts)
}

// A request that repeats one that has failed has the same target, too: another id or another query is another call.
func TestRetriesHaveOneTarget(t *testing.T) {
	p := newPeers(t, func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	for i := range 6 {
		p.do("GET", fmt.Sprintf("/users/%d", i), nil)
		p.do("GET", fmt.Sprintf("/pages?page=%d", i), nil)
		p.do("DELETE", fmt.Sprintf("/users/%d", i/2), nil)
		p.do("POST", fmt.Sprintf("/users/%d", i), strings.NewReader("{}"), "Content-Type", "application/json")
		p.do("PUT", "/users/7", strings.NewReader(`{"a":1}`), "Content-Type", "application/json")
	}
	texts := map[string]string{}
	for _, f := range p.found("retries", p.list()) {
		texts[f.Method] = f.Text
	}
	assert.Equal(t, map[string]string{
		"DELETE /users/{id}": "3 of 6 requests repeat calls that had just failed; 0 went to another server, 0 got a response in time",
		"PUT /users/{id}":    "5 of 6 requests repeat calls that had just failed; 0 went to another server, 0 got a response in time",
	}, texts)
}
