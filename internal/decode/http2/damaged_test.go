package http2_test

import (
	"bytes"
	"fmt"
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

// TestDamaged: one damaged header of a frame costs few messages. Neither does the number of a stream close all streams below it, nor
// is what follows taken for the payload of a frame that no peer sends.
func TestDamaged(t *testing.T) {
	const calls = 60
	for name, damage := range map[string]func(request, response []byte){
		"none":                         func(_, _ []byte) {},
		"number of a request":          func(request, _ []byte) { request[6] ^= 0x40 },
		"number of a response":         func(_, response []byte) { response[7] ^= 0x08 },
		"even number":                  func(_, response []byte) { response[8] ^= 1 },
		"length of DATA":               func(request, _ []byte) { request[9+int(request[2])+2] ^= 0x40 },
		"length of headers":            func(_, response []byte) { response[0] ^= 0x40 },
		"type and length":              func(request, _ []byte) { copy(request, "java.lang") },
		"DATA of a stream that nobody": func(request, _ []byte) { copy(request, "\x33\x00\x00\x00\x00\x00\x85\x00\x00") },
	} {
		t.Run(name, func(t *testing.T) {
			list := conversation(t, calls)
			damage(list[2+2*20].Data, list[3+2*20].Data)
			found, totals := read(t, list, rpc.Envelope)
			complete := 0
			for i := range found {
				if found[i].Complete {
					complete++
				}
			}
			assert.GreaterOrEqual(t, complete, 2*calls-8)
			sent := int64(0)
			for i := range list {
				sent += int64(len(list[i].Data))
			}
			assert.EqualValues(t, sent, totals.FrameBytes+totals.OtherBytes()+totals.Skipped)
		})
	}
}

// heads collects the lengths of the headers of messages, and of their bytes.
type heads struct{ lengths, bytes []int }

func (h *heads) Call(*call.Call, bool) {}

func (h *heads) Frame(r *pipeline.Row) {
	h.lengths = append(h.lengths, int(r.Msg.HeaderLen))
	h.bytes = append(h.bytes, len(r.Msg.Head))
}

// TestCutPrefix: what there is of a prefix is among the parts of the header.
func TestCutPrefix(t *testing.T) {
	list := conversation(t, 1)[:3]
	whole := list[2].Data
	start := len(whole) - 5 - 34
	for n := range 5 {
		list[2].Data = whole[:start+n]
		src, err := capture.Open([]string{"-"}, capture.Options{Stdin: bytes.NewReader(traffic.Talk(list))})
		require.NoError(t, err)
		var h heads
		_, err = pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Values, Rows: true}, &h)
		require.NoError(t, err)
		assert.Equal(t, []int{start + n}, h.lengths)
		assert.Equal(t, h.lengths, h.bytes)
	}
}

// conversation returns SETTINGS of both sides, then a segment for each request and each response. The server takes long frames, as
// Dubbo's do.
func conversation(t *testing.T, calls int) []traffic.Segment {
	var out [2]bytes.Buffer
	var encoded bytes.Buffer
	framers := [2]*http2.Framer{http2.NewFramer(&out[0], nil), http2.NewFramer(&out[1], nil)}
	encoders := [2]*hpack.Encoder{hpack.NewEncoder(&encoded), hpack.NewEncoder(&encoded)}
	var list []traffic.Segment
	send := func(side int) {
		list = append(list, traffic.Segment{Side: side, Data: bytes.Clone(out[side].Bytes())})
		out[side].Reset()
	}
	headers := func(side int, stream uint32, end bool, fields ...string) {
		encoded.Reset()
		for i := 0; i < len(fields); i += 2 {
			require.NoError(t, encoders[side].WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}))
		}
		require.NoError(t, framers[side].WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: encoded.Bytes(), EndHeaders: true, EndStream: end}))
	}
	data := func(side int, stream uint32, text string, end bool) {
		require.NoError(t, framers[side].WriteData(stream, end, append([]byte{0, 0, 0, 0, byte(len(text))}, text...)))
	}
	out[0].WriteString(http2.ClientPreface)
	for side := range framers {
		require.NoError(t, framers[side].WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 8 << 20}))
		send(side)
	}
	for i := range calls {
		stream := uint32(2*i + 1)
		headers(0, stream, false, ":method", "POST", ":scheme", "http", ":path", "/org.acme.Users/find", "content-type", "application/grpc")
		data(0, stream, fmt.Sprintf("\x0a\x20java.lang.String has 32 bytes%3d", i), true)
		send(0)
		headers(1, stream, false, ":status", "200", "content-type", "application/grpc")
		data(1, stream, fmt.Sprintf("\x0a\x1dorg.acme.User has 29 bytes%3d", i), false)
		headers(1, stream, true, "grpc-status", "0")
		send(1)
	}
	return list
}

// states collects how calls end, with the completeness of their responses and how far these are decoded.
type states struct{ calls, responses []string }

func (s *states) Call(c *call.Call, _ bool) { s.calls = append(s.calls, c.State().String()) }

func (s *states) Frame(r *pipeline.Row) {
	if m := r.Msg; m.Kind == rpc.Response {
		text := fmt.Sprintf("complete %t, %s", m.Complete, m.Decoded)
		if m.Err != nil {
			text += ": " + m.Err.Error()
		}
		s.responses = append(s.responses, text)
	}
}

// TestKilled: a server that stops before the first message of a response has not answered, whatever it has sent of the headers.
func TestKilled(t *testing.T) {
	whole := conversation(t, 1)[3].Data
	headers := 9 + int(whole[2])
	message := headers + 9 + int(whole[headers+2])
	for _, row := range []struct {
		name  string
		n     int
		state string
		want  []string
	}{
		{"nothing", 0, "noResponse", nil},
		{"a part of the headers", headers - 1, "noResponse", nil},
		{"headers", headers, "noResponse", []string{"complete false, none: lost at body offset 0: expected a message, or the end of the stream"}},
		{"headers and the start of a message", headers + 12, "noResponse", []string{"complete false, none: lost at body offset 0: expected a message, or the end of the stream"}},
		{"headers and a message", message, "ok", []string{"complete true, full"}},
		{"all", len(whole), "ok", []string{"complete true, full"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			list := conversation(t, 1)
			list[3].Data = whole[:row.n]
			src, err := capture.Open([]string{"-"}, capture.Options{Stdin: bytes.NewReader(traffic.Talk(list))})
			require.NoError(t, err)
			var s states
			_, err = pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Values, Rows: true}, &s)
			require.NoError(t, err)
			assert.Equal(t, []string{row.state}, s.calls)
			assert.Equal(t, row.want, s.responses)
		})
	}
}
