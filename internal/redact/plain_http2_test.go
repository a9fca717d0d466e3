package redact

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/dev/bench/traffic"
)

// Plain calls over HTTP/2 keep their names: the host, if it is a name, and the path but for what may be values.
func TestPlainHTTP2(t *testing.T) {
	var segments []traffic.Segment
	var blocks [2]bytes.Buffer
	encoders := [2]*hpack.Encoder{hpack.NewEncoder(&blocks[0]), hpack.NewEncoder(&blocks[1])}
	say := func(side int, before string, write func(f *http2.Framer)) {
		out := bytes.NewBufferString(before)
		write(http2.NewFramer(out, nil))
		segments = append(segments, traffic.Segment{Side: side, Data: out.Bytes()})
	}
	say(0, http2.ClientPreface, func(f *http2.Framer) { require.NoError(t, f.WriteSettings()) })
	say(1, "", func(f *http2.Framer) { require.NoError(t, f.WriteSettings()) })
	stream := uint32(1)
	ask := func(method, authority, path string) {
		for side, fields := range [][]hpack.HeaderField{
			{{Name: ":method", Value: method}, {Name: ":scheme", Value: "http"}, {Name: ":authority", Value: authority}, {Name: ":path", Value: path}, {Name: "content-type", Value: "application/json"}},
			{{Name: ":status", Value: "200"}, {Name: "content-type", Value: "application/json"}},
		} {
			blocks[side].Reset()
			for _, f := range fields {
				require.NoError(t, encoders[side].WriteField(f))
			}
			say(side, "", func(f *http2.Framer) {
				require.NoError(t, f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: blocks[side].Bytes(), EndHeaders: true}))
				require.NoError(t, f.WriteData(stream, true, []byte(`{"name":"anna-maria"}`)))
			})
		}
		stream += 2
	}
	for range 2 {
		ask("POST", "orders.internal:8080", "/org.acme.Orders/find")
		ask("POST", "orders.internal:8080", "/api/v1/orders/48213/items?user=anna-maria")
		ask("PUT", "orders.internal:8080", "/api/v1/orders/anna@example.org")
		ask("PUT", "orders.internal:8080", "/api/v1/orders/7f3c0e-4411-aa/")
	}
	file := filepath.Join(t.TempDir(), "plain.pcap")
	require.NoError(t, os.WriteFile(file, traffic.Talk(segments), 0o600))
	x := redactFile(t, Options{}, file)
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
