package sniff_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/decode/sniff"
)

// client is what a client of HTTP/2 sends up to its first request.
func client(t testing.TB, headers ...string) []byte {
	var out, block bytes.Buffer
	out.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&out, nil)
	require.NoError(t, f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 8 << 20}, http2.Setting{ID: 0xfe00, Val: 1}))
	e := hpack.NewEncoder(&block)
	for i := 0; i < len(headers); i += 2 {
		require.NoError(t, e.WriteField(hpack.HeaderField{Name: headers[i], Value: headers[i+1]}))
	}
	b := block.Bytes()
	half := len(b) / 2
	require.NoError(t, f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: b[:half], PadLength: 3}))
	require.NoError(t, f.WriteContinuation(1, true, b[half:]))
	return out.Bytes()
}

func TestStart(t *testing.T) {
	for head, want := range map[string]string{
		"GET / HTTP/1.1\r\n":               sniff.HTTP1,
		"HTTP/1.1 200 OK\r\n":              sniff.HTTP1,
		"GET ":                             "", // may be anything yet
		"GETTING started":                  "",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n": sniff.HTTP2,
		"PRI * HTT":                        "",
		"\x16\x03\x01\x02\x00":             sniff.TLS,
		"\x16\x03":                         "",
		"\x00\x00\x00\x2e\xda\xbc":         sniff.Thrift,
		"\xda\xbb\xc2\x00":                 "",
		"":                                 "",
	} {
		assert.Equal(t, want, sniff.Start([]byte(head)), "%q", head)
	}
	assert.True(t, sniff.IsTelnet([]byte("invoke hi(\"x\")\r\n")))
	assert.False(t, sniff.IsTelnet([]byte("invoked")))
}

func TestRequests(t *testing.T) {
	path := []string{":method", "POST", ":path", "/com.acme.User/get", ":scheme", "http"}
	for _, c := range []struct {
		want    string
		headers []string
	}{
		{sniff.Triple, append(path, "content-type", "application/grpc+proto", "tri-consumer-appname", "shop")},
		{sniff.Triple, append(path, "content-type", "application/json", "tri-service-version", "1.0")},
		{sniff.GRPC, append(path, "content-type", "application/grpc", "user-agent", "grpc-java-netty/1.60")},
		{sniff.HTTP2, append(path, "content-type", "application/json")},
	} {
		b := client(t, c.headers...)
		for i := range b {
			require.Empty(t, sniff.Requests(b[:i]), "%d of %d bytes", i, len(b))
		}
		assert.Equal(t, c.want, sniff.Requests(b))
	}
}

// Bytes that are no HTTP/2 behind the preface, or that never come to a request.
func TestRequestsHostile(t *testing.T) {
	for name, rest := range map[string]string{
		"a frame of 16 MiB":        "\xff\xff\xff\x01\x04\x00\x00\x00\x01",
		"a bad index":              "\x00\x00\x02\x01\x04\x00\x00\x00\x01\xff\x00",
		"data before any settings": strings.Repeat("\x00\x00\x01\x00\x00\x00\x00\x00\x01x", 900),
		"settings without end":     strings.Repeat("\x00\x00\x00\x04\x00\x00\x00\x00\x00", 1000),
	} {
		assert.Equal(t, sniff.HTTP2, sniff.Requests([]byte(http2.ClientPreface+rest)), name)
	}
}

func FuzzRequests(f *testing.F) {
	f.Add(client(f, ":method", "POST", "content-type", "application/grpc", "tri-service-version", "1.0"))
	f.Add([]byte(http2.ClientPreface + "\x00\x00\x02\x01\x04\x00\x00\x00\x01\xff\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		name := sniff.Requests(b)
		require.Contains(t, []string{"", sniff.HTTP2, sniff.GRPC, sniff.Triple}, name)
		if len(b) >= sniff.MaxHTTP2 {
			require.NotEmpty(t, name, "it does not wait for ever")
		}
	})
}
