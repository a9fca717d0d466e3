package packet

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
)

// seen is what a capture holds.
type seen struct {
	verdicts   map[Verdict]int
	sources    map[uint32]bool
	interfaces map[int]bool
	offloaded  int
	padded     int
	overhead   int // link bytes of segments beyond TCP and one IP header, at least
}

// look decodes a recorded capture and checks its books: each link byte is a header, padding or payload of one segment, or part of a
// packet that is none.
func look(t *testing.T, name string) *seen {
	f, err := capture.Open([]string{"../../../testdata/captures/" + name}, capture.Options{})
	require.NoError(t, err)
	defer f.Close()
	s := &seen{verdicts: map[Verdict]int{}, sources: map[uint32]bool{}, interfaces: map[int]bool{}}
	var d Decoder
	var p capture.Packet
	var g Segment
	var k books
	for {
		err := f.Next(&p)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		v := k.feed(&d, &p, &g)
		s.verdicts[v]++
		s.interfaces[p.Interface] = true
		if v != TCP {
			continue
		}
		sound(t, &p, &g)
		s.sources[g.Source] = true
		if g.Offloaded {
			s.offloaded++
		}
		if g.Padding > 0 {
			s.padded++
		}
		require.True(t, g.Src.Port == 20880 || g.Dst.Port == 20880)
		s.overhead = max(s.overhead, p.WireLen+g.Extra-g.PayloadLen-g.Padding)
	}
	k.balanced(t, &d)
	d.Flush()
	lost, repeated := d.Abandoned()
	assert.Zero(t, lost)
	assert.Zero(t, repeated)
	return s
}

// Each recorded packet in a tunnel, with tags or labels is a segment of the conversation inside.
func TestRecordedTunnels(t *testing.T) {
	for _, c := range []struct {
		file     string
		overhead int // of link, tunnel, IP, and TCP with timestamps
	}{
		{"tunnel-vxlan.pcap.zst", 14 + 20 + 8 + 8 + 14 + 20 + 32},
		{"tunnel-vxlan-8472.pcap.zst", 14 + 20 + 8 + 8 + 14 + 20 + 32},
		{"tunnel-vxlan-policy.pcap.zst", 14 + 20 + 8 + 8 + 14 + 20 + 32},
		{"tunnel-geneve.pcap.zst", 14 + 20 + 8 + 8 + 14 + 20 + 32},
		{"tunnel-gre.pcap.zst", 14 + 20 + 12 + 14 + 20 + 32},
		{"tunnel-gre-ip.pcap.zst", 14 + 20 + 4 + 20 + 32},
		{"tunnel-erspan2.pcap.zst", 14 + 20 + 8 + 8 + 14 + 20 + 32},
		{"tunnel-erspan3.pcap.zst", 14 + 20 + 8 + 12 + 8 + 14 + 20 + 32},
		{"tunnel-4in4.pcap.zst", 14 + 20 + 20 + 32},
		{"tunnel-6in4.pcap.zst", 14 + 20 + 40 + 32},
		{"tags-vlan.pcap.zst", 14 + 4 + 20 + 32},
		{"tags-qinq.pcap.zst", 14 + 8 + 20 + 32},
		{"tags-mpls.pcap.zst", 14 + 8 + 20 + 32},
		{"tags-pseudowire.pcap.zst", 14 + 4 + 14 + 20 + 32},
	} {
		t.Run(c.file, func(t *testing.T) {
			s := look(t, c.file)
			assert.Positive(t, s.verdicts[TCP])
			if c.file == "tunnel-6in4.pcap.zst" {
				delete(s.verdicts, NotTCP) // neighbours are looked for inside the tunnel
			}
			assert.Len(t, s.verdicts, 1, "%v", s.verdicts)
			assert.GreaterOrEqual(t, s.overhead, c.overhead)
			assert.LessOrEqual(t, s.overhead, c.overhead+12, "a SYN has more options, data that follows a loss has, too")
		})
	}
}

// Recorded fragments are put together, all of them.
func TestRecordedFragments(t *testing.T) {
	for _, name := range []string{"fragments-v4.pcap.zst", "fragments-v6.pcap.zst", "fragments-vxlan.pcap.zst"} {
		t.Run(name, func(t *testing.T) {
			s := look(t, name)
			assert.Positive(t, s.verdicts[TCP])
			assert.Positive(t, s.verdicts[Held])
			if name == "fragments-v6.pcap.zst" {
				delete(s.verdicts, NotTCP) // neighbours of the hosts
			}
			assert.Len(t, s.verdicts, 2, "%v", s.verdicts)
			assert.Zero(t, s.offloaded)
		})
	}
}

// What else a recording of today may have.
func TestRecordedOthers(t *testing.T) {
	s := look(t, "offload.pcap.zst")
	assert.Positive(t, s.offloaded)
	assert.Len(t, s.verdicts, 1)
	s = look(t, "nflog.pcap.zst")
	assert.Len(t, s.verdicts, 1)
	assert.Positive(t, s.verdicts[TCP])
	assert.Len(t, look(t, "two-ports.pcapng.zst").interfaces, 2)
	assert.Len(t, look(t, "mirror.pcap.zst").interfaces, 1)
	assert.Greater(t, len(look(t, "any-doubles.pcap.zst").sources), 1)
	assert.Greater(t, len(look(t, "any-doubles-cooked1.pcap.gz").sources), 1)
}
