package redact

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/bench/traffic"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// plainTalk makes a capture of plain calls over HTTP/2. Its first two segments are those of the connection.
type plainTalk struct {
	t        *testing.T
	segments []traffic.Segment
	encoders [2]*hpack.Encoder
	blocks   [2]bytes.Buffer
	stream   uint32
}

func newPlainTalk(t *testing.T) *plainTalk {
	p := &plainTalk{t: t, stream: 1}
	for i := range p.encoders {
		p.encoders[i] = hpack.NewEncoder(&p.blocks[i])
	}
	p.say(0, http2.ClientPreface, func(f *http2.Framer) { require.NoError(t, f.WriteSettings()) })
	p.say(1, "", func(f *http2.Framer) { require.NoError(t, f.WriteSettings()) })
	return p
}

func (p *plainTalk) say(side int, before string, write func(f *http2.Framer)) {
	out := bytes.NewBufferString(before)
	write(http2.NewFramer(out, nil))
	p.segments = append(p.segments, traffic.Segment{Side: side, Data: out.Bytes()})
}

// ask adds a call and its response, with texts in Huffman's code or as they are.
func (p *plainTalk) ask(huffman bool, method, authority, path string) {
	for side, fields := range [][]hpack.HeaderField{
		{{Name: ":method", Value: method}, {Name: ":scheme", Value: "http"}, {Name: ":authority", Value: authority}, {Name: ":path", Value: path}, {Name: "content-type", Value: "application/json"}},
		{{Name: ":status", Value: "200"}, {Name: "content-type", Value: "application/json"}},
	} {
		b := &p.blocks[side]
		b.Reset()
		for _, f := range fields {
			if huffman {
				require.NoError(p.t, p.encoders[side].WriteField(f))
				continue
			}
			b.WriteByte(0) // a literal that is not indexed
			for _, text := range []string{f.Name, f.Value} {
				b.WriteByte(byte(len(text)))
				b.WriteString(text)
			}
		}
		p.say(side, "", func(f *http2.Framer) {
			require.NoError(p.t, f.WriteHeaders(http2.HeadersFrameParam{StreamID: p.stream, BlockFragment: b.Bytes(), EndHeaders: true}))
			require.NoError(p.t, f.WriteData(p.stream, true, []byte(`{"name":"anna-maria"}`)))
		})
	}
	p.stream += 2
}

// redacted returns the paths of the capture and of its copy.
func (p *plainTalk) redacted() (string, *redacted) {
	file := filepath.Join(p.t.TempDir(), "plain.pcap")
	require.NoError(p.t, os.WriteFile(file, traffic.Talk(p.segments), 0o600))
	return file, redactFile(p.t, Options{}, file)
}

// Plain calls over HTTP/2 keep their names: the host, if it is a name, and the path but for what may be values.
func TestPlainHTTP2(t *testing.T) {
	p := newPlainTalk(t)
	for range 2 {
		p.ask(true, "POST", "orders.internal:8080", "/org.acme.Orders/find")
		p.ask(true, "POST", "orders.internal:8080", "/api/v1/orders/48213/items?user=anna-maria")
		p.ask(true, "PUT", "orders.internal:8080", "/api/v1/orders/anna@example.org")
		p.ask(true, "PUT", "orders.internal:8080", "/api/v1/orders/7f3c0e-4411-aa/")
	}
	file, x := p.redacted()
	was, is := factsOf(t, file), factsOf(t, x.path)
	assert.Len(t, was.Calls, 8)
	assert.Equal(t, was.Totals, is.Totals)
	assert.Equal(t, was.Rows, is.Rows)
	assert.Equal(t, was.Calls, is.Calls)
	out, err := os.ReadFile(x.path)
	require.NoError(t, err)
	assert.Empty(t, x.leaks(append(out, headersOf(t, x.path)...)))
	headers := string(headersOf(t, x.path))
	assert.Contains(t, headers, "orders.internal:8080")
	for _, secret := range []string{"48213", "anna", "example.org", "7f3c0e"} {
		assert.NotContains(t, headers, secret)
	}
}

// Calls to an address have another one in the copy: the same one in each call and in each code, no two the same, with the port.
func TestPlainHTTP2Addresses(t *testing.T) {
	p := newPlainTalk(t)
	authorities := []string{"[2001:db8::7]:80", "[2001:db8::8]:80", "10.20.0.1"}
	for i := range 12 {
		authorities = append(authorities, fmt.Sprintf("10.1.2.%d:8080", 100+i))
	}
	for _, huffman := range []bool{true, false} {
		for _, a := range authorities {
			p.ask(huffman, "GET", a, "/api/orders")
		}
	}
	file, x := p.redacted()
	was, is := servicesOf(t, file), servicesOf(t, x.path)
	require.Len(t, was, 2*len(authorities))
	require.Len(t, is, len(was))
	became := make(map[string]string)
	for i := range was {
		assert.Len(t, is[i], len(was[i]))
		assert.NotEqual(t, was[i], is[i])
		if i < len(authorities) {
			became[was[i]] = is[i]
		}
		assert.Equal(t, became[was[i]], is[i])
		assert.Equal(t, strings.HasSuffix(was[i], ":8080"), strings.HasSuffix(is[i], ":8080"))
	}
	slices.Sort(is)
	assert.Len(t, slices.Compact(is), len(authorities))
}

// servicesOf returns the services of the calls in a file, in order.
func servicesOf(t *testing.T, path string) []string {
	src, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	var s services
	_, err = pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Envelope}, &s)
	require.NoError(t, err)
	return s
}

// services collects the services of calls.
type services []string

func (s *services) Call(c *call.Call, _ bool) { *s = append(*s, c.Request.Service()) }

func (s *services) Frame(*pipeline.Row) {}
