package truth

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"testing"

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

// http1Row is what is compared of a message of HTTP/1.
type http1Row struct {
	Src, Dst, Protocol, Kind string
	HeaderBytes, BodyBytes   int
	Status                   *int
	Complete                 bool
	Encoding                 string
	UncompressedBytes        int
	sum                      string
}

// http1Rows collects the messages of each direction.
type http1Rows struct {
	t      *testing.T
	frames report.Frames
	rows   map[way][]http1Row
}

func (c *http1Rows) Call(*call.Call, bool) {}

func (c *http1Rows) Frame(r *pipeline.Row) {
	var f http1Row
	require.NoError(c.t, json.Unmarshal(c.frames.AppendJSON(nil, r), &f))
	if r.Msg.Protocol.PlainHTTP && !r.Msg.Interleaved {
		sum := sha256.Sum256(r.Msg.Body)
		f.sum = hex.EncodeToString(sum[:8])
		w := way{f.Src, f.Dst}
		c.rows[w] = append(c.rows[w], f)
	}
}

// TestHTTP1Messages compares each message of HTTP/1 with what was logged below the sockets of its sender: kind, status, bytes of head and
// chunks, bytes and sum of the content.
func TestHTTP1Messages(t *testing.T) {
	testkit.Once(t)
	compared := 0
	for _, p := range someCaptures(t) {
		sent := readHTTP1(t, p.Truth)
		if len(sent) == 0 {
			continue
		}
		compared++
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			src, err := capture.Open([]string{filepath.Join(captures, p.File)}, capture.Options{})
			require.NoError(t, err)
			defer src.Close()
			c := &http1Rows{t: t, rows: map[way][]http1Row{}}
			_, err = pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Values, WholeBodies: true, Rows: true}, c)
			require.NoError(t, err)
			for w, lines := range sent {
				rows := c.rows[w]
				for _, l := range lines {
					if l.Status >= 100 && l.Status < 200 && l.Status != 101 {
						continue // interim responses are not messages
					}
					if l.Error != "" {
						break // the log does not know the length of the message
					}
					if !assert.NotEmpty(t, rows, "%v: %s", w, l.Start) {
						break
					}
					r := rows[0]
					rows = rows[1:]
					require.True(t, r.Complete, "%v: %s", w, l.Start)
					assert.Equal(t, l.Status == 0, r.Kind == "request", l.Start)
					if l.Status > 0 && assert.NotNil(t, r.Status) {
						assert.Equal(t, l.Status, *r.Status)
					}
					assert.Equal(t, l.ContentBytes, r.BodyBytes, l.Start)
					assert.Equal(t, l.ContentSha256, r.sum, l.Start)
					assert.Equal(t, l.HeadBytes+l.BodyBytes-l.ContentBytes, r.HeaderBytes, l.Start)
					if l.Encoding != "" {
						assert.Equal(t, l.Encoding, r.Encoding, l.Start)
						assert.Equal(t, l.UncompressedBytes, r.UncompressedBytes, l.Start)
					}
				}
			}
		})
	}
	if !testing.Short() {
		require.Positive(t, compared)
	}
}
