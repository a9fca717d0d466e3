package packet

import (
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
)

func BenchmarkDecode(b *testing.B) {
	for _, c := range append(append(common(b), rareSamples(b)...), tunnelSamples(b)...) {
		switch c.name {
		case "ethernet ipv4", "ethernet ipv6", "vlan", "linux cooked v2 ipv4", "raw ipv4", "ipv6 all of them", "802.11 radiotap", "vxlan ipv4", "gre, bridged ipv4":
			b.Run(c.name, func(b *testing.B) {
				b.SetBytes(int64(c.p.WireLen))
				b.ReportAllocs()
				var d Decoder
				var s Segment
				for b.Loop() {
					if d.Decode(c.p, &s) != TCP {
						b.Fatal(c.name)
					}
				}
			})
		}
	}
}

func BenchmarkLane(b *testing.B) {
	var s Segment
	require.Equal(b, TCP, new(Decoder).Decode(behind(101, "", ip4(b, 10)), &s))
	n := 0
	for b.Loop() {
		n += s.Lane(8)
	}
	require.GreaterOrEqual(b, n, 0)
}

// BenchmarkFragments is a packet of three fragments.
func BenchmarkFragments(b *testing.B) {
	var packets []*capture.Packet
	size := 0
	for _, f := range split(ip4(b, 4000), 1480, 7) {
		packets = append(packets, behind(1, hdrEther4, f))
		size += len(f) + 14
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	var d Decoder
	var s Segment
	for b.Loop() {
		for i, p := range packets {
			if v := d.Decode(p, &s); (v == TCP) != (i == len(packets)-1) {
				b.Fatal(v)
			}
		}
	}
}

// benchFile is a pcap of n packets of 66 to 1514 bytes.
func benchFile(t testing.TB, n int) (path string, size int64) {
	o := binary.LittleEndian
	b := o.AppendUint32(nil, 0xa1b2c3d4)
	b = append(b, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0)
	var frames [][]byte
	for _, payload := range []int{0, 360, 1448, 1448, 0, 1448} {
		frames = append(frames, behind(1, hdrEther4, ip4(t, payload)).Data)
	}
	for i := range n {
		frame := frames[i%len(frames)]
		b = o.AppendUint32(b, uint32(i/1000))
		b = o.AppendUint32(b, uint32(i%1000))
		b = o.AppendUint32(b, uint32(len(frame)))
		b = o.AppendUint32(b, uint32(len(frame)))
		b = append(b, frame...)
	}
	path = filepath.Join(t.TempDir(), "bench.pcap")
	require.NoError(t, os.WriteFile(path, b, 0o644))
	return path, int64(len(b))
}

// BenchmarkNextDecode is the line from file to segment.
func BenchmarkNextDecode(b *testing.B) {
	const packets = 200_000
	path, size := benchFile(b, packets)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		f, err := capture.Open([]string{path}, capture.Options{})
		require.NoError(b, err)
		var p capture.Packet
		var d Decoder
		var s Segment
		total := 0
		for f.Next(&p) == nil {
			if d.Decode(&p, &s) == TCP {
				total += s.PayloadLen
			}
		}
		require.Positive(b, total)
		require.NoError(b, f.Close())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/packets, "ns/packet")
}

// From file to segment nothing is allocated per packet.
func TestNextAndDecodeAllocateNothing(t *testing.T) {
	path, _ := benchFile(t, 5000)
	f, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(t, err)
	defer f.Close()
	var p capture.Packet
	var d Decoder
	var s Segment
	require.NoError(t, f.Next(&p))
	assert.Zero(t, testing.AllocsPerRun(4000, func() {
		if err := f.Next(&p); err == io.EOF || d.Decode(&p, &s) != TCP {
			t.Fatal(err)
		}
	}))
	for _, c := range common(t) {
		assert.Zero(t, testing.AllocsPerRun(10, func() { d.Decode(c.p, &s) }), c.name)
	}
}
