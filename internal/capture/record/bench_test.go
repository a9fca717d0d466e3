package record

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture/packet"
)

// ways are the ways of a packet through a recorder.
var ways = []struct {
	name   string
	o      Options
	marked bool
}{
	{"all", Options{}, false},
	{"rotated", Options{MaxBytes: 100_000_000, Files: 2}, false},
	{"only rpc, kept", Options{OnlyRPC: true}, true},
	{"only rpc, undecided", Options{OnlyRPC: true}, false},
}

func BenchmarkPacket(b *testing.B) {
	for _, size := range []int{66, 1514, 65_000} {
		for _, way := range ways {
			b.Run(way.name+"/"+[]string{"small", "usual", "large"}[min(size/1000, 2)], func(b *testing.B) {
				o := way.o
				o.File, o.Stdout = "-", io.Discard
				if o.MaxBytes > 0 {
					o.File = filepath.Join(b.TempDir(), "f")
				}
				r := open(b, o)
				if way.marked {
					r.Carries(client, server)
				}
				p, s := pkt(1, string(bytes.Repeat([]byte{'x'}, size))), seg(client, server, ack, 1, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					p.Time += 1000
					r.Packet(p, packet.TCP, s)
				}
				require.NoError(b, r.Close())
			})
		}
	}
}

// TestNoAllocations: nothing is allocated for a packet.
func TestNoAllocations(t *testing.T) {
	for _, way := range ways {
		o := way.o
		o.File, o.Stdout, o.MaxBytes = os.DevNull, nil, 0
		o.Files = 0
		r := open(t, o)
		if way.marked {
			r.Carries(client, server)
		}
		p, s := pkt(1, string(bytes.Repeat([]byte{'x'}, 1514))), seg(client, server, ack, 1, 1448)
		for range 2000 {
			r.Packet(p, packet.TCP, s)
		}
		assert.Zero(t, testing.AllocsPerRun(5000, func() { r.Packet(p, packet.TCP, s) }), way.name)
		require.NoError(t, r.Close())
	}
}
