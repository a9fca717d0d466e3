package truth

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// damaged are the captures that are damaged at random.
var damaged = []string{
	"interleaved", "mixed", "edge-kryo", "bid-plain", "edge-protostuff", "hessian2", "edge-hessian2", "edge-java", "edge-fst", "edge-fastjson", "edge-msgpack", "edge-dubbo-2.5.3", "edge-json-2.5.3",
	"fury-3.2.16", "fury-compatible-3.2.16", "kryo2-3.2.16", "avro-3.2.16", "gson-3.2.16", "fastjson2-3.3.6", "triple-stubs-3.3.6", "triple-fastjson2-3.3.6", "triple-midway-3.3.6",
}

// damage changes a capture: flips of bytes in payloads, in headers, or anywhere in the file, and its length.
func damage(all []segment, r *rand.Rand, kind, flips, mss int) []byte {
	all = recut(all, mss)
	for i := range all {
		all[i].payload = bytes.Clone(all[i].payload)
	}
	if kind&1 != 0 { // what programs sent
		for range flips {
			s := &all[r.IntN(len(all))]
			if n := len(s.payload); n > 0 {
				at := r.IntN(n)
				if r.IntN(2) == 0 {
					at = r.IntN(min(n, 64)) // headers and envelopes
				}
				s.payload[at] = byte(r.Uint32())
			}
		}
	}
	if kind&2 != 0 { // what TCP said
		for range flips {
			s := &all[r.IntN(len(all))]
			switch r.IntN(5) {
			case 0:
				s.seq += r.Uint32() >> r.IntN(32)
			case 1:
				s.ack += r.Uint32() >> r.IntN(32)
			case 2:
				s.flags = byte(r.Uint32())
			case 3:
				s.src, s.dst = s.dst, s.src
			case 4:
				s.at += r.Int64N(4e9) - 2e9
			}
		}
	}
	b := ethernet.pcap(all)
	if kind&4 != 0 { // what the file says
		for range flips {
			b[24+r.IntN(len(b)-24)] = byte(r.Uint32())
		}
	}
	if kind&8 != 0 {
		b = b[:24+r.IntN(len(b)-24)]
	}
	return b
}

// checker requires of every record what must hold of any input.
type checker struct {
	t      *testing.T
	frames report.Frames
	calls  report.Calls
	agg    *sizes.Aggregator
	parts  []decode.Part
	buf    []byte
	count  int64
}

func (c *checker) Frame(r *pipeline.Row) {
	c.count++
	require.Equal(c.t, c.count, r.Number)
	c.buf = c.frames.AppendJSON(c.buf[:0], r)
	require.True(c.t, json.Valid(c.buf), "%s", c.buf)
	if r.Msg.Tree == nil {
		return
	}
	c.parts = r.Msg.Tree.Parts(c.parts[:0], 0)
	sum, want := 0, r.Msg.BodyLen
	if r.Msg.Plain != nil {
		want = r.Msg.UncompressedLen // the tree is of the body without its compression
	}
	for _, p := range c.parts {
		sum += p.Bytes
	}
	require.Equal(c.t, want, sum)
}

func (c *checker) Call(k *call.Call, _ bool) {
	c.agg.Call(k)
	c.buf = c.calls.AppendJSON(c.buf[:0], k)
	require.True(c.t, json.Valid(c.buf), "%s", c.buf)
}

// survive reads a damaged capture with all that can be wanted, and balances the books.
func survive(t *testing.T, b []byte) {
	used := testkit.CPU()
	file := saved(t, ".pcap", b)
	for _, opt := range []pipeline.Options{
		{Detail: rpc.Envelope},
		{Detail: rpc.Values, RenderValues: true},
		{Detail: rpc.Envelope, Limits: pipeline.Limits{GapPackets: 20, MaxHeld: 1 << 20, MaxHeldPerConnection: 1 << 14, MaxClosed: 2}},
	} {
		src, err := capture.Open(file, capture.Options{})
		if err != nil {
			return // no packet is left
		}
		c := &checker{t: t, agg: sizes.New(sizes.DefaultBy(), 0, nil)}
		opt.Protocols, opt.Formats, opt.Rows = protocols.All(), formats.All(), true
		tot, err := pipeline.Run(src, opt, c)
		require.NoError(t, err)
		books(t, &run{totals: tot, report: report.Build(src.Inputs(), tot, sizes.DefaultBy(), c.agg.Groups())})
		assert.Equal(t, c.count, tot.Frames)
		require.NoError(t, src.Close())
	}
	assert.Less(t, used(), 20*time.Second)
}

// Damaged captures are read to their end, and the books balance.
func TestDamaged(t *testing.T) {
	for i, name := range testkit.Some(damaged, 6) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := segmentsOf(t, name)
			for kind := 1; kind < 16; kind++ {
				r := rand.New(rand.NewPCG(uint64(i), uint64(kind)))
				survive(t, damage(w, r, kind, 1+r.IntN(200), []int{100, 1448, 65000}[kind%3]))
			}
		})
	}
}

func segmentsOf(t *testing.T, name string) []segment {
	for _, p := range allCaptures(t) {
		if p.Name == name {
			return readSegments(t, p.File)
		}
	}
	require.FailNow(t, "no capture "+name)
	return nil
}

// FuzzCapture damages the first packets of committed captures at random.
func FuzzCapture(f *testing.F) {
	for i := range damaged {
		for _, kind := range []uint8{1, 2, 3, 4, 7, 15} {
			f.Add(uint8(i), uint64(kind), kind, uint8(30), uint16(1448))
		}
	}
	cache := map[string][]segment{}
	f.Fuzz(func(t *testing.T, which uint8, seed uint64, kind, flips uint8, mss uint16) {
		name := damaged[int(which)%len(damaged)]
		if cache[name] == nil {
			cache[name] = segmentsOf(t, name)
		}
		r := rand.New(rand.NewPCG(seed, 5))
		all := cache[name]
		from := r.IntN(len(all))
		all = all[from:min(len(all), from+1+r.IntN(60))]
		if total := len(ethernet.pcap(all)); total > 1<<20 {
			return
		}
		survive(t, damage(all, r, int(kind), int(flips), max(20, int(mss))))
	})
}
