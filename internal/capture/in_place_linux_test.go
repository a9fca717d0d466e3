package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mixedRecords are records of small, usual and very large packets, together some 28 MB.
var mixedRecords = sync.OnceValue(func() (recs []rec) {
	for i := 0; len(recs) < 26_000; i++ {
		size := [...]int{54, 66, 1514, 1514, 1514, 700, 66, 1514}[i%8]
		switch {
		case i%5000 == 4000:
			size = 200_000
		case i == 14_000:
			size = 5 << 20
		}
		recs = append(recs, rec{ns: int64(i) * 1000, data: string(bytes.Repeat([]byte{byte(i), byte(i >> 8)}, (size+1)/2)[:size])})
	}
	return recs
})

// readResult is what was read of a capture.
type readResult struct {
	packets []uint64 // hashes
	input   Input
	inPlace bool // a stretch was looked at in place
}

// readBatches reads src as the pipeline does. at is called before each batch with the number of packets.
func readBatches(t *testing.T, src *Files, keep bool, at func(n int)) readResult {
	if keep {
		src.Keep()
	}
	var res readResult
	var space []Space
	var kept []Packet
	hash := func(ps []Packet) {
		for i := range ps {
			res.packets = append(res.packets, hashOf(&ps[i]))
		}
	}
	ps := make([]Packet, 32)
	for {
		at(len(res.packets) + len(kept))
		n, err := src.NextBatch(ps)
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
		for range n {
			src.Preload(keep)
		}
		res.inPlace = res.inPlace || len(src.open) > 0 && src.open[0].stream.window.place.on()
		if !keep {
			hash(ps[:n])
			continue
		}
		kept = append(kept, ps[:n]...)
		if space = append(space, src.Retired()...); len(space) >= 8 {
			hash(kept)
			src.Recycle(space)
			kept, space = kept[:0], space[:0]
		}
	}
	hash(kept)
	src.Recycle(append(space, src.Retired()...))
	read, total := src.Progress()
	if total >= 0 {
		assert.Equal(t, total, read, "progress")
	}
	res.input = src.Inputs()[0]
	res.input.File = ""
	require.NoError(t, src.Close())
	return res
}

func hashOf(p *Packet) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(p.Data)
	return h.Sum64() + uint64(p.Time) + uint64(p.Number)
}

func never(int) {}

// lookInPlace lets files of any size be looked at in place.
func lookInPlace(t *testing.T) {
	size, kept := minInPlace, keptStretch
	minInPlace, keptStretch = 1, 2<<20
	t.Cleanup(func() { minInPlace, keptStretch = size, kept })
}

// A file that is looked at in place, in turn with being read, has the same packets and the same damage as one that is read.
func TestInPlace(t *testing.T) {
	lookInPlace(t)
	recs := mixedRecords()
	form := pcapForm{order: binary.LittleEndian, magic: magicMicros, minor: 4, snap: 16 << 20, link: 1}
	big := pcapForm{order: binary.BigEndian, magic: magicNanos, minor: 4, snap: 16 << 20, link: 1}
	damaged := form.build(recs...)
	for at := 3_000_000; at < len(damaged); at += 5_000_000 {
		clear(damaged[at : at+3000])
	}
	for name, content := range map[string][]byte{
		"pcap":       form.build(recs...),
		"big endian": big.build(recs...),
		"pcapng":     asPcapng(binary.LittleEndian, recs),
		"big pcapng": asPcapng(binary.BigEndian, recs),
		"damaged":    damaged,
		"cut":        form.build(recs...)[:25_000_000],
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "trace.pcap")
			require.NoError(t, os.WriteFile(path, content, 0o600))
			read, err := os.Open(path)
			require.NoError(t, err)
			defer read.Close()
			src, err := Open([]string{"-"}, Options{Stdin: read})
			require.NoError(t, err)
			want := readBatches(t, src, false, never)
			require.False(t, want.inPlace)
			require.Greater(t, len(want.packets), 20_000)
			for _, keep := range []bool{false, true} {
				src, err := Open([]string{path}, Options{})
				require.NoError(t, err)
				got := readBatches(t, src, keep, never)
				assert.Equal(t, canLookInPlace(t, path), got.inPlace)
				assert.Equal(t, want.packets, got.packets, "keep %t", keep)
				assert.Equal(t, want.input, got.input, "keep %t", keep)
			}
		})
	}
}

// Files that follow each other are looked at in place one after the other, files of the same time are read together: the packets of a batch, and
// those that wait for the ones of another file, stay where they are.
func TestSeveralInPlace(t *testing.T) {
	lookInPlace(t)
	recs := mixedRecords()
	for name, fileOf := range map[string]func(i int) int{
		"one after the other": func(i int) int { return 5 * i / len(recs) },
		"at the same time":    func(i int) int { return (i ^ i>>3) % 5 },
		"with runs":           func(i int) int { return i / 100 % 5 },
		"some to the end":     func(i int) int { return i % (1 + 5*(len(recs)-i-1)/len(recs)) },
	} {
		t.Run(name, func(t *testing.T) {
			var files [5][]rec
			var want []uint64
			for i, r := range recs {
				to := fileOf(i)
				files[to] = append(files[to], r)
				want = append(want, hashOf(&Packet{Data: []byte(r.data), Time: r.ns, Number: int64(len(files[to]))}))
			}
			var paths []string
			for i, recs := range files {
				path := filepath.Join(t.TempDir(), fmt.Sprint(i))
				require.NoError(t, os.WriteFile(path, plain(recs...), 0o600))
				paths = append(paths, path)
			}
			for _, keep := range []bool{false, true} {
				src, err := Open(paths, Options{})
				require.NoError(t, err)
				got := readBatches(t, src, keep, never)
				assert.Equal(t, want, got.packets, "keep %t", keep)
				if name == "one after the other" {
					assert.Equal(t, canLookInPlace(t, paths[0]), got.inPlace, "keep %t", keep)
				}
			}
		})
	}
}

// canLookInPlace reports whether files are looked at in place on this machine.
func canLookInPlace(t *testing.T, path string) bool {
	file, err := os.Open(path)
	require.NoError(t, err)
	p := newInPlace(&countingReader{file: file}, new(pace))
	if p == nil {
		return false
	}
	p.file.Close()
	return true
}

// A file that another process cuts ends early, wherever it is read when that happens. What was handled before is right.
func TestCutWhileInPlace(t *testing.T) {
	lookInPlace(t)
	forms := [][]byte{
		pcapForm{order: binary.LittleEndian, magic: magicMicros, minor: 4, snap: 16 << 20, link: 1}.build(mixedRecords()...),
		pcapForm{order: binary.BigEndian, magic: magicMicros, minor: 4, snap: 16 << 20, link: 1}.build(mixedRecords()...), // not in batches
		asPcapng(binary.LittleEndian, mixedRecords()),
	}
	early := 0
	for _, content := range forms {
		early += cutWhileInPlace(t, content)
	}
	require.Equal(t, canLookInPlace(t, "../../go.mod"), early > 0)
}

// cutWhileInPlace returns how often it was noticed that the file was cut.
func cutWhileInPlace(t *testing.T, content []byte) (early int) {
	whole, err := Open([]string{"-"}, Options{Stdin: bytes.NewReader(content)})
	require.NoError(t, err)
	want := readBatches(t, whole, false, never)
	for _, keep := range []bool{false, true} {
		for _, cutAt := range []int{1000, 9000, 20_000} {
			path := filepath.Join(t.TempDir(), "trace.pcap")
			require.NoError(t, os.WriteFile(path, content, 0o600))
			src, err := Open([]string{path}, Options{})
			require.NoError(t, err)
			cut := 0
			got := readBatches(t, src, keep, func(n int) {
				if cut == 0 && n >= cutAt {
					cut = n
					require.NoError(t, os.Truncate(path, 777_777))
				}
			})
			require.GreaterOrEqual(t, len(got.packets), cut)
			require.Less(t, len(got.packets), cut+20_000)
			if !keep {
				require.Equal(t, want.packets[:cut], got.packets[:cut], "%d", cutAt)
			}
			damage := slices.DeleteFunc(got.input.Damage, func(d Damage) bool { return slices.Contains(want.input.Damage, d) })
			require.NotEmpty(t, damage, "keep %t, %d", keep, cutAt)
			for _, d := range damage {
				require.Regexp(t, "the file ends inside|the file ended early", d.Text)
				if strings.Contains(d.Text, "ended early") {
					early++
				}
			}
		}
	}
	return early
}

// A reader that stops early gives the files back. Only so many can be mapped at once.
func TestCloseWhileInPlace(t *testing.T) {
	lookInPlace(t)
	path := filepath.Join(t.TempDir(), "trace.pcap")
	require.NoError(t, os.WriteFile(path, plain(many(60_000)...), 0o600))
	for range 100 {
		src, err := Open([]string{path}, Options{})
		require.NoError(t, err)
		src.Keep()
		var p Packet
		for range 100 {
			require.NoError(t, src.Next(&p))
		}
		require.Equal(t, canLookInPlace(t, "../../go.mod"), src.current.mapped != nil)
		require.NoError(t, src.Close())
	}
}
