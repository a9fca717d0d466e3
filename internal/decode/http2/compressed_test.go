package http2

import (
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/rpc"
)

// owner takes messages and needs no more than their envelope.
type owner struct{ messages []*rpc.Message }

func (o *owner) Message(_ int, m *rpc.Message)       { o.messages = append(o.messages, m.Clone(true, true)) }
func (o *owner) Abort(int, uint64, string)           {}
func (o *owner) Unowned(int, int64, string)          {}
func (o *owner) Joined() bool                        { return false }
func (o *owner) Claim(string)                        {}
func (o *owner) BadHeader(int)                       {}
func (o *owner) Framing(int, *rpc.Message)           {}
func (o *owner) Awaited(int, uint64) bool            { return true }
func (o *owner) Handshake(rpc.Handshake)             {}
func (o *owner) Named(int) bool                      { return false }
func (o *owner) Answered(int, uint64) *rpc.Operation { return nil }
func (o *owner) Keep(int, *rpc.Message) bool         { return false }
func (o *owner) Want(int, *rpc.Message) rpc.Detail   { return rpc.Envelope }

// TestCompressedInPieces: the size of a message without its compression is known however its bytes arrive.
func TestCompressedInPieces(t *testing.T) {
	plain := make([]byte, 5000)
	for i := range plain {
		plain[i] = byte(i*i>>3 ^ i*7)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(plain)
	w.Close()
	require.Greater(t, packed.Len(), 2*maxEnvelope)

	var stream bytes.Buffer
	stream.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&stream, nil)
	require.NoError(t, f.WriteSettings())
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	for _, h := range [][2]string{{":method", "POST"}, {":path", "/a.B/c"}, {"content-type", "application/grpc"}, {"grpc-encoding", "gzip"}} {
		require.NoError(t, e.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}))
	}
	require.NoError(t, f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true}))
	n := packed.Len()
	require.NoError(t, f.WriteData(1, true, append([]byte{1, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, packed.Bytes()...)))

	for _, size := range []int{1 << 20, 1000, 7} {
		o := new(owner)
		env := &rpc.Env{Sampling: true, MaxBody: 1 << 20, MaxEnvelope: 4 << 10, MaxBuffers: 1 << 24, Shared: map[any]any{}}
		c := open(Protocol, env)(o, false)
		pos := int64(0)
		for b := stream.Bytes(); len(b) > 0; b = b[min(size, len(b)):] {
			piece := b[:min(size, len(b))]
			c.Data(0, piece, &rpc.Chunk{Pos: pos})
			pos += int64(len(piece))
		}
		c.End(0, true)
		c.End(1, true)
		require.Len(t, o.messages, 1, "pieces of %d", size)
		assert.Equal(t, "gzip", o.messages[0].Encoding)
		assert.Equal(t, len(plain), o.messages[0].UncompressedLen, "pieces of %d", size)
	}
}

// TestLostBodyGivesBackMemory: a body of which bytes are missing holds no memory for what follows them, in however many streams.
func TestLostBodyGivesBackMemory(t *testing.T) {
	var stream bytes.Buffer
	stream.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&stream, nil)
	require.NoError(t, f.WriteSettings())
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	c := open(Protocol, &rpc.Env{Detail: rpc.Parts, MaxBody: 64 << 20, MaxEnvelope: 4 << 10, MaxBuffers: 1 << 24, Shared: map[any]any{}})(new(owner), false).(*conn)
	pos, before := int64(0), 0
	const body, came = 15_000, 100
	for id := range uint32(50) {
		block.Reset()
		for _, h := range [][2]string{{":method", "POST"}, {":path", "/a.B/c"}, {"content-type", "application/grpc"}} {
			require.NoError(t, e.WriteField(hpack.HeaderField{Name: h[0], Value: h[1], Sensitive: true}))
		}
		require.NoError(t, f.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*id + 1, BlockFragment: block.Bytes(), EndHeaders: true}))
		require.NoError(t, f.WriteData(2*id+1, false, append([]byte{0, 0, 0, body >> 8, body & 0xff}, make([]byte, body)...)))
		b := stream.Bytes()
		lost := body - came
		c.Data(0, b[:len(b)-lost], &rpc.Chunk{Pos: pos})
		pos += int64(len(b) - lost)
		c.Gap(0, int64(lost), 0, &rpc.Chunk{Pos: pos})
		pos += int64(lost)
		stream.Reset()
		if id == 0 {
			before = c.held
		}
	}
	assert.Less(t, c.held-before, 50*(5<<10)) // of 15 KB each, beside what a stream takes
	c.End(0, true)
	c.End(1, true)
	assert.LessOrEqual(t, c.held, 64<<10)
}
