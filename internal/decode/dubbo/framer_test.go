package dubbo

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/fastjson"
	"dubbo-wire/internal/decode/formats/hessian2"
	"dubbo-wire/internal/decode/formats/java"
	"dubbo-wire/internal/decode/formats/kryo"
)

// recognizer knows the bodies of some serializations.
var recognizer = NewRecognizer([]decode.Format{hessian2.Format, java.Format, fastjson.Format, fastjson.Prefixed, kryo.Format})

// notes records what a framer finds, as lines of text, and counts bytes.
type notes struct {
	lines            []string
	framed, skipped  int64
	text, badHeaders int64
	wire             int64
}

func (n *notes) Frame(f *Frame) {
	kind := "response"
	if f.Request() {
		kind = "request"
	}
	line := fmt.Sprintf("%s %d body %d", kind, f.ID, f.BodyLen)
	if !f.Complete() {
		line += fmt.Sprintf(" captured %d missing at %d %s", f.Captured, f.MissingAt, f.Short)
	}
	if f.Resync {
		line += " found by search"
	}
	n.lines = append(n.lines, line)
	n.framed += int64(HeaderLen + f.Captured)
	n.wire += f.Wire
}

func (n *notes) Skipped(k int64, text bool) {
	n.skipped += k
	if text {
		n.text += k
	}
}

func (n *notes) CutHeader(int64, []byte)  {}
func (n *notes) BadHeader(Header, Origin) { n.badHeaders++ }

// frameOf is a Hessian2 frame whose body of n bytes starts as Dubbo's do.
func frameOf(flags byte, status byte, id int64, n int) []byte {
	b := []byte{0xda, 0xbb, flags, status}
	b = binary.BigEndian.AppendUint64(b, uint64(id))
	b = binary.BigEndian.AppendUint32(b, uint32(n))
	body := slices.Repeat([]byte{0x4e}, n)
	if flags&flagRequest != 0 {
		copy(body, "\x052.0.2")
	} else if n > 0 {
		body[0] = 0x94
	}
	return append(b, body...)
}

func request(id int64, n int) []byte  { return frameOf(0xc2, 0, id, n) }
func response(id int64, n int) []byte { return frameOf(0x02, 20, id, n) }

// feed delivers pieces: bytes, or an int for a gap.
func feed(f *Framer, pieces ...any) {
	pos := int64(0)
	for i, p := range pieces {
		c := &Chunk{Origin: Origin{Time: int64(i), Packet: int64(i + 1)}, Pos: pos}
		switch p := p.(type) {
		case []byte:
			f.Data(p, c)
			pos += int64(len(p))
		case string:
			f.Data([]byte(p), c)
			pos += int64(len(p))
		case int:
			f.Gap(int64(p), 0, c)
			pos += int64(p)
		}
	}
	f.End()
}

func join(parts ...[]byte) []byte { return slices.Concat(parts...) }

func TestFramer(t *testing.T) {
	bad := func(id int64) []byte {
		return append(frameOf(0x02, 50, id, 20)[:HeaderLen], "\x13Failed to send resp."[:20]...)
	}
	zeros := append(make([]byte, 16), "\x91\x48\x02"...)
	rubbish := []byte(strings.Repeat("\x01\x02no frame at all \xda\xbb\xc2\x07\xff", 4000))
	for _, c := range []struct {
		name   string
		joined bool
		pieces []any
		want   string
		skip   int64
		text   int64
	}{
		{name: "two in one piece", pieces: []any{join(request(1, 20), request(2, 0))}, want: "request 1 body 20|request 2 body 0"},
		{name: "byte by byte", pieces: bytewise(join(request(1, 20), response(9, 3))), want: "request 1 body 20|response 9 body 3"},
		{name: "negative and huge ids", pieces: []any{join(request(-5, 8), request(1<<62, 8))}, want: "request -5 body 8|request 4611686018427387904 body 8"},
		{name: "unknown id and status at a known place", pieces: []any{join(frameOf(0xdf, 7, 1, 4), frameOf(0x40|0x1e, 99, 1, 4))}, want: "request 1 body 4|response 1 body 4"},
		{name: "rubbish between frames", pieces: []any{request(1, 20), rubbish, request(2, 30), request(3, 8)}, want: "request 1 body 20|request 2 body 30 found by search|request 3 body 8", skip: int64(len(rubbish))},
		{name: "rubbish behind what replaces an answer", pieces: []any{join(bad(1), zeros, bad(2), zeros, bad(3), zeros[:16], response(4, 8))}, want: "response 1 body 20|response 2 body 20 found by search|response 3 body 20 found by search|response 4 body 8 found by search", skip: 19 + 19 + 16},
		{name: "rubbish at the end", pieces: []any{request(1, 20), rubbish}, want: "request 1 body 20", skip: int64(len(rubbish))},
		{name: "telnet", pieces: []any{"ls\r\n", request(1, 20), request(2, 20), "status -l\r\n"}, want: "request 1 body 20 found by search|request 2 body 20", skip: 15, text: 15},
		{name: "negative length", pieces: []any{join(request(1, 8), []byte{0xda, 0xbb, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0xff, 0xff, 0xff, 0xff}), request(3, 8), request(4, 8)}, want: "request 1 body 8|request 3 body 8 found by search|request 4 body 8", skip: 16},
		{name: "announces 2 GB", pieces: []any{[]byte{0xda, 0xbb, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0x7f, 0xff, 0xff, 0xff, 5}, request(3, 8)}, want: "request 2 body 2147483647 captured 25 missing at 25 lost"},
		{name: "gap in a body", pieces: []any{request(1, 100)[:50], 20, request(1, 100)[70:], request(2, 8)}, want: "request 1 body 100 captured 80 missing at 34 lost|request 2 body 8"},
		{name: "gap to the end of a body", pieces: []any{request(1, 100)[:50], 66, request(2, 8)}, want: "request 1 body 100 captured 34 missing at 34 lost|request 2 body 8"},
		{name: "gap over a header", pieces: []any{request(1, 8), 10, request(2, 40)[10:], request(3, 8), request(4, 8)}, want: "request 1 body 8|request 3 body 8 found by search|request 4 body 8", skip: 46},
		{name: "gap over header and into a body", pieces: []any{request(0, 8), request(1, 100)[:50], 120, request(7, 99)[30:], request(8, 50), request(9, 8)}, want: "request 0 body 8|request 1 body 100 captured 34 missing at 34 lost|request 8 body 50 found by search|request 9 body 8", skip: 85},
		{name: "behind a gap, and no header follows: bytes of a body", pieces: []any{request(1, 8), 10, request(2, 40)[10:], request(3, 8), "no frame"}, want: "request 1 body 8", skip: 46 + 24 + 8},
		{name: "found before a header that is lost", pieces: []any{request(1, 8), 10, request(2, 40)[10:], join(request(3, 8), request(4, 8)[:9]), 100, request(5, 8)}, want: "request 1 body 8|request 3 body 8 found by search|request 5 body 8 found by search", skip: 46 + 9},
		{name: "joined in a body", joined: true, pieces: []any{response(4, 100)[37:], response(5, 10), response(6, 10)}, want: "response 5 body 10 found by search|response 6 body 10", skip: 79},
		{name: "joined at a frame", joined: true, pieces: []any{response(5, 10)}, want: "response 5 body 10 found by search"},
		{name: "ends in a header", pieces: []any{request(1, 8), request(2, 8)[:9]}, want: "request 1 body 8", skip: 9},
		{name: "ends in a body", pieces: []any{request(1, 8)[:20]}, want: "request 1 body 8 captured 4 missing at 4 lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := new(notes)
			feed(NewFramer(&Config{Recognizer: recognizer}, n, !c.joined), c.pieces...)
			assert.Equal(t, c.want, strings.Join(n.lines, "|"))
			assert.Equal(t, c.skip, n.skipped, "skipped")
			assert.Equal(t, c.text, n.text, "text")
			assert.Equal(t, captured(c.pieces), n.framed+n.skipped, "every byte has an owner")
		})
	}
}

func bytewise(b []byte) []any {
	out := make([]any, len(b))
	for i := range b {
		out[i] = b[i : i+1]
	}
	return out
}

func captured(pieces []any) int64 {
	n := int64(0)
	for _, p := range pieces {
		switch p := p.(type) {
		case []byte:
			n += int64(len(p))
		case string:
			n += int64(len(p))
		}
	}
	return n
}

// What is announced is not allocated.
func TestFramerMemory(t *testing.T) {
	n := new(notes)
	f := NewFramer(&Config{Recognizer: recognizer, WantBody: 1 << 10}, n, true)
	f.Data([]byte{0xda, 0xbb, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0x7f, 0xff, 0xff, 0xff}, &Chunk{})
	for range 1000 {
		f.Data(make([]byte, 1448), &Chunk{})
	}
	assert.LessOrEqual(t, cap(keptBody(f)), 4<<10)
	f.End()
	require.Len(t, n.lines, 1)
}

// Many long bodies at once, and many searches that wait for one, keep no more than is allowed to all of them together.
func TestBuffersAreBounded(t *testing.T) {
	header := []byte{0xda, 0xbb, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0x7f, 0xff, 0xff, 5, '2', '.', '0', '.', '2'}
	for _, joined := range []bool{false, true} {
		b := &Buffers{Max: 1 << 20}
		var framers []*Framer
		n := new(notes)
		for range 200 {
			f := NewFramer(&Config{Recognizer: recognizer, WantBody: 64 << 20, Buffers: b}, n, !joined)
			f.Data(header, &Chunk{})
			framers = append(framers, f)
		}
		kept := 0
		for range 20 {
			for _, f := range framers {
				f.Data(make([]byte, 64<<10), &Chunk{})
			}
		}
		for _, f := range framers {
			kept += cap(keptBody(f)) + cap(window(f))
		}
		if joined {
			assert.LessOrEqual(t, kept, b.Max/4+200*128<<10)
		} else {
			assert.LessOrEqual(t, kept, b.Max+200*2*maxKept)
		}
		for _, f := range framers {
			f.End()
		}
		assert.Zero(t, b.long)
		assert.Zero(t, b.windows)
		assert.Equal(t, int64(200*(len(header)+20*64<<10)), n.framed+n.skipped)
	}
}

// Bodies of which less than 64 KiB came are bounded together as well, whatever lengths they announce and in whatever pieces they come.
func TestStartsOfBodiesAreBounded(t *testing.T) {
	header := []byte{0xda, 0xbb, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0x7f, 0xff, 0xff, 5, '2', '.', '0', '.', '2'}
	b := &Buffers{Max: 4 << 20}
	n := new(notes)
	framers := make([]*Framer, 2_000)
	for i := range framers {
		framers[i] = NewFramer(&Config{Recognizer: recognizer, WantBody: 64 << 20, Buffers: b}, n, true)
		framers[i].Data(header, &Chunk{})
	}
	for _, f := range framers {
		for range 42 { // 60 KB
			f.Data(make([]byte, 1448), &Chunk{})
		}
	}
	kept := 0
	for _, f := range framers {
		kept += cap(keptBody(f))
	}
	assert.LessOrEqual(t, kept, b.Max)
	assert.Equal(t, kept, b.long+b.short)
	for _, f := range framers {
		f.End()
	}
	assert.Zero(t, b.long+b.short)
}

// A search through bytes full of headers that announce much takes time in proportion to the bytes.
func TestSearchIsLinear(t *testing.T) {
	n := new(notes)
	f := NewFramer(&Config{Recognizer: recognizer}, n, false)
	hostile := []byte{0xda, 0xbb, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0x7f, 0xff, 0xff, 5, '2', '.', '0', '.', '2', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	block := slices.Repeat(hostile, 1<<11)
	for range 400 { // 25 MB
		f.Data(block, &Chunk{})
	}
	f.End()
	assert.Equal(t, int64(len(block)*400), n.framed+n.skipped)
}

// FuzzFramer: any split of a stream gives the same frames, and every byte is in a frame or skipped.
func FuzzFramer(f *testing.F) {
	f.Add(join(request(1, 20), response(9, 3), request(2, 0)), uint64(1), true)
	f.Add(join([]byte("ls\r\n"), request(1, 20), []byte("\xda\xbbrubbish"), request(2, 9), request(3, 9)), uint64(2), true)
	f.Add(join(response(4, 100)[37:], response(5, 10), response(6, 10), response(7, 10)[:14]), uint64(3), false)
	f.Add([]byte{0xda, 0xbb, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0x7f, 0xff, 0xff, 0xff, 5, 0xda, 0xbb}, uint64(4), true)
	f.Add(join(request(1, 20), request(2, 90), request(3, 300), request(4, 9), request(5, 60), request(6, 7)), uint64(5), true)
	f.Add(join(request(1, 20), []byte("rubbish"), request(2, 9), []byte("more\xda"), request(3, 9), frameOf(2, 50, 4, 20), zeros16, []byte("x"), response(5, 8)), uint64(6), true)
	f.Add(join(request(1, 300), join(request(2, 9), request(3, 9)), []byte("tail"), request(4, 9), request(5, 9), response(6, 30)), uint64(7), false)
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64, fromStart bool) {
		whole := new(notes)
		feed(NewFramer(&Config{Recognizer: recognizer}, whole, fromStart), stream)
		require.Equal(t, int64(len(stream)), whole.framed+whole.skipped)
		rng := rand.New(rand.NewPCG(seed, 2))
		var pieces []any
		for b := stream; len(b) > 0; {
			n := min(len(b), 1+rng.IntN(40))
			pieces = append(pieces, b[:n])
			b = b[n:]
		}
		split := new(notes)
		feed(NewFramer(&Config{Recognizer: recognizer}, split, fromStart), pieces...)
		require.Equal(t, int64(len(stream)), split.framed+split.skipped)
		require.Equal(t, whole.lines, split.lines)
		require.Equal(t, whole.text, split.text)
		// With gaps: still no byte without owner, and still the same however the bytes between them are split.
		var parts, finer []any
		for i := range pieces {
			if rng.IntN(5) == 0 {
				n := rng.IntN(50) + 1
				parts, finer = append(parts, n), append(finer, n)
				continue
			}
			b := pieces[i].([]byte)
			if last := len(parts) - 1; last >= 0 {
				if before, ok := parts[last].([]byte); ok {
					parts[last] = join(before, b)
					finer = append(finer, bytewise(b)...)
					continue
				}
			}
			parts, finer = append(parts, b), append(finer, bytewise(b)...)
		}
		gaps, cut := new(notes), new(notes)
		feed(NewFramer(&Config{Recognizer: recognizer}, gaps, fromStart), parts...)
		feed(NewFramer(&Config{Recognizer: recognizer}, cut, fromStart), finer...)
		require.Equal(t, captured(parts), gaps.framed+gaps.skipped)
		require.Equal(t, gaps.lines, cut.lines)
		require.Equal(t, gaps.text, cut.text)
	})
}

func BenchmarkFramer(b *testing.B) {
	stream := slices.Repeat(join(request(1, 360), response(1, 3800)), 100)
	f := NewFramer(&Config{Recognizer: recognizer}, nothing{}, true)
	c := &Chunk{}
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		for s := stream; len(s) > 0; {
			n := min(len(s), 1448)
			f.Data(s[:n], c)
			s = s[n:]
		}
	}
}

// keptBody returns the kept bytes of the current frame.
func keptBody(f *Framer) []byte {
	if f.frame == nil {
		return nil
	}
	return f.frame.Body
}

func window(f *Framer) []byte {
	if f.resync.search == nil {
		return nil
	}
	return f.resync.search.window
}

type nothing struct{}

func (nothing) Frame(*Frame)             {}
func (nothing) Skipped(int64, bool)      {}
func (nothing) CutHeader(int64, []byte)  {}
func (nothing) BadHeader(Header, Origin) {}

// prefixes checks that what is kept of each body is its beginning.
type prefixes struct {
	notes
	t      *testing.T
	whole  map[int64][]byte
	longer int // bodies of which more than nothing was kept, and not all
}

func (p *prefixes) Frame(f *Frame) {
	p.notes.Frame(f)
	want := p.whole[f.ID]
	require.LessOrEqual(p.t, len(f.Body), len(want))
	require.Equal(p.t, want[:len(f.Body)], f.Body)
	if len(f.Body) > 0 && len(f.Body) < len(want) {
		p.longer++
	}
}

// What is wanted of bodies may change between any two deliveries: the same frames are found, with the beginnings of their
// bodies.
// picky is a sink that wants no more of a body while wanted is 0.
type picky struct {
	owed
	Sink
	wanted *int
}

func (p *picky) Frame(f *Frame)                { p.Sink.Frame(f) }
func (p *picky) Skipped(n int64, text bool)    { p.Sink.Skipped(n, text) }
func (p *picky) CutHeader(pos int64, b []byte) { p.Sink.CutHeader(pos, b) }
func (p *picky) BadHeader(h Header, o Origin)  { p.Sink.BadHeader(h, o) }
func (p *picky) Enough(_ *Header, b []byte) int {
	if *p.wanted == 0 {
		return len(b)
	}
	return 0
}

func TestWantBodyChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	longer := 0
	for range 200 {
		p := &prefixes{t: t, whole: map[int64][]byte{}}
		var stream []byte
		for id := int64(1); id <= 12; id++ {
			b := frameOf(0xc2, 0, id, 10+r.IntN(60_000))
			for i := HeaderLen + 6; i < len(b); i++ {
				b[i] = byte(r.Uint32() | 1)
			}
			p.whole[id] = b[HeaderLen:]
			stream = append(stream, b...)
		}
		wanted := 0
		cfg := &Config{Recognizer: recognizer}
		f := NewFramer(cfg, &picky{owed{}, p, &wanted}, true)
		for pos := 0; pos < len(stream); {
			wanted = r.IntN(3)
			cfg.WantBody = []int{1 << 10, 16 << 10, 64 << 20}[r.IntN(3)]
			n := min(1+r.IntN(3000), len(stream)-pos)
			f.Data(stream[pos:pos+n], &Chunk{Pos: int64(pos)})
			pos += n
		}
		f.End()
		require.Len(t, p.lines, 12)
		require.Equal(t, int64(len(stream)), p.framed)
		longer += p.longer
	}
	assert.Greater(t, longer, 100)
}
