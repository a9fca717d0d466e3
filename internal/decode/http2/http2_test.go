package http2_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	own "dubbo-wire/internal/decode/http2"
	_ "dubbo-wire/internal/dev/testkit" // the flag -update
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

func TestRequests(t *testing.T) {
	path := []string{":method", "POST", ":path", "/com.acme.User/get", ":scheme", "http"}
	for _, c := range []struct {
		want    string
		headers []string
	}{
		{own.Triple.Name, append(path, "content-type", "application/grpc+proto", "tri-consumer-appname", "shop")},
		{own.Triple.Name, append(path, "content-type", "application/json", "tri-service-version", "1.0")},
		{own.GRPC.Name, append(path, "content-type", "application/grpc", "user-agent", "grpc-java-netty/1.60")},
		{own.Protocol.Name, append(path, "content-type", "application/json")},
	} {
		b := client(t, c.headers...)
		for i := range b {
			require.Empty(t, own.FirstRequest(b[:i]), "%d of %d bytes", i, len(b))
		}
		assert.Equal(t, c.want, own.FirstRequest(b))
	}
}

// Bytes that are not HTTP/2 after the preface, or that never come to a request.
func TestRequestsHostile(t *testing.T) {
	for name, rest := range map[string]string{
		"a frame of 16 MiB":        "\xff\xff\xff\x01\x04\x00\x00\x00\x01",
		"a bad index":              "\x00\x00\x02\x01\x04\x00\x00\x00\x01\xff\x00",
		"data before any settings": strings.Repeat("\x00\x00\x01\x00\x00\x00\x00\x00\x01x", 900),
		"settings without end":     strings.Repeat("\x00\x00\x00\x04\x00\x00\x00\x00\x00", 1000),
	} {
		assert.Equal(t, own.Protocol.Name, own.FirstRequest([]byte(http2.ClientPreface+rest)), name)
	}
}

func FuzzRequests(f *testing.F) {
	f.Add(client(f, ":method", "POST", "content-type", "application/grpc", "tri-service-version", "1.0"))
	f.Add([]byte(http2.ClientPreface + "\x00\x00\x02\x01\x04\x00\x00\x00\x01\xff\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		name := own.FirstRequest(b)
		require.Contains(t, []string{"", own.Protocol.Name, own.GRPC.Name, own.Triple.Name}, name)
		replacement, keep, _ := own.Protocol.KeepHead(b)
		require.True(t, keep == nil || len(replacement) == len(b))
		if len(b) >= own.MaxHead {
			require.NotEmpty(t, name, "it does not wait for ever")
		}
	})
}
