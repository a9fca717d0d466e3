package capture

import (
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// benchRecs are n packets of about 850 bytes on average, a mixture of ACKs, small
// and full ones.
func benchRecs(n int) []rec {
	sizes := []int{66, 426, 1514, 1514, 66, 1514}
	recs := make([]rec, n)
	for i := range recs {
		recs[i] = rec{ns: int64(i) * 10_000, data: strings.Repeat("p", sizes[i%len(sizes)])}
	}
	return recs
}

func benchNg(n int) []byte {
	w := &ng{}
	w.section(binary.LittleEndian).iface(1, 0)
	for _, r := range benchRecs(n) {
		w.packet(0, uint64(r.ns/1000), r.data, len(r.data))
	}
	return w.b
}

func BenchmarkNext(b *testing.B) {
	const packets = 100_000
	pcap := plain(benchRecs(packets)...)
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"pcap", pcap},
		{"pcapng", benchNg(packets)},
		{"pcap.gz", compressGzip(b, pcap)},
		{"pcap.zst", compressZstd(b, pcap)},
	} {
		b.Run(c.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), c.name)
			require.NoError(b, os.WriteFile(path, c.data, 0o644))
			b.SetBytes(int64(len(pcap)))
			b.ReportAllocs()
			for b.Loop() {
				f, err := Open([]string{path}, Options{})
				require.NoError(b, err)
				var p Packet
				n := 0
				for f.Next(&p) == nil {
					n++
				}
				require.Equal(b, packets, n)
				require.NoError(b, f.Close())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/packets, "ns/packet")
		})
	}
}

// Nothing is allocated per packet, whatever the format, one file or several.
func TestNextAllocatesNothing(t *testing.T) {
	recs := benchRecs(3000)
	pcap := write(t, "a.pcap", plain(recs...))
	pcapng := write(t, "a.pcapng", benchNg(3000))
	for _, paths := range [][]string{{pcap}, {pcapng}, {pcap, pcapng, pcap}} {
		f, err := Open(paths, Options{})
		require.NoError(t, err)
		var p Packet
		require.NoError(t, f.Next(&p))
		allocs := testing.AllocsPerRun(2000, func() {
			if err := f.Next(&p); err == io.EOF {
				t.Fatal("too few packets")
			}
		})
		assert.Zero(t, allocs, paths)
		require.NoError(t, f.Close())
	}
}
