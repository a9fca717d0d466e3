package pipeline

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/sizes"
)

// script is a capture in memory: raw IPv4 packets between two hosts.
type script struct {
	packets []capture.Packet
	at      int
}

func (s *script) Next(p *capture.Packet) error {
	if s.at == len(s.packets) {
		return io.EOF
	}
	*p = s.packets[s.at]
	s.at++
	return nil
}

func (s *script) Close() error { return nil }

const headers = 40 // IPv4 and TCP without options

// send adds a segment from port src to port dst.
func (s *script) send(src, dst uint16, flags byte, seq uint32, payload []byte) {
	b := make([]byte, headers, headers+len(payload))
	b[0] = 0x45
	binary.BigEndian.PutUint16(b[2:], uint16(headers+len(payload)))
	binary.BigEndian.PutUint16(b[4:], uint16(len(s.packets)+1))
	b[8], b[9] = 64, 6
	copy(b[12:], []byte{10, 0, 0, byte(src >> 8)})
	copy(b[16:], []byte{10, 0, 0, byte(dst >> 8)})
	binary.BigEndian.PutUint16(b[20:], src)
	binary.BigEndian.PutUint16(b[22:], dst)
	binary.BigEndian.PutUint32(b[24:], seq)
	b[32], b[33] = 5<<4, flags
	b = append(b, payload...)
	s.packets = append(s.packets, capture.Packet{
		Data: b, WireLen: len(b), Time: int64(len(s.packets)+1) * 1000, Link: capture.LinkRaw, Number: int64(len(s.packets) + 1),
	})
}

const (
	syn = 2
	ack = 16
	cli = 40000
	srv = 20880
)

// frame is a Hessian2 frame: a call of s.a() with n bytes more than it needs, or its answer.
func frame(request bool, id byte, n int) []byte {
	flags, status, body := byte(0x02), byte(20), []byte("\x95H\x05dubbo\x052.0.2Z")
	if request {
		flags, status, body = 0xc2, 0, []byte("\x052.0.2\x01s\x050.0.0\x01a\x00H\x01kS"+string([]byte{byte(n >> 8), byte(n)}))
		body = append(body, slices.Repeat([]byte{'v'}, n)...)
		body = append(body, 'Z')
	}
	b := []byte{0xda, 0xbb, flags, status, 0, 0, 0, 0, 0, 0, 0, id}
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	return append(b, body...)
}

// sink keeps what came out.
type sink struct {
	agg   *sizes.Aggregator
	calls []string
}

func (s *sink) Frame(*Row) {}

func (s *sink) Call(c *call.Call, selected bool) {
	s.calls = append(s.calls, c.State().String())
	s.agg.Call(c)
}

func run(t *testing.T, s *script) (*Totals, *sink) {
	out := &sink{agg: sizes.New(sizes.DefaultBy(), 0, nil)}
	totals, err := Run(s, Options{Protocols: protocols.All(), Formats: formats.All()}, out)
	require.NoError(t, err)
	assert.NoError(t, totals.TCP.Balance())
	assert.Equal(t, totals.TCP.Stream, totals.FrameBytes+totals.OtherBytes()+totals.Skipped)
	return totals, out
}

// Link bytes: a payload byte belongs to its message, a packet's headers to the owner of its first payload byte, a
// repeated byte to the message it repeats.
func TestLinkBytes(t *testing.T) {
	first, second, answer := frame(true, 1, 100), frame(true, 2, 200), frame(false, 1, 0)
	s := &script{}
	s.send(cli, srv, syn, 0, nil)
	s.send(srv, cli, syn|ack, 0, nil)
	both := append(slices.Clone(first), second...)
	s.send(cli, srv, ack, 1, both[:50])                       // start of the first
	s.send(cli, srv, ack, 51, both[50:len(first)+10])         // its end, start of the second
	s.send(cli, srv, ack, 51, both[50:len(first)+10])         // again
	s.send(cli, srv, ack, uint32(len(first)+11), second[10:]) // the rest of the second
	s.send(cli, srv, ack, 1, first[:50])                      // again, when both are complete
	s.send(srv, cli, ack, 1, answer)
	s.send(srv, cli, ack, 1, nil)
	totals, out := run(t, s)

	g := out.agg.Groups()
	require.Len(t, g, 1)
	one := int64(len(first)) + 2*headers + int64(len(first)-50) + headers + 50 + headers // own, two packets' headers, repeats
	two := int64(len(second)) + 10 + headers                                             // own, its repeated start, one packet's headers
	assert.Equal(t, one+two, g[0].Request.Wire.Total)
	assert.Equal(t, max(one, two), g[0].Request.Wire.Max)
	assert.Equal(t, int64(len(answer)+headers), g[0].Response().Wire.Total)
	assert.Equal(t, one+two+int64(len(answer))+headers, totals.RPCBytes)
	assert.Equal(t, totals.RPCBytes+3*headers, totals.LinkBytes)
	assert.Equal(t, []string{"ok", "noResponse"}, out.calls)
}

// Foreign protocols are named and never skipped bytes of Dubbo's.
func TestForeign(t *testing.T) {
	s := &script{}
	for i, c := range []struct{ client, server string }{
		{"GET /", ""},
		{"\x16\x03\x01\x02\x00\x01", "\x16\x03\x03\x00\x7a"},
		{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ""},
		{"ls\r\n", "com.acme.Service\r\ndubbo>"},
		{"\x00\x00\x00\x2e\xda\xbc\x00\x00", ""},
		{"\x4a\x00\x00\x00\x0a8.0.32", "\x01\x02"},
	} {
		port := uint16(cli + i)
		s.send(port, srv, syn, 0, nil)
		s.send(srv, port, syn|ack, 0, nil)
		s.send(port, srv, ack, 1, []byte(c.client))
		if c.server != "" {
			s.send(srv, port, ack, 1, []byte(c.server))
		}
	}
	totals, _ := run(t, s)
	assert.Equal(t, []string{"http", "http2", "telnet", "thrift", "tls", "unknown"}, totals.OtherProtocols())
	assert.Zero(t, totals.Skipped)
	assert.Zero(t, totals.Frames)
	assert.Equal(t, 100.0, totals.Percent())
	assert.NotZero(t, totals.OtherTCP[srv])
}

// In a stream that started as another protocol no frame is looked for: its bodies may hold some.
func TestFramesInsideForeignStreams(t *testing.T) {
	inside := append(frame(true, 1, 100), frame(true, 2, 200)...)
	length := fmt.Sprintf("content-length: %d\r\n\r\n", len(inside))
	request := append([]byte("POST /x HTTP/1.1\r\n"+length), inside...)
	answer := append([]byte("HTTP/1.1 200 OK\r\n"+length), inside...)
	s := &script{}
	s.send(cli, srv, syn, 0, nil)
	s.send(srv, cli, syn|ack, 0, nil)
	s.send(cli, srv, ack, 1, request)
	s.send(srv, cli, ack, 1, answer)
	s.send(cli, srv, ack, uint32(1+len(request)), inside)
	totals, _ := run(t, s)
	assert.Equal(t, map[string]int64{"http": 1}, totals.Protocols)
	assert.Equal(t, int64(len(request)+len(answer)), totals.FrameBytes)
	assert.EqualValues(t, 2, totals.Frames)
	assert.EqualValues(t, len(inside), totals.Skipped)
}

// Callbacks: both ends ask with the same ids.
func TestBothEndsAsk(t *testing.T) {
	s := &script{}
	s.send(cli, srv, syn, 0, nil)
	s.send(srv, cli, syn|ack, 0, nil)
	request, answer := frame(true, 7, 10), frame(false, 7, 0)
	s.send(cli, srv, ack, 1, request)
	s.send(srv, cli, ack, 1, request)
	s.send(cli, srv, ack, 1+uint32(len(request)), answer)
	s.send(srv, cli, ack, 1+uint32(len(request)), answer)
	s.send(srv, cli, ack, 1+uint32(len(request)+len(answer)), answer) // nobody asked
	_, out := run(t, s)
	assert.Equal(t, []string{"ok", "ok", "noRequest"}, out.calls)
}

// A joined stream's first packet that is captured after its second one is skipped, and lowers the percent; the same
// numbers once more, after a reset and another SYN, are another connection.
func TestLateStart(t *testing.T) {
	a, b := frame(true, 1, 100), frame(true, 2, 0)
	s := &script{}
	s.send(cli, srv, ack, 1000+uint32(len(a)), b)
	s.send(cli, srv, ack, 1000, a)
	s.send(cli, srv, ack, 1000, a)
	totals, _ := run(t, s)
	assert.Equal(t, int64(1), totals.Frames)
	assert.Equal(t, int64(len(a)), totals.Skipped)
	assert.Equal(t, int64(len(a)), totals.TCP.Late)
	assert.Equal(t, int64(len(a)), totals.TCP.Repeated)
	assert.Zero(t, totals.Between)
	assert.InDelta(t, 100*float64(len(b))/float64(len(a)+len(b)), totals.Percent(), 1e-9)

	s = &script{}
	for id := range byte(2) {
		f := frame(true, id, 100)
		s.send(cli, srv, syn, 0, nil)
		s.send(srv, cli, syn|ack, 0, nil)
		s.send(cli, srv, ack, 1, f)
		s.send(cli, srv, 4, uint32(len(f))+1, nil)
	}
	totals, _ = run(t, s)
	assert.Equal(t, int64(2), totals.Frames)
	assert.Equal(t, int64(2), totals.TCP.Connections)
	assert.Zero(t, totals.TCP.Repeated)
}
