package pipeline

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/rpc"
)

var httpProtocol = &rpc.Protocol{Name: "made", PlainHTTP: true}

// A list of content codings accepts compression unless all that compress have weight 0.
func TestAcceptsEncoding(t *testing.T) {
	for list, want := range map[string]bool{
		"": false, "identity": false, "gzip": true, "deflate, gzip;q=1.0, *;q=0.5": true, "GZIP": true, " br ": true, "gzip;q=0": false,
		"gzip; q=0.000, br ;q = 0.001": true, "*;q=0, identity": false, "zstd;q=0.0,*": true, ";;,,=": false, "gzip;q=": true,
	} {
		assert.Equal(t, want, acceptsEncoding(list), list)
	}
}

// Cookies have all bytes of their field, and names only if these are names.
func TestCookieBytes(t *testing.T) {
	const line = "Cookie: a=1; long=" + "0123456789" + "; no name; b c=4; =5;;"
	h := rpc.Header{Name: "cookie", Value: strings.TrimPrefix(line, "Cookie: "), Len: int32(len(line))}
	s := httpSample(&rpc.Message{Summary: rpc.Summary{Protocol: httpProtocol, Request: true}, Headers: []rpc.Header{h}})
	var names []string
	bytes := 0
	for _, c := range s.Cookies {
		names = append(names, c.Name)
		bytes += c.Bytes
	}
	assert.Equal(t, []string{"a", "long", "", "", "", "", ""}, names)
	assert.Equal(t, len(line), bytes)
}

// FuzzHTTPSample: whatever a field has, its cookies are bounded and have its bytes.
func FuzzHTTPSample(f *testing.F) {
	f.Add("cookie", "a=1; b=2", int32(19))
	f.Add("set-cookie", "id=5; Path=/; HttpOnly", int32(36))
	f.Add("accept-encoding", "gzip;q=0, *;q=0.0.0", int32(30))
	f.Add("cookie", strings.Repeat("a=;", 1000), int32(0))
	f.Add("cookie", ";;;", int32(1<<31-1))
	f.Fuzz(func(t *testing.T, name, value string, n int32) {
		if n < 0 {
			return
		}
		h := rpc.Header{Name: name, Value: value, Len: n}
		s := httpSample(&rpc.Message{Summary: rpc.Summary{Protocol: httpProtocol}, Headers: []rpc.Header{h, h}})
		require.LessOrEqual(t, len(s.Cookies), maxCookies+1)
		bytes := int64(0)
		for _, c := range s.Cookies {
			require.LessOrEqual(t, len(c.Name), maxCookieName)
			bytes += int64(c.Bytes)
		}
		if name == "cookie" || name == "set-cookie" {
			require.Equal(t, 2*int64(n), bytes)
		}
	})
}

// Only plain HTTP has such a sample, and only if all fields are known.
func TestNoHTTPSample(t *testing.T) {
	h := []rpc.Header{{Name: "cookie", Value: "a=1", Len: 10}}
	assert.Nil(t, httpSample(&rpc.Message{Summary: rpc.Summary{Protocol: &rpc.Protocol{}}, Headers: h}))
	assert.Nil(t, httpSample(&rpc.Message{Summary: rpc.Summary{Protocol: httpProtocol}, Headers: h, Unresolved: true}))
	assert.Nil(t, httpSample(&rpc.Message{Summary: rpc.Summary{Protocol: httpProtocol}}))
	assert.Equal(t, &call.HTTPSample{Cookies: []call.SentField{{Name: "a", Bytes: 10}}}, httpSample(&rpc.Message{Summary: rpc.Summary{Protocol: httpProtocol}, Headers: h}))
}
