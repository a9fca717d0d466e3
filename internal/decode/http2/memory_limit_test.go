package http2_test

import (
	"bytes"
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
)

// methods collects the methods of calls.
type methods []string

func (*methods) Frame(*pipeline.Row) {}

func (m *methods) Call(c *call.Call, _ bool) { *m = append(*m, c.Request.Method()) }

// Without memory for it a long header block is not read, wherever it is split. Short ones are, and those that a packet has whole.
func TestMemoryLimit(t *testing.T) {
	for _, inFrames := range []bool{false, true} {
		var block, out bytes.Buffer
		encoder, framer := hpack.NewEncoder(&block), http2.NewFramer(&out, nil)
		var list []traffic.Segment
		send := func() {
			list = append(list, traffic.Segment{Data: bytes.Clone(out.Bytes())})
			out.Reset()
		}
		out.WriteString(http2.ClientPreface)
		require.NoError(t, framer.WriteSettings())
		send()
		ask := func(id uint32, method, value string, cut int) {
			block.Reset()
			for _, f := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", "/org.acme.Users/" + method}, {"content-type", "application/grpc"}, {"x", value}} {
				require.NoError(t, encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1], Sensitive: true}))
			}
			b := block.Bytes()
			if inFrames {
				first := b[:min(len(b), cut)]
				require.NoError(t, framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: first, EndHeaders: len(first) == len(b)}))
				for rest := range slices.Chunk(b[len(first):], cut) {
					require.NoError(t, framer.WriteContinuation(id, &rest[len(rest)-1] == &b[len(b)-1], rest))
				}
			} else {
				require.NoError(t, framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: b, EndHeaders: true}))
			}
			require.NoError(t, framer.WriteData(id, true, []byte{0, 0, 0, 0, 0}))
			for part := range slices.Chunk(bytes.Clone(out.Bytes()), cut) {
				list = append(list, traffic.Segment{Data: part})
			}
			out.Reset()
		}
		ask(1, "short", "v", 40)
		ask(3, "long", strings.Repeat("text", 800), 300)
		ask(5, "other", "v", 40)
		ask(7, "whole", strings.Repeat("text", 300), 1400)
		for _, test := range []struct {
			limit int
			want  methods
		}{{0, methods{"short", "long", "other", "whole"}}, {1, methods{"short", "?", "other", "whole"}}} {
			src, err := capture.Open([]string{"-"}, capture.Options{Stdin: bytes.NewReader(traffic.Talk(list))})
			require.NoError(t, err)
			var got methods
			_, err = pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Limits: pipeline.Limits{MaxBodies: test.limit}}, &got)
			require.NoError(t, err)
			assert.Equal(t, test.want, got, "%v %d", inFrames, test.limit)
		}
	}
}
