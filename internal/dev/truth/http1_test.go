package truth

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/assemble"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/dev/truth/javalog"
)

// http1Line is a line of the log about a message of HTTP/1, which the tap below the sockets of that end has seen.
type http1Line struct {
	Side, Dir, Local, Remote, Kind string
	Start, Method, Path, Of        string
	Status                         int
	Headers                        [][2]string
	HeadBytes, BodyBytes           int
	Chunked                        bool
	ContentBytes                   int
	ContentSha256, Encoding, Error string
	UncompressedBytes              int
}

// readHTTP1 returns the messages that each end has sent, in order.
func readHTTP1(t *testing.T, name string) map[way][]http1Line {
	f, err := os.Open(filepath.Join(captures, name))
	require.NoError(t, err)
	defer f.Close()
	z, err := zstd.NewReader(f)
	require.NoError(t, err)
	defer z.Close()
	log, err := io.ReadAll(z)
	require.NoError(t, err)
	sent := map[way][]http1Line{}
	const kind = "http1message"
	if !bytes.Contains(log, []byte(kind)) { // as in most logs, whose values take long to parse
		return sent
	}
	require.NoError(t, javalog.Read(bytes.NewReader(log), func(l *http1Line) {
		if l.Kind == kind && l.Dir == "out" {
			w := way{l.Local, l.Remote}
			sent[w] = append(sent[w], *l)
		}
	}))
	return sent
}

// hasErrors reports whether somebody has sent what is not HTTP.
func hasErrors(sent map[way][]http1Line) bool {
	for _, lines := range sent {
		if slices.ContainsFunc(lines, func(l http1Line) bool { return l.Error != "" }) {
			return true
		}
	}
	return false
}

// hasBareTalk reports whether a client has sent what is not HTTP, and got an answer without a head. Tomcat takes that for HTTP/0.9.
func hasBareTalk(sent map[way][]http1Line) bool {
	bare := func(w way) bool { return len(sent[w]) > 0 && !strings.Contains(sent[w][0].Start, "HTTP/1.") }
	for w := range sent {
		if bare(w) && bare(way{w.dst, w.src}) {
			return true
		}
	}
	return false
}

// streamBytes keeps the bytes of each direction of the connections of a capture.
type streamBytes struct{ sent map[way]*oneWay }

type oneWay struct {
	b       []byte
	missing int64
}

func (s *streamBytes) Begin(*assemble.Connection) {}
func (s *streamBytes) Close(*assemble.Connection) {}

func (s *streamBytes) Open(c *assemble.Connection) *assemble.Flow {
	ends := [2]string{c.Ends[0].String(), c.Ends[1].String()}
	one, other := &oneWay{}, &oneWay{}
	s.sent[way{ends[0], ends[1]}], s.sent[way{ends[1], ends[0]}] = one, other
	return new(assemble.Flow).Open([2]assemble.Stream{one, other})
}

func (o *oneWay) Data(b []byte, _ *assemble.Meta)          { o.b = append(o.b, b...) }
func (o *oneWay) Gap(n, _ int64, _ *assemble.Meta)         { o.missing += n }
func (o *oneWay) Repeat(int, *assemble.Meta)               {}
func (o *oneWay) Late(b []byte, _ int64, _ *assemble.Meta) { o.missing += int64(len(b)) }
func (o *oneWay) End(bool)                                 {}

// readStreams returns what each end of a capture has sent.
func readStreams(t *testing.T, file string) map[way]*oneWay {
	src, err := capture.Open([]string{filepath.Join(captures, file)}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	streams := &streamBytes{map[way]*oneWay{}}
	a := assemble.New(assemble.Config{}, streams)
	var p capture.Packet
	var d packet.Decoder
	var s packet.Segment
	for n := int64(1); ; n++ {
		if err := src.Next(&p); err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
		if d.Decode(&p, &s) == packet.TCP {
			a.Segment(&s, &assemble.Origin{Ordinal: n, Time: p.Time, Packet: p.Number, File: p.File, Interface: p.Interface, Overhead: p.WireLen - s.PayloadLen})
		}
	}
	a.End()
	return streams.sent
}

// TestHTTP1Log holds what was logged of HTTP/1 below the sockets of both ends against the bytes of the capture, and against net/http: the messages of a direction
// are all of its bytes, and heads and bodies are where the log says.
func TestHTTP1Log(t *testing.T) {
	compared := 0
	for _, p := range someCaptures(t) {
		sent := readHTTP1(t, p.Truth)
		if len(sent) == 0 {
			continue
		}
		compared++
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			streams := readStreams(t, p.File)
			for w, o := range streams {
				assert.Zero(t, o.missing)
				assert.Equal(t, len(o.b) > 0, len(sent[w]) > 0, "%v", w)
			}
			for w, lines := range sent {
				require.Contains(t, streams, w)
				all := streams[w].b
				for i, l := range lines {
					n := l.HeadBytes + l.BodyBytes
					require.LessOrEqual(t, n, len(all), "%v: message %d: %s", w, i+1, l.Start)
					message := all[:n]
					all = all[n:]
					assert.True(t, bytes.HasPrefix(message, []byte(l.Start)), "%v: message %d: %s", w, i+1, l.Start)
					if l.Error == "" {
						secondOpinion(t, &l, message)
					} else {
						assert.Equal(t, len(lines), i+1, "%v: what follows an error is not read", w)
						all = nil
					}
				}
				assert.Empty(t, all, "%v", w)
			}
		})
	}
	if !testing.Short() {
		require.Positive(t, compared)
	}
}

// secondOpinion compares a line with what net/http reads.
func secondOpinion(t *testing.T, l *http1Line, message []byte) {
	if strings.Contains(l.Start, "HTTP/1.1 ") && l.Status == 100 {
		return // net/http reads on to the next one
	}
	head := message[:l.HeadBytes]
	assert.True(t, bytes.HasSuffix(head, []byte("\n\r\n")) || bytes.HasSuffix(head, []byte("\n\n")), "%q", head)
	r := bufio.NewReader(bytes.NewReader(message))
	var body io.Reader
	var header http.Header
	if l.Status == 0 {
		q, err := http.ReadRequest(r)
		if err != nil {
			assert.ErrorContains(t, err, "malformed", l.Start) // it takes less than servers do
			return
		}
		assert.Equal(t, l.Method, q.Method)
		body, header = q.Body, q.Header
	} else {
		a, err := http.ReadResponse(r, &http.Request{Method: l.Of})
		require.NoError(t, err, "%q", head)
		assert.Equal(t, l.Status, a.StatusCode)
		body, header = a.Body, a.Header
	}
	content, err := io.ReadAll(body)
	require.NoError(t, err, "%q", head)
	sum := sha256.Sum256(content)
	assert.Equal(t, l.ContentBytes, len(content), l.Start)
	assert.Equal(t, l.ContentSha256, hex.EncodeToString(sum[:8]), l.Start)
	assert.Zero(t, r.Buffered(), l.Start)
	if !l.Chunked {
		assert.Equal(t, l.BodyBytes, l.ContentBytes, l.Start)
	}
	for _, f := range l.Headers {
		switch name := http.CanonicalHeaderKey(f[0]); name {
		case "Host", "Transfer-Encoding", "Trailer", "Connection", "Content-Length": // net/http has them elsewhere
		default:
			assert.Contains(t, header[name], f[1], l.Start)
		}
	}
}
