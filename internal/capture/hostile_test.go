package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// many are packets of a usual capture, with what is hard to search in: zeros, the bytes of other records, and small
// numbers.
func many(n int) []rec {
	r := rand.New(rand.NewPCG(11, uint64(n)))
	recs := make([]rec, n)
	for i := range recs {
		data := make([]byte, 60+r.IntN(1400))
		switch i % 3 {
		case 0:
			for k := range data {
				data[k] = byte(r.Uint32())
			}
		case 1:
			binary.LittleEndian.PutUint32(data[20:], 64)
			binary.LittleEndian.PutUint32(data[24:], 64)
		}
		copy(data, fmt.Sprintf("packet %05d ", i))
		recs[i] = rec{ns: 1_700_000_000e9 + int64(i)*1e6, data: string(data), wire: len(data) + i%2}
	}
	return recs
}

// less is a tenth of what there is to be tried, where time is short.
func less(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// asPcapng is a capture of the same packets.
func asPcapng(o binary.AppendByteOrder, recs []rec) []byte {
	n := &ng{}
	n.section(o).iface(1, 0)
	for _, r := range recs {
		n.packet(0, uint64(r.ns/1000), r.data, r.wire)
	}
	return n.b
}

// Wherever bytes of a file are overwritten, what is lost is what they belong to: packets that lie elsewhere are read, and
// none is read that was not there.
func TestDamageCostsWhatWasDamaged(t *testing.T) {
	recs := many(60)
	forms := map[string][]byte{"pcapng": asPcapng(bothOrders[0], recs), "pcapng, big-endian": asPcapng(bothOrders[1], recs)}
	for _, o := range bothOrders {
		for _, magic := range []uint32{magicMicros, magicNanos, magicKuznetzov} {
			forms[fmt.Sprintf("pcap %x %v", magic, o)] = pcapForm{o, magic, 4, 262144, 1}.build(recs...)
		}
	}
	known := map[string]int{}
	for i, r := range recs {
		known[r.data] = i
	}
	for name, whole := range forms {
		place := make([]int, len(recs)) // of each packet's bytes
		for i, r := range recs {
			place[i] = bytes.Index(whole, []byte(r.data))
			require.Positive(t, place[i])
		}
		lost := 0
		for seed := range uint64(less(300)) {
			r := rand.New(rand.NewPCG(seed, 12))
			b := bytes.Clone(whole)
			from := place[1] + r.IntN(len(b)-place[1]-2000)
			n := 1 + r.IntN([]int{4, 40, 4000}[seed%3])
			n = min(n, len(b)-2000-from)
			for k := range n {
				b[from+k] = byte(r.Uint32())
				if seed%5 == 0 {
					b[from+k] = 0
				}
			}
			packets, in := read(t, b)
			touched := func(i int) bool { // the packet, or what stands before it
				const before = 40
				return place[i]-before < from+n && place[i]+len(recs[i].data)+before > from
			}
			have := map[int]bool{}
			strange := 0
			for _, p := range packets {
				i, ok := known[p.data]
				if !ok {
					strange++
					continue
				}
				require.False(t, have[i], "%s %d: packet %d twice", name, seed, i)
				have[i] = true
			}
			for i := range recs {
				if !have[i] && !touched(i) {
					lost++
				}
			}
			nTouched := 0
			for i := range recs {
				if touched(i) {
					nTouched++
				}
			}
			require.LessOrEqual(t, strange, nTouched, "%s %d: %v", name, seed, in.Damage)
		}
		// A damaged length may be one that can be: it then costs what lies up to there.
		assert.LessOrEqual(t, lost, 100, "%s: packets lost of 300 × 60 that were sound", name)
		t.Log(name, lost)
	}
}

// Nothing but rubbish, after a sound beginning: read once, in time and memory that follow its length.
func TestRubbish(t *testing.T) {
	for name, start := range map[string][]byte{"pcap": plain(many(3)...), "pcapng": asPcapng(bothOrders[0], many(3))} {
		for kind, make := range map[string]func(r *rand.Rand, i int) byte{
			"random": func(r *rand.Rand, _ int) byte { return byte(r.Uint32()) },
			"zeros":  func(*rand.Rand, int) byte { return 0 },
			"ones":   func(*rand.Rand, int) byte { return 0xff },
			"tens":   func(*rand.Rand, int) byte { return 10 },
			"small numbers": func(_ *rand.Rand, i int) byte {
				if i%4 == 0 {
					return byte(100 + i/4%50)
				}
				return 0
			},
		} {
			r := rand.New(rand.NewPCG(1, 1))
			b := bytes.Clone(start)
			for i := range less(20 << 20) {
				b = append(b, make(r, i))
			}
			used := testkit.CPU()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f, err := Open([]string{"-"}, Options{Stdin: bytes.NewReader(b)})
			require.NoError(t, err)
			var p Packet
			for f.Next(&p) == nil {
			}
			runtime.ReadMemStats(&after)
			took, in := used(), f.Inputs()[0]
			assert.GreaterOrEqual(t, in.Packets, int64(3), "%s %s", name, kind)
			assert.NotEmpty(t, in.Damage)
			assert.Less(t, took, 20*time.Second, "%s %s", name, kind)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "%s %s: %d packets", name, kind, in.Packets)
			t.Log(name, kind, took, in.Packets, in.Damage)
		}
	}
}

// Records whose lengths lie, in turn with sound ones: each costs one search, and no stack.
func TestManyDamages(t *testing.T) {
	var b []byte
	sound := plain(many(4)...)
	lie := bytes.Repeat([]byte{0xff}, 16)
	b = append(b, sound...)
	for range 20_000 {
		b = append(b, lie...)
		b = append(b, sound[24:]...)
	}
	packets, in := read(t, b)
	assert.Len(t, packets, 4*20_001)
	assert.Len(t, in.Damage, maxDamage)
	assert.EqualValues(t, 20_000-maxDamage, in.DamageLeftOut)
	assert.EqualValues(t, 5*20_000+4, packets[len(packets)-1].number, "each place counts as a packet")
}

// Lengths that lie about a packet on the wire are not believed: they would be in the report.
func TestWireLengths(t *testing.T) {
	recs := many(9)
	b := plain(recs...)
	at := bytes.Index(b, []byte(recs[4].data)) - 4
	binary.LittleEndian.PutUint32(b[at:], 1<<32-1)
	packets, in := read(t, b)
	assert.Len(t, packets, 8)
	assert.Len(t, in.Damage, 1)
	assert.Less(t, in.Bytes, int64(20_000))
	binary.LittleEndian.PutUint32(b[at:], 1) // less than was captured: that is written by some programs
	packets, in = read(t, b)
	assert.Len(t, packets, 9)
	assert.Empty(t, in.Damage)
	binary.LittleEndian.PutUint32(b[at-4:], 200) // but not by those
	packets, in = read(t, b)
	assert.Len(t, packets, 8)
	assert.Len(t, in.Damage, 1)

	recs[4].wire = 1<<32 - 1
	packets, in = read(t, asPcapng(bothOrders[0], recs))
	assert.Len(t, packets, 8)
	assert.Len(t, in.Damage, 1)
}

// A compressed file is read as far as it goes, wherever it is cut or damaged.
func TestCompressedCutAnywhere(t *testing.T) {
	const packets = 400 // several blocks of zstd
	recs := many(packets)
	whole, _ := read(t, plain(recs...))
	for name, b := range map[string][]byte{
		"gzip":            compressGzip(t, plain(recs...)),
		"zstd":            compressZstd(t, plain(recs...)),
		"pcapng and gzip": compressGzip(t, asPcapng(bothOrders[1], recs)),
	} {
		most := 0
		for n := len(b) - 1; n > 0; n -= 1 + n/less(397) {
			f, err := Open([]string{"-"}, Options{Stdin: bytes.NewReader(b[:n])})
			if err != nil {
				require.NotZero(t, CauseOf(err), "%s %d", name, n)
				continue
			}
			have := drain(t, f)
			most = max(most, len(have))
			for i, p := range have {
				require.Equal(t, whole[i].data, p.data, "%s %d", name, n)
			}
			in := f.Inputs()[0]
			if len(have) < packets || n < len(b)-8 { // else only the check sum is lost
				require.Len(t, in.Damage, 1, "%s %d: %d packets", name, n, len(have))
				require.EqualValues(t, len(have)+1, in.Damage[0].Packet)
			}
			require.NoError(t, f.Close())
		}
		assert.GreaterOrEqual(t, most, packets/2, name)
	}
}

// Compressed files one after the other are one file.
func TestCompressedMembers(t *testing.T) {
	recs := many(30)
	whole := plain(recs...)
	want, _ := read(t, whole)
	for name, b := range map[string][]byte{
		"gzip":    slices.Concat(compressGzip(t, whole[:1000]), compressGzip(t, whole[1000:1001]), compressGzip(t, nil), compressGzip(t, whole[1001:])),
		"zstd":    slices.Concat(compressZstd(t, whole[:1000]), compressZstd(t, whole[1000:])),
		"skipped": slices.Concat([]byte("\x50\x2a\x4d\x18\x03\x00\x00\x00abc"), compressZstd(t, whole)),
	} {
		packets, in := read(t, b)
		assert.Equal(t, want, packets, name)
		assert.Empty(t, in.Damage, name)
	}
	packets, in := read(t, append(compressGzip(t, whole), "what is no gzip"...))
	assert.Equal(t, want, packets)
	assert.Len(t, in.Damage, 1)
}

// A zstd file that asks for a window gets it up to the bound, and one that asks for more is refused before anything is
// allocated.
func TestZstdWindow(t *testing.T) {
	for _, c := range []struct {
		name   string
		window byte // its exponent
		ok     bool
	}{{"8 MiB", 23, true}, {"128 MiB", 27, true}, {"256 MiB", 28, false}, {"2 TiB", 41, false}} {
		content := plain(many(3)...)
		b := []byte(zstdMagic)
		b = append(b, 0, (c.window-10)<<3)
		size := uint32(len(content))<<3 | 1 // the last block, raw
		b = append(b, byte(size), byte(size>>8), byte(size>>16))
		b = append(b, content...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := Open([]string{"-"}, Options{Stdin: bytes.NewReader(b)})
		if !c.ok {
			require.ErrorIs(t, err, zstd.ErrWindowSizeExceeded, c.name)
			assert.Equal(t, Compression, CauseOf(err))
		} else {
			require.NoError(t, err, c.name)
			assert.Len(t, drain(t, f), 3)
			require.NoError(t, f.Close())
		}
		runtime.ReadMemStats(&after)
		most := uint64(4 << 20)
		if c.ok {
			most += 5 << c.window >> 2 // the window and a quarter
		}
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, most, c.name)
	}
}
