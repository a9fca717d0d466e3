package redact

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/bench/traffic"
	"dubbo-wire/internal/dev/streams"
	"dubbo-wire/internal/dev/testkit"
)

// A connection of HTTP/1 has no secret in a copy wherever it is damaged: the first bytes are others, the start was not captured, a
// segment from the middle was not, or the response with which the protocol is switched was not. Secrets are the texts that redaction replaces in the capture without damage and nowhere keeps.
func TestDamagedHTTP1(t *testing.T) {
	const segment = 512
	switches := func(s traffic.Segment) bool { return bytes.HasPrefix(s.Data, []byte("HTTP/1.1 101")) }
	ways := map[string]func(segments []traffic.Segment, k int){
		"first bytes damaged": func(segments []traffic.Segment, k int) {
			for side := range 2 {
				if i := slices.IndexFunc(segments, func(s traffic.Segment) bool { return s.Side == side }); i >= 0 {
					b := bytes.Clone(segments[i].Data)
					b[min(3*k, len(b)-1)] ^= 0x15
					segments[i].Data = b
				}
			}
		},
		"start lost": func(segments []traffic.Segment, k int) {
			for i := range min(k+1, len(segments)-1) {
				segments[i].Lost = true
			}
		},
		"middle lost": func(segments []traffic.Segment, k int) { segments[len(segments)*(k+1)/8].Lost = true },
		"switch lost": func(segments []traffic.Segment, _ int) {
			for i := range segments {
				segments[i].Lost = switches(segments[i])
			}
		},
	}
	for _, name := range []string{"rest-edge-jetty-2.7.23", "rest-edge-netty-2.7.23", "rest-forms-3.3.6", "rest-jetty-xml-gzip-2.7.23", "upgrade-3.3.6"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := testkit.Get(t, name).Path()
			secrets := redactFile(t, Options{}, path)
			original, err := testkit.Get(t, name).Decompress()
			require.NoError(t, err)
			require.NotEmpty(t, secrets.leaks(original))
			talks := streams.Talks(t, path, segment)
			some := testkit.Some(talks, max(1, len(talks)/6))
			if name == "upgrade-3.3.6" {
				switched := slices.IndexFunc(talks, func(talk []traffic.Segment) bool { return slices.ContainsFunc(talk, switches) })
				require.GreaterOrEqual(t, switched, 0)
				some = append(some, talks[switched])
			}
			for i, talk := range some {
				for way, damage := range ways {
					for _, k := range testkit.Some([]int{0, 3, 1, 2, 4, 5}, 6) {
						segments := slices.Clone(talk)
						damage(segments, k)
						file := filepath.Join(t.TempDir(), "damaged.pcap")
						require.NoError(t, os.WriteFile(file, traffic.Talk(segments), 0o600))
						x := redactFile(t, Options{}, file)
						out, err := os.ReadFile(x.path)
						require.NoError(t, err)
						of := fmt.Sprintf("connection %d, %s, %d", i, way, k)
						assert.Empty(t, secrets.leaks(out), of)
						assert.Empty(t, x.sum.Refused, of)
						assert.Equal(t, segmentsOf(t, file), segmentsOf(t, x.path), of)
						if way == "switch lost" { // the preface of HTTP/2 tells what follows
							was, is := factsOf(t, file), factsOf(t, x.path)
							assert.Equal(t, was.Totals, is.Totals, of)
							assert.Equal(t, was.Rows, is.Rows, of)
						}
					}
				}
			}
		})
	}
}

// Bytes between messages of HTTP/1 become others, so that the next message is found where it was.
func TestMalformedHTTP1(t *testing.T) {
	const ask, next = "POST /things HTTP/1.1\r\nHost: acme.example\r\n", "GET /next HTTP/1.1\r\nHost: acme.example\r\n\r\n"
	var segments []traffic.Segment
	for i, text := range []string{
		ask + "Content-Length: +5\r\n\r\n0\r\n\r\n" + next,
		ask + "Content-Length: 0x5\r\n\r\nhello\n" + next,
		ask + "Transfer-Encoding: xchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + next,
		ask + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n-1\r\nsecret\r\n" + next,
		ask + "Content-Length: 0\r\n\r\nno field\r\n\r\nsecret\r\n" + next,
		"GET /a secret HTTP/1.1\r\nHost: acme.example\r\n\r\n",
		"GET /secret HTTP/0.9\r\n\r\n",
		"PROPFIND /secret HTTP/3\r\n\r\n",
	} {
		segments = append(segments, traffic.Segment{Conn: i, Data: []byte(text)},
			traffic.Segment{Conn: i, Side: 1, Data: []byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\nsecret\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")})
	}
	file := filepath.Join(t.TempDir(), "malformed.pcap")
	require.NoError(t, os.WriteFile(file, traffic.Talk(segments), 0o600))
	x := redactFile(t, Options{}, file)
	was, is := factsOf(t, file), factsOf(t, x.path)
	assert.Equal(t, was.Totals, is.Totals)
	assert.Equal(t, was.Rows, is.Rows)
	assert.Equal(t, was.Calls, is.Calls)
	out, err := os.ReadFile(x.path)
	require.NoError(t, err)
	assert.NotContains(t, string(out), "secret")
	assert.NotContains(t, string(out), "hello")
}
