package http1

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "dubbo-wire/internal/dev/testkit" // the flag -update
	"dubbo-wire/internal/rpc"
)

// First lines that are none, as far as they are there.
func TestFirstLines(t *testing.T) {
	for line, want := range map[string]struct{ may, is bool }{
		"GET / HTTP/1.1\r\n":           {true, true},
		"GET / HTTP/1.0\n":             {true, true},
		"OPTIONS * HTTP/1.1\r\n":       {true, true},
		"HTTP/1.1 200 OK\r\n":          {true, true},
		"HTTP/1.1 200\r\n":             {true, true},
		"HTTP/1.1 200 \r\n":            {true, true},
		"HTTP/1.1\r\n":                 {},
		"HTTP/1.1 20\r\n":              {},
		"HTTP/1.1 2000\r\n":            {},
		"HTTP/1.x 200 OK\r\n":          {},
		"HTTP/1.1 099 \r\n":            {},
		"GET /\r\n":                    {},
		"GET / HTTP/2.0\r\n":           {},
		"GET / x HTTP/1.1\r\n":         {},
		"G(T / HTTP/1.1\r\n":           {},
		"\r\n":                         {},
		"HTT":                          {true, false},
		"HTTP/1.1 2":                   {true, false},
		"GE":                           {true, false},
		"GET /a":                       {true, false},
		strings.Repeat("G", maxMethod): {},
	} {
		assert.Equal(t, want.may, mayStartWhole(line), "%q", line)
		_, is := Parse([]byte(line), nil, nil)
		assert.Equal(t, want.is, is, "%q", line)
	}
}

func mayStartWhole(line string) bool { return MayStart([]byte(line)) }

// The length of a body, told in all ways.
func TestLengths(t *testing.T) {
	for fields, want := range map[string]struct {
		length  int
		chunked bool
		problem string
	}{
		"Content-Length: 12\r\n":                               {12, false, ""},
		"content-length:12\n":                                  {12, false, ""},
		"Content-Length: 12, 12\r\n":                           {12, false, ""},
		"Content-Length: 12\r\nContent-Length: 12\r\n":         {12, false, ""},
		"Content-Length: 12, 13\r\n":                           {12, false, "several that differ"},
		"Content-Length: 12\r\nContent-Length: 13\r\n":         {12, false, "several that differ"},
		"Content-Length: -1\r\n":                               {-1, false, "a number below"},
		"Content-Length: 140737488355328\r\n":                  {-1, false, "a number below"},
		"Content-Length: 140737488355327\r\n":                  {1<<47 - 1, false, ""},
		"Transfer-Encoding: gzip, Chunked\r\n":                 {0, true, ""},
		"Transfer-Encoding: chunked, gzip\r\n":                 {0, false, ""},
		"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n":  {3, true, "both"},
		"X: y\r\n\tfolded: Content-Length: 5\r\n":              {0, false, ""},
		"Content-Length : 5\r\nno field\r\n: 5\r\nHost: x\r\n": {0, false, ""},
	} {
		h, ok := Parse([]byte("POST / HTTP/1.1\r\n"+fields+"\r\n"), make([]rpc.Header, 0, 4), nil)
		require.True(t, ok)
		assert.Equal(t, want.length, h.Length, "%q", fields)
		assert.Equal(t, want.chunked, h.Chunked, "%q", fields)
		if err := h.LengthError(); want.problem == "" {
			assert.Nil(t, err, "%q", fields)
		} else if assert.NotNil(t, err, "%q", fields) {
			assert.Contains(t, err.Expected+err.Found, want.problem, "%q", fields)
		}
	}
}

// TestOtherMethods: a method that is not usual begins a request, unless it is the end of a usual one.
func TestOtherMethods(t *testing.T) {
	for _, method := range []string{"PROPFIND", "PURGE", "ACL", "VERSION-CONTROL"} {
		assert.Equal(t, rpc.Mine, Sniff([]byte(method+" /x HTTP/1.1\r\n")), method)
		assert.Zero(t, StartIn([]byte(method+" /x HTTP/1.1\r\n"), 0), method)
	}
	for _, method := range []string{"OST", "ELETE", "ONS", "PRI", "Find", "AC"} {
		assert.Equal(t, rpc.NotMine, Sniff([]byte(method+" /x HTTP/1.1\r\n")), method)
		assert.Equal(t, -1, StartIn([]byte(method+" /x HTTP/1.1\r\n"), 0), method)
	}
}

// FuzzHead: whatever the bytes, the functions agree, and fields lie within the head, one after the other.
func FuzzHead(f *testing.F) {
	for _, seed := range []string{
		"GET /a?b=c HTTP/1.1\r\nHost: x\r\n folded\r\n\r\nrest", "HTTP/1.1 200 OK\nDate: y\n\n", "HTTP/1.1\r\n\r\n", "abc\nHTTP/1.0 404 \r\nServer: x\r\n\r\n",
		"POST / HTTP/1.1\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\nContent-Length: 1, 2\r\nTransfer-Encoding: chunked\r\n\r\n", "PRI * HTTP/2.0\r\n\r\n",
		"\r\nGET x", "PURGE http://acme.example/x HTTP/1.1\r\n\r\n", "ACL /x HTTP/1.1\n\n",
		"GET / HTTP/1.1\r\nHost: x\r\n\r\r\n", // not the empty line that ends a head
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, ok := Parse(b, make([]rpc.Header, 0, 8), nil)
		at := int32(0)
		for i := range h.Fields {
			field := &h.Fields[i]
			require.GreaterOrEqual(t, field.Off, at)
			at = field.Off + field.Len
			require.LessOrEqual(t, int(at), len(b))
		}
		if ok {
			require.True(t, MayStart(b))
			require.LessOrEqual(t, h.VersionOff+h.VersionLen, h.FirstLen)
			require.Equal(t, End(b, 0), h.Len)
			_ = h.LengthError()
		}
		if end := VerifiedEnd(b); end > 0 {
			require.True(t, ok)
			require.Equal(t, end, End(b, 0))
		}
		if start := StartIn(b, 1); start >= 0 {
			require.GreaterOrEqual(t, start, 1)
			require.True(t, MayStart(b[start:]))
		}
		if Found(b) {
			require.Equal(t, rpc.Mine, Sniff(b))
		}
		if head := b[:min(len(b), rpc.HeadLen)]; Sniff(head) == rpc.Mine {
			copied := bytes.Repeat([]byte("x"), len(head))
			for _, span := range KeepHead(head) {
				copy(copied[span.From:span.To], head[span.From:span.To])
			}
			require.Equal(t, rpc.Mine, Sniff(copied), "the copy of %q", head)
		}
	})
}

// What came before changes nothing: heads are read the same with the lines of others known and without.
func TestKnownLines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	parts := []string{"Content-Length", "content-length", "CONNECTION", "Upgrade", "x", "X-A", "", " ", "Tränsfer", "Transfer-Encoding", ":", ": ", ":\t", "chunked", "close, keep-alive", "12", "h2c", "\r\n", "\n", "\r\n ", strings.Repeat("v", 300)}
	lines := new(Lines)
	for range 50_000 {
		head := []string{"GET /a HTTP/1.1\r\n", "HTTP/1.1 200 OK\r\n", "POST /b HTTP/1.0\n", "GET  HTTP/1.1\r\n", "HTTP/1.1 404 Not Found\r\n"}[r.IntN(5)]
		for range r.IntN(8) {
			head += parts[r.IntN(len(parts))]
		}
		if r.IntN(3) == 0 {
			head += fmt.Sprintf("X-Request: %d\r\n", r.IntN(10_000))
		}
		want, ok := Parse([]byte(head), make([]rpc.Header, 0, 4), nil)
		got, known := Parse([]byte(head), make([]rpc.Header, 0, 4), lines)
		require.Equal(t, ok, known, "%q", head)
		require.Equal(t, want, got, "%q", head)
	}
	require.LessOrEqual(t, max(len(lines.fields), len(lines.first)), maxKeptLines)
}

// Each head continues where the last one ended: what is kept does not lead to all lines that ever were.
func TestKnownLinesAreForgotten(t *testing.T) {
	lines := new(Lines)
	for i := range 20 * maxKeptLines {
		head := "GET /rest HTTP/1.1\r\n"
		if i == 0 {
			head = "GET /first HTTP/1.1\r\n" // which stays
		}
		for k := i; k < i+3; k++ {
			head += fmt.Sprintf("X: %d\r\n", k)
		}
		Parse([]byte(head), nil, lines)
	}
	reached := map[*line]bool{}
	visit := func(f *line) {
		for ; f != nil && !reached[f]; f = f.next {
			reached[f] = true
		}
	}
	visit(&lines.status)
	for _, kept := range []map[string]*line{lines.first, lines.fields} {
		for _, f := range kept {
			visit(f)
		}
	}
	require.LessOrEqual(t, len(reached), 2*maxKeptLines)
}
