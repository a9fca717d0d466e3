package thrift

import (
	"bytes"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/rpc"
)

// ledger is the owner of a connection that checks what it gets.
type ledger struct {
	tb       testing.TB
	bytes    [2]int64 // of messages, and of none
	end      [2]int64 // place after the last message
	messages int
	trees    int
	again    rpc.Decoder
}

func (l *ledger) Message(side int, m *rpc.Message) {
	l.messages++
	l.bytes[side] += int64(m.HeaderLen) + int64(m.Captured)
	if m.Span.From < l.end[side] || m.Span.Len() != int64(m.FrameLen()) || len(m.Head) != int(m.HeaderLen) {
		l.tb.Fatalf("message at %v after %d, %d + %d bytes", m.Span, l.end[side], m.HeaderLen, m.BodyLen)
	}
	if l.end[side] = m.Span.To; m.Complete != (m.Short == decode.None) || m.Complete && m.Captured != m.BodyLen || len(m.Body) > m.Captured {
		l.tb.Fatalf("complete %v, %v, %d of %d bytes, %d kept", m.Complete, m.Short, m.Captured, m.BodyLen, len(m.Body))
	}
	if m.Tree != nil {
		l.trees++
		formattest.Balance(l.tb, m.Tree, m.BodyLen)
		values := m.Parts
		if parts := l.again.Decode(m, rpc.Parts).Parts; parts != values {
			l.tb.Fatalf("%v with a tree, %v without", values, parts)
		}
	}
}

func (l *ledger) Unowned(side int, n int64, _ string) { l.bytes[side] += n }
func (*ledger) Abort(int, uint64, string)             {}
func (*ledger) Joined() bool                          { return false }
func (*ledger) Claim(string)                          {}
func (*ledger) Framing(int, *rpc.Message)             {}
func (*ledger) BadHeader(int)                         {}
func (*ledger) Awaited(int, uint64) bool              { return false }
func (*ledger) Handshake(rpc.Handshake)               {}
func (*ledger) Named(int) bool                        { return false }
func (*ledger) Answered(int, uint64) *rpc.Operation   { return nil }
func (*ledger) Keep(int, *rpc.Message) bool           { return true }
func (*ledger) Want(int, *rpc.Message) rpc.Detail     { return rpc.Values }
func newLedger(tb testing.TB) *ledger                 { return &ledger{tb: tb, again: newKeptDecoder(nil)} }

func env() *rpc.Env {
	return &rpc.Env{Detail: rpc.Values, MaxBody: 1 << 20, MaxEnvelope: 1 << 10, MaxBuffers: 1 << 20}
}

func opened(l *ledger, p *rpc.Protocol, e *rpc.Env, joined bool) *conn {
	return p.New(p, e)(l, joined).(*conn)
}

// FuzzConn reads any bytes as a stream, in pieces of n bytes, of which every lost-th is missing: each byte has one owner.
func FuzzConn(f *testing.F) {
	for _, form := range forms {
		var all []byte
		for _, s := range talk(form.st, form.enc, 4).segments {
			all = append(all, s.Data...)
		}
		f.Add(all, uint8(100), uint8(0), form.st == dubboStyle, false)
		f.Add(all, uint8(40), uint8(7), form.st == dubboStyle, true)
	}
	f.Fuzz(func(t *testing.T, b []byte, n, lost uint8, dubbo, joined bool) {
		l, p := newLedger(t), Native
		if dubbo {
			p = Protocol
		}
		c := opened(l, p, env(), joined)
		at, fed := int64(0), int64(0)
		k := 0
		for piece := range slices.Chunk(b, max(1, int(n))) {
			chunk := rpc.Chunk{Pos: at}
			if k++; lost > 0 && k%int(lost) == 0 {
				c.Gap(0, int64(len(piece)), 0, &chunk)
			} else {
				c.Data(0, piece, &chunk)
				fed += int64(len(piece))
			}
			at += int64(len(piece))
		}
		c.End(0, true)
		c.End(1, true)
		require.Equal(t, fed, l.bytes[0])
		require.Zero(t, c.held)
	})
}

// FuzzBody decodes any bytes as a message.
func FuzzBody(f *testing.F) {
	for _, form := range forms {
		for _, s := range talk(plainStyle, form.enc, 4).segments {
			f.Add(s.Data)
		}
	}
	d := newKeptDecoder(nil)
	f.Fuzz(func(t *testing.T, b []byte) {
		m := &rpc.Message{Body: b}
		m.Protocol, m.BodyLen, m.Captured, m.MissingAt, m.Complete = Native, len(b), len(b), len(b), true
		if out := d.Decode(m, rpc.Values); out.Tree != nil {
			formattest.Balance(t, out.Tree, len(b))
			values := out.Parts
			require.Equal(t, values, d.Decode(m, rpc.Parts).Parts)
			// Where its struct ends does not depend on how the bytes come.
			var h header
			require.Equal(t, rpc.Mine, h.parse(plainStyle, b))
			var whole, pieces extent
			whole.begin(h.enc == compact)
			pieces.begin(h.enc == compact)
			rest := b[h.structAt:]
			n, k := whole.read(rest, 0), 0
			for i := range rest {
				if !pieces.ended() {
					k += pieces.read(rest[i:i+1], 0)
				}
			}
			require.Equal(t, whole.whole(), pieces.whole())
			if whole.whole() {
				require.Equal(t, n, k)
			}
		}
	})
}

// Hostile messages stop with their cause, at the cost of their bytes.
func TestHostile(t *testing.T) {
	for name, c := range map[string]struct {
		enc   encoding
		cause decode.Cause
		f     func(w *writer)
	}{
		"list of 2^30": {strict, decode.Malformed, func(w *writer) { w.field(tList, 1); w.list(tI32, 1<<30) }},
		"map of 2^30":  {strict, decode.Malformed, func(w *writer) { w.field(tMap, 1); w.mapOf(tString, tString, 1<<30) }},
		"negative":     {strict, decode.Malformed, func(w *writer) { w.field(tList, 1); w.list(tI32, -1) }},
		"long text":    {strict, decode.Malformed, func(w *writer) { w.field(tString, 1); w.u32(1 << 29) }},
		"bad type":     {strict, decode.Malformed, func(w *writer) { w.field(5, 1) }},
		"bad elements": {compact, decode.Malformed, func(w *writer) { w.field(tList, 1); w.b = append(w.b, 0x2f, 1, 1) }},
		"long number":  {compact, decode.Malformed, func(w *writer) { w.field(tI64, 1); w.b = append(w.b, bytes.Repeat([]byte{0xff}, 12)...) }},
		"deep structs": {strict, decode.Limit, func(w *writer) { w.b = append(w.b, bytes.Repeat([]byte{tStruct, 0, 1}, 100_000)...) }},
		"deep lists":   {compact, decode.Limit, func(w *writer) { w.field(tList, 1); w.b = append(w.b, bytes.Repeat([]byte{0x19}, 100_000)...) }},
	} {
		t.Run(name, func(t *testing.T) {
			b := surround(framedStyle, target{}, message(c.enc, typeCall, "m", 1, c.f))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			m := &rpc.Message{Head: b[:4], Body: b[4:]}
			m.Protocol, m.BodyLen, m.Captured, m.MissingAt, m.Complete = Native, len(b)-4, len(b)-4, len(b)-4, true
			out := newKeptDecoder(nil).Decode(m, rpc.Values)
			runtime.ReadMemStats(&after)
			require.NotNil(t, out.Err)
			assert.Equal(t, c.cause, out.Err.Cause, out.Err)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
			assert.Less(t, time.Since(start), 5*time.Second)
			l := newLedger(t)
			conn := opened(l, Native, env(), false)
			conn.Data(0, b, &rpc.Chunk{})
			conn.Data(0, surround(framedStyle, target{}, message(c.enc, typeCall, "m", 1, func(*writer) {})), &rpc.Chunk{Pos: int64(len(b))})
			conn.End(0, true)
			assert.Equal(t, 2, l.messages, "the frame after it is read")
		})
	}
}

// Streams of what looks like messages cost memory and time by their bytes only.
func TestHostileStreams(t *testing.T) {
	heads := func(st style, enc encoding) []byte {
		b := surround(st, target{"a", "", 1}, message(enc, typeCall, "ab", 1, func(w *writer) {
			w.field(tList, 1)
			w.list(tStruct, 1<<20)
		}))
		return b[:len(b)-1]
	}
	for name, unit := range map[string][]byte{
		"strict": heads(plainStyle, strict), "compact": heads(plainStyle, compact), "dubbo": heads(dubboStyle, strict), "framed": heads(framedStyle, strict),
		"magic": magic, "lengths": {0, 0, 0, 7, 0x82, 0x21}, "zeros": {0}, "loose": {0, 0, 0, 1, 'a'}, "text": []byte("text of a length 80 01 00"),
		"stops": {0x80, 1, 0, 1, 0, 0, 0, 1, 'a', 0, 0, 0, 1, tList, 0, 1, tByte, 0, 0, 0x7f, 0xff},
	} {
		for _, p := range [...]*rpc.Protocol{Protocol, Native} {
			for _, joined := range [...]bool{false, true} {
				l := newLedger(t)
				c := opened(l, p, env(), joined)
				stream := bytes.Repeat(unit, (1<<18)/len(unit))
				start := time.Now()
				at := int64(0)
				for piece := range slices.Chunk(stream, 1448) {
					c.Data(0, piece, &rpc.Chunk{Pos: at})
					at += int64(len(piece))
					if c.held > 2<<20 {
						t.Fatalf("%s: %d bytes held", name, c.held)
					}
				}
				c.End(0, true)
				assert.Equal(t, int64(len(stream)), l.bytes[0], name)
				assert.Zero(t, c.held, name)
				assert.Less(t, time.Since(start), 20*time.Second, name)
				if testing.Verbose() {
					t.Log(name, p.Name, joined, time.Since(start), l.messages)
				}
			}
		}
	}
}

func BenchmarkConn(b *testing.B) {
	for _, form := range forms {
		for _, detail := range [...]rpc.Detail{rpc.Envelope, rpc.Parts, rpc.Values} {
			b.Run(form.name+[...]string{"/envelope", "/parts", "/values"}[detail], func(b *testing.B) {
				var all []byte
				for _, s := range talk(form.st, form.enc, 100).segments {
					if s.Side == 0 {
						all = append(all, s.Data...)
					}
				}
				e := env()
				e.Detail = detail
				p := Native
				if form.st == dubboStyle {
					p = Protocol
				}
				quiet := &silent{}
				c := p.New(p, e)(quiet, false)
				b.SetBytes(int64(len(all)))
				b.ReportAllocs()
				var chunk rpc.Chunk
				for b.Loop() {
					for piece := range slices.Chunk(all, 1448) {
						c.Data(0, piece, &chunk)
						chunk.Pos += int64(len(piece))
					}
				}
				require.Zero(b, quiet.messages%100)
			})
		}
	}
}

// silent is an owner that only counts messages.
type silent struct {
	ledger
	messages int
}

func (s *silent) Message(int, *rpc.Message)       { s.messages++ }
func (*silent) Want(int, *rpc.Message) rpc.Detail { return rpc.Envelope }
