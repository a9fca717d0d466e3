package dubbo

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// Many headers that turn out not to be frames, each followed by megabytes, do not cost a copy of these each.
func TestSearchMovesLittle(t *testing.T) {
	const segment, segments = 1400, 10_000
	n := new(notes)
	f := NewFramer(&Config{Recognizer: recognizer}, n, false)
	b := make([]byte, segment)
	for at := 0; at+32 <= segment; at += 32 {
		copy(b[at:], "\xda\xbb\xc2\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x052.0.2")
		binary.BigEndian.PutUint32(b[at+12:], uint32(min(8<<20, segment*5000-at)))
	}
	used := testkit.CPU()
	for i := range segments {
		f.Data(b, &Chunk{Pos: int64(i * segment)})
	}
	f.End()
	assert.Equal(t, int64(segment*segments), n.framed+n.skipped)
	assert.Less(t, used(), 20*time.Second)
}

// owed is a sink that knows which responses are due; requests may have been missed.
type owed struct {
	notes
	ids []int64
}

func (o *owed) Expected(id int64) bool     { return slices.Contains(o.ids, id) }
func (o *owed) Asked(int64) bool           { return false }
func (o *owed) Missed() bool               { return true }
func (o *owed) Enough(*Header, []byte) int { return 0 }

// A provider before 2.5.6 that cannot write a result sends its error, 16 bytes of nothing, and what was written of the
// result. Between two such there is a frame that no other frame follows.
func TestFramesBetweenRubbish(t *testing.T) {
	rubbish := make([]byte, 16)
	inside := func(id int64) []byte { return join(rubbish, response(id, 30), rubbish, []byte("more")) }
	for name, c := range map[string]struct {
		expected []int64
		pieces   []any
		lines    []string
	}{
		"right after the last": {nil, []any{response(1, 20), inside(2), response(3, 5)}, []string{
			"response 1 body 20", "response 2 body 30 found by search", "response 3 body 5 found by search",
		}},
		"far from it": {nil, []any{response(1, 20), inside(9000), response(3, 5)}, []string{
			"response 1 body 20", "response 3 body 5 found by search",
		}},
		"far from it, but owed": {[]int64{9000}, []any{response(1, 20), inside(9000), response(3, 5)}, []string{
			"response 1 body 20", "response 9000 body 30 found by search", "response 3 body 5 found by search",
		}},
		"cut by the snap length": {nil, []any{response(1, 20), rubbish, response(2, 300)[:200], 116, response(3, 5)}, []string{
			"response 1 body 20", "response 2 body 300 captured 184 missing at 184 lost found by search", "response 3 body 5",
		}},
		"cut anywhere": {nil, append([]any{response(1, 20)}, bytewise(join(inside(2), response(3, 5)))...), []string{
			"response 1 body 20", "response 2 body 30 found by search", "response 3 body 5 found by search",
		}},
		"the same bytes after a gap": {[]int64{2}, []any{response(1, 20), 500, inside(2), response(3, 5)}, []string{
			"response 1 body 20",
		}},
		"the last frame again, in the rubbish": {nil, []any{response(1, 20), inside(1), response(3, 5)}, []string{
			"response 1 body 20", "response 3 body 5 found by search",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			n := owed{ids: c.expected}
			feed(NewFramer(&Config{Recognizer: recognizer}, &n, true), c.pieces...)
			assert.Equal(t, c.lines, n.lines)
			assert.Equal(t, captured(c.pieces), n.framed+n.skipped)
		})
	}
}

// Of a connection joined midway whose packets have little more than a header each, the first frame is one that fills a packet.
func TestJoinedWithShortSnap(t *testing.T) {
	const snap = 24
	unknown := request(2, 200)
	unknown[2] = 0xdf // a serialization that nobody knows
	for name, c := range map[string]struct {
		packets [][]byte
		lines   []string
	}{
		"a frame in each packet": {[][]byte{request(1, 200), request(2, 300)}, []string{
			"request 1 body 200 captured 8 missing at 8 cut found by search", "request 2 body 300 captured 8 missing at 8 cut",
		}},
		"in the middle of a frame": {[][]byte{response(1, 500)[100:], response(2, 300), response(3, 300)}, []string{
			"response 2 body 300 captured 8 missing at 8 cut found by search", "response 3 body 300 captured 8 missing at 8 cut",
		}},
		"after two packets": {[][]byte{request(1, 500)[:300], request(1, 500)[300:], request(2, 200)}, []string{
			"request 2 body 200 captured 8 missing at 8 cut found by search",
		}},
		"not at the start of a packet": {[][]byte{join([]byte("rest"), request(1, 200)), []byte("more of it, and so on and on")}, nil},
		"of an unknown serialization":  {[][]byte{unknown}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var n notes
			f := NewFramer(&Config{Recognizer: recognizer}, &n, false)
			pos := int64(0)
			for i, b := range c.packets {
				chunk := &Chunk{Origin: Origin{Packet: int64(i + 1)}, Pos: pos, Overhead: 66}
				f.Data(b[:snap], chunk)
				cut := int64(len(b) - snap)
				f.Gap(cut, cut, &Chunk{Origin: chunk.Origin, Pos: pos + snap})
				pos += int64(len(b))
			}
			f.End()
			assert.Equal(t, c.lines, n.lines)
		})
	}
}

// Where the snap length cuts every packet, a frame after a lost header is accepted when it ends where its packet did.
func TestCutFramesChain(t *testing.T) {
	cut := func(id int64) (head []byte, gap int) { return request(id, 200)[:54], 216 - 54 }
	two, gap := cut(2)
	three, _ := cut(3)
	lost := request(9, 500)[:10] // its header is cut
	for name, c := range map[string]struct {
		pieces []any
		lines  []string
	}{
		"one after the other": {[]any{request(1, 20), lost, 506, two, gap, three, gap, request(4, 5)}, []string{
			"request 1 body 20", "request 2 body 200 captured 38 missing at 38 lost found by search",
			"request 3 body 200 captured 38 missing at 38 lost", "request 4 body 5",
		}},
		"the gap is longer": {[]any{request(1, 20), lost, 506, two, gap + 1, three, gap, request(4, 5)}, []string{
			"request 1 body 20", "request 3 body 200 captured 38 missing at 38 lost found by search", "request 4 body 5",
		}},
		"the gap is shorter": {[]any{request(1, 20), lost, 506, two, gap - 1, "?", request(4, 5)}, []string{
			"request 1 body 20", "request 4 body 5 found by search",
		}},
		"the stream ends": {[]any{request(1, 20), lost, 506, two, gap}, []string{
			"request 1 body 20", "request 2 body 200 captured 38 missing at 38 lost found by search",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var n notes
			feed(NewFramer(&Config{Recognizer: recognizer}, &n, true), c.pieces...)
			assert.Equal(t, c.lines, n.lines)
			assert.Equal(t, captured(c.pieces), n.framed+n.skipped)
		})
	}
}

// What is known of broken chains does not grow with the stream, also when a candidate is always held.
func TestRefutedIsBounded(t *testing.T) {
	for name, unit := range map[string][]byte{
		"failed answers": join(frameOf(0x02, 50, 4, 3), zeros16, []byte("x")),
		"broken chains":  join(frameOf(0x02, 20, 4, 3), frameOf(0x02, 20, 5, 3), []byte("\x91rubbish")),
	} {
		n := new(notes)
		f := NewFramer(&Config{Recognizer: recognizer}, n, false)
		f.Data(join([]byte("x"), unit[:HeaderLen+2]), &Chunk{})
		block := slices.Repeat(join(unit[HeaderLen+2:], unit[:HeaderLen+2]), 50)
		for range 1_000 {
			f.Data(block, &Chunk{})
			require.NotNil(t, f.resync.search, name)
			require.LessOrEqual(t, len(f.resync.search.refuted), 2*50+2, name)
		}
		f.End()
		assert.Equal(t, int64(1+len(unit[:HeaderLen+2])+len(block)*1_000), n.framed+n.skipped)
	}
}
