package truth

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
)

// http2Line is a line of the log about an HTTP/2 frame or a message, or about a call that such messages make.
type http2Line struct {
	Side, Dir, Local, Remote, Kind, Type string
	Stream                               int
	Bytes                                int
	EndStream                            bool
	Headers                              [][2]string
	Sha256                               string // of a message: its first bytes
	Compressed                           bool
	Encoding                             string
	UncompressedBytes                    int

	Protocol, Service, Method, ResultKind string
	Verb, Path                            string // of a call by a client of HTTP
	Status                                int
	Streaming                             bool
	Arguments                             []any
	Attachments                           map[string]any
	Result                                any
	Exception                             *struct{ Class, Message *string }
}

// direction is what one end sent on a stream, as it logged it.
type direction struct {
	blocks   [][][2]string // of headers, the last one may be trailers
	messages []http2Line
	bytes    int // of all frames that belong to messages, with their headers
	last     int // of the last one of them
	// ended is set if its last frame ends the stream, reset if it has reset it.
	ended, reset bool
}

// header returns the value of a field, "" where it is missing.
func (d *direction) header(name string) string {
	for _, block := range d.blocks {
		for _, f := range block {
			if f[0] == name {
				return f[1]
			}
		}
	}
	return ""
}

// sending identifies one direction of a stream.
type sending struct {
	way
	stream int
}

// readHTTP2 returns the directions of all streams, and the lines of calls. If one end of a connection has no log, the other one's tells
// what it sent.
func readHTTP2(t *testing.T, name string) (map[sending]*direction, []http2Line) {
	f, err := os.Open(filepath.Join(captures, name))
	require.NoError(t, err)
	defer f.Close()
	z, err := zstd.NewReader(f)
	require.NoError(t, err)
	defer z.Close()
	streams, calls := map[sending]*direction{}, []http2Line(nil)
	var frames []http2Line
	logs := map[string]bool{} // by address
	for r := bufio.NewReader(z); ; {
		line, err := r.ReadString('\n')
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		var l http2Line
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		require.NoError(t, d.Decode(&l), line)
		if l.Kind == "call" {
			calls = append(calls, l)
		}
		if l.Stream > 0 {
			frames = append(frames, l)
			logs[l.Local] = true
		}
	}
	for _, l := range frames {
		key := sending{way{l.Local, l.Remote}, l.Stream}
		if l.Dir == "in" {
			if logs[l.Remote] {
				continue
			}
			key.way = way{l.Remote, l.Local}
		}
		s := streams[key]
		if s == nil {
			s = new(direction)
			streams[key] = s
		}
		switch {
		case l.Kind == "message":
			s.messages = append(s.messages, l)
		case l.Type == "http1": // the request that switched to HTTP/2
			s.bytes += l.Bytes
			s.ended = true
		case l.Type == "DATA" || l.Type == "HEADERS" || l.Type == "CONTINUATION":
			s.last = 9 + l.Bytes
			s.bytes += s.last
			s.ended = s.ended || l.EndStream
		case l.Type == "RST_STREAM":
			s.reset = true
		}
		if l.Headers != nil {
			s.blocks = append(s.blocks, l.Headers)
		}
	}
	return streams, calls
}

// http2Row is a record of `frames --format jsonl`.
type http2Row struct {
	Src, Dst, Protocol, Kind, ID    string
	Message, HeaderBytes, BodyBytes int
	Encoding                        string
	UncompressedBytes               *int
	Status                          *int
	StatusText                      string
	Complete                        bool
	Service, Version                *string
	Group, Method                   string
	ErrorMessage                    string
	HeaderParts, Parts              []struct {
		Path  string
		Bytes int
	}

	sum string // of the body
}

// http2Call is a record of `calls --format jsonl`.
type http2Call struct {
	ID, Client, Server, Protocol, Serialization, State string
	Service, Method                                    string
	RequestMessages, ResponseMessages                  int
	ResponseBodyBytes                                  int
	Generic                                            bool
	RequestFrame, ResponseFrame                        int64
	Status                                             *int
	Arguments                                          []any
	Result                                             any
	Attachments                                        map[string]any
	Exception                                          *struct{ Class, Message *string }
}

type http2Run struct {
	t      *testing.T
	frames report.Frames
	report report.Calls
	rows   map[sending][]http2Row
	calls  []http2Call
}

func (c *http2Run) decode(b []byte, v any) {
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	require.NoError(c.t, d.Decode(v), "%s", b)
}

func (c *http2Run) Frame(r *pipeline.Row) {
	var f http2Row
	c.decode(c.frames.AppendJSON(nil, r), &f)
	if r.Msg.Interleaved {
		f.sum = fmt.Sprintf("%x", sha256.Sum256(r.Msg.Body))[:16]
		stream, err := strconv.Atoi(f.ID)
		require.NoError(c.t, err)
		key := sending{way{f.Src, f.Dst}, stream}
		c.rows[key] = append(c.rows[key], f)
	}
}

func (c *http2Run) Call(k *call.Call, _ bool) {
	var r http2Call
	c.decode(c.report.AppendJSON(nil, k), &r)
	if k.Request != nil && k.Request.Interleaved || k.Response != nil && k.Response.Interleaved {
		c.calls = append(c.calls, r)
	}
}

// laterSource is a capture that starts later: it lacks the first packets.
type laterSource struct {
	capture.Source
	skip int64
}

func (s *laterSource) Next(p *capture.Packet) error {
	for ; s.skip > 0; s.skip-- {
		if err := s.Source.Next(p); err != nil {
			return err
		}
	}
	return s.Source.Next(p)
}

// readRows reads a capture with all values, but for its first packets.
func readRows(t *testing.T, file string, skip int64) *http2Run {
	source, err := capture.Open([]string{filepath.Join(captures, file)}, capture.Options{})
	require.NoError(t, err)
	src := &laterSource{source, skip}
	defer src.Close()
	c := &http2Run{t: t, rows: map[sending][]http2Row{}}
	_, err = pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Values, WholeBodies: true, RenderValues: true, Rows: true}, c)
	require.NoError(t, err)
	return c
}

// TestHTTP2 compares messages and calls of HTTP/2 with the frames that Netty (or Go's x/net/http2) saw at both ends, and
// with the calls that the peers logged.
func TestHTTP2(t *testing.T) {
	testkit.Once(t)
	compared := 0
	for _, p := range someCaptures(t) {
		streams, calls := readHTTP2(t, p.Truth)
		if len(streams) == 0 {
			continue
		}
		compared++
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			r := readRows(t, p.File, 0)
			if !p.Complete {
				someRows(t, streams, r)
				if strings.Contains(p.Name, "-midway-") {
					wholeStreams(t, streams, r)
				}
				someCalls(t, calls, r)
				return
			}
			json := slices.Contains(p.Protocols, "http2")
			allRows(t, streams, r)
			if slices.ContainsFunc(calls, func(l http2Line) bool { return l.Path != "" }) {
				allResourceCalls(t, calls, r)
			} else if json {
				allJSONCalls(t, calls, r)
			} else {
				allCalls(t, calls, r)
			}
			r = readRows(t, p.File, p.Packets/3) // from the middle
			someRows(t, streams, r)
			if !json { // whose lines have no values
				someCalls(t, calls, r)
			}
		})
	}
	require.Positive(t, compared)
}

// allRows: each message is there, with the sizes, names and status that its sender logged; nothing else is.
func allRows(t *testing.T, streams map[sending]*direction, r *http2Run) {
	for key := range r.rows {
		assert.Contains(t, streams, key)
	}
	for key, d := range streams {
		rows := r.rows[key]
		other := streams[sending{way{key.dst, key.src}, key.stream}]
		if len(d.blocks) == 0 || len(rows) == 0 && other != nil && other.reset {
			continue // nothing but a reset, or nothing before the other end reset the stream
		}
		require.Len(t, rows, max(1, len(d.messages)), "messages of %v", key)
		sum, fields := 0, []string(nil)
		for i, f := range rows {
			assert.Equal(t, i+1, f.Message, "%v", key)
			// A sender that stops after its headers has sent no message; a reset ends one.
			begun := len(d.messages) == 0 && !d.ended && !d.reset && (other == nil || !other.reset)
			assert.Equal(t, !begun, f.Complete, "%v", key)
			parts := 0
			for i, h := range f.HeaderParts {
				parts += h.Bytes
				if i > 0 && strings.HasPrefix(f.HeaderParts[i-1].Path, "query.") && h.Path == "headers.:path" {
					continue // what follows the query is of the field that it began in
				}
				for _, prefix := range []string{"headers.", "trailers."} {
					if name, ok := strings.CutPrefix(h.Path, prefix); ok && !strings.HasPrefix(name, "#") {
						fields = append(fields, name)
					}
				}
			}
			assert.Equal(t, f.HeaderBytes, parts, "header parts of %v", key)
			sum += f.HeaderBytes + f.BodyBytes
			if len(d.messages) == 0 {
				assert.Zero(t, f.BodyBytes, "%v", key)
				continue
			}
			m := d.messages[i]
			assert.Equal(t, m.Bytes, f.BodyBytes, "%v message %d", key, i+1)
			assert.Equal(t, m.Sha256, f.sum, "%v message %d", key, i+1)
			if m.Compressed {
				assert.Equal(t, m.Encoding, f.Encoding, "%v", key)
				if assert.NotNil(t, f.UncompressedBytes, "%v", key) {
					assert.Equal(t, m.UncompressedBytes, *f.UncompressedBytes, "%v", key)
				}
			} else {
				assert.Empty(t, f.Encoding, "%v", key)
			}
		}
		if other != nil && other.reset && sum == d.bytes-d.last {
			continue // its last frame followed the reset by the other end
		}
		assert.Equal(t, d.bytes, sum, "frame bytes of %v", key)
		var names []string
		for _, block := range d.blocks {
			for _, f := range block {
				names = append(names, f[0])
			}
		}
		assert.Equal(t, names, fields, "header fields of %v", key)
		named(t, key, d, &rows[0])
		if status := d.header("grpc-status"); status != "" {
			last := rows[len(rows)-1]
			if assert.NotNil(t, last.Status, "%v", key) {
				assert.Equal(t, status, strconv.Itoa(*last.Status), "%v", key)
			}
		}
	}
}

// named: a request has the names of its path, its version and group.
func named(t *testing.T, key sending, d *direction, f *http2Row) {
	path := d.header(":path")
	if path == "" {
		assert.Equal(t, "response", f.Kind, "%v", key)
		return
	}
	assert.Equal(t, "request", f.Kind, "%v", key)
	path, _, _ = strings.Cut(path, "?")
	i := strings.LastIndexByte(path, '/')
	// A resource, rather than a method of an interface. Of a connection joined midway the host may not be known, nor the verb; without it the path stands alone.
	if i == 0 || !strings.Contains(path[:i], ".") && *f.Service != path[1:i] {
		if *f.Service != "" {
			assert.Equal(t, d.header(":authority"), *f.Service, "%v", key)
		}
		assert.True(t, onResource(f.Method, d.header(":method"), path), "%s is not %s %s", f.Method, d.header(":method"), path)
		return
	}
	if assert.NotNil(t, f.Service, "%v", key) {
		assert.Equal(t, path[1:i], *f.Service, "%v", key)
	}
	if method := path[i+1:]; method != "$invoke" && method != "$invokeAsync" { // generic calls are shown as what they call
		assert.Equal(t, method, f.Method, "%v", key)
	}
	assert.Equal(t, d.header("tri-service-group"), f.Group, "%v", key)
	if version := d.header("tri-service-version"); version != "" && assert.NotNil(t, f.Version, "%v", key) {
		assert.Equal(t, version, *f.Version, "%v", key)
	}
}

// wholeStreams: of a capture that is joined midway and lacks nothing later, streams all of whose messages came have the sizes that
// their sender logged.
func wholeStreams(t *testing.T, streams map[sending]*direction, r *http2Run) {
	whole := 0
	for key, rows := range r.rows {
		d, other := streams[key], streams[sending{way{key.dst, key.src}, key.stream}]
		if d == nil || len(rows) != max(1, len(d.messages)) || slices.ContainsFunc(rows, func(f http2Row) bool { return !f.Complete }) {
			continue
		}
		whole++
		sum := 0
		for i, f := range rows {
			sum += f.HeaderBytes + f.BodyBytes
			if len(d.messages) > 0 {
				assert.Equal(t, d.messages[i].Bytes, f.BodyBytes, "%v message %d", key, i+1)
			}
		}
		if other == nil || !other.reset || sum != d.bytes-d.last {
			assert.Equal(t, d.bytes, sum, "frame bytes of %v", key)
		}
	}
	assert.Greater(t, whole, len(streams)*9/10)
}

// someRows: of a capture that saw only a part, nothing is invented. Messages before the first captured one are not counted.
func someRows(t *testing.T, streams map[sending]*direction, r *http2Run) {
	found, all := 0, 0
	for _, d := range streams {
		all += max(1, len(d.messages))
	}
	for key, rows := range r.rows {
		d := streams[key]
		if !assert.NotNil(t, d, "invented: %v", key) {
			continue
		}
		for i := range rows {
			f := &rows[i]
			found++
			known := len(d.messages) == 0 && f.BodyBytes == 0 || f.BodyBytes == 0 || slices.ContainsFunc(d.messages, func(m http2Line) bool { return m.Bytes == f.BodyBytes })
			assert.True(t, known, "invented: %d bytes in %v", f.BodyBytes, key)
			if f.Service != nil && *f.Service != "?" && f.Kind == "request" {
				named(t, key, d, f)
			}
		}
	}
	assert.Positive(t, found)
	t.Logf("%d of %d messages", found, all)
}
