package packet

import (
	"bytes"
	"io"
	"net/netip"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/dev/testkit"
)

// second is what gopacket's layers make of a packet: the segment, or nil.
func second(p *capture.Packet) *Segment {
	link := layers.LinkType(p.Link)
	var first gopacket.Decoder = link
	switch p.Link { // gopacket knows these by other numbers, or on one system only
	case capture.LinkDLTRaw, capture.LinkDLTRawOpenBSD, capture.LinkIPv4, capture.LinkIPv6:
		first = layers.LinkTypeRaw
	}
	g := gopacket.NewPacket(p.Data, first, gopacket.DecodeOptions{Lazy: false, NoCopy: true})
	tcp, ok := g.TransportLayer().(*layers.TCP)
	if !ok {
		return nil
	}
	s := &Segment{
		Seq: tcp.Seq, Ack: tcp.Ack, Window: tcp.Window, Payload: tcp.Payload, PayloadLen: len(tcp.Payload), Checksum: tcp.Checksum,
	}
	for i, set := range []bool{tcp.FIN, tcp.SYN, tcp.RST, tcp.PSH, tcp.ACK, tcp.URG, tcp.ECE, tcp.CWR} {
		if set {
			s.Flags |= 1 << i
		}
	}
	src, dst := g.NetworkLayer().NetworkFlow().Endpoints()
	a, _ := netip.AddrFromSlice(src.Raw())
	b, _ := netip.AddrFromSlice(dst.Raw())
	s.Src = NewEndpoint(netip.AddrPortFrom(a, uint16(tcp.SrcPort)))
	s.Dst = NewEndpoint(netip.AddrPortFrom(b, uint16(tcp.DstPort)))
	if ip, ok := g.NetworkLayer().(*layers.IPv4); ok {
		s.IPID = ip.Id
	}
	end := 0
	for _, l := range g.Layers() {
		if l == g.NetworkLayer() {
			break
		}
		end += len(l.LayerContents())
	}
	switch ip := g.NetworkLayer().(type) {
	case *layers.IPv4:
		s.Padding = p.WireLen - end - int(ip.Length)
		s.Offloaded = int(ip.Length) > MaxOnWire
	case *layers.IPv6:
		s.Padding = p.WireLen - end - 40 - int(ip.Length)
		s.Offloaded = 40+int(ip.Length) > MaxOnWire
	}
	return s
}

// agree compares both readings of a packet that was not cut.
func agree(t *testing.T, d *Decoder, p *capture.Packet, name any) Verdict {
	var s Segment
	v := d.Decode(p, &s)
	want := second(p)
	if want == nil {
		require.NotEqual(t, TCP, v, "%v packet %d", name, p.Number)
		return v
	}
	require.Equal(t, TCP, v, "%v packet %d", name, p.Number)
	if !bytes.Equal(want.Payload, s.Payload) {
		assert.Equal(t, want.Payload, s.Payload, "%v packet %d", name, p.Number)
	}
	want.Payload, s.Payload = nil, nil
	want.Source = s.Source // gopacket does not read all of a cooked header
	require.Equal(t, *want, s, "%v packet %d", name, p.Number)
	return v
}

func TestAgreesWithGopacketOnSynthetic(t *testing.T) {
	d := new(Decoder)
	for _, c := range common(t) {
		assert.Equal(t, TCP, agree(t, d, c.p, c.name), c.name)
	}
}

// beyond are captures whose segments are inside tunnels, labels or fragments, which neither gopacket's first transport layer nor
// tcpdump's filter sees. tshark_test.go compares those.
var beyond = regexp.MustCompile(`^(tunnel|fragments|tags|nflog)`)

// The same segments come out of every committed capture.
func TestAgreesWithGopacketOnCaptures(t *testing.T) {
	for _, path := range testkit.Paths(5, "loss", "offload", "midway") {
		if beyond.MatchString(filepath.Base(path)) {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := capture.Open([]string{path}, capture.Options{})
			require.NoError(t, err)
			defer f.Close()
			d := new(Decoder)
			var p capture.Packet
			segments := 0
			for {
				err := f.Next(&p)
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				if p.Truncated() {
					continue // gopacket does not tell what the snap length cut
				}
				if agree(t, d, &p, filepath.Base(path)) == TCP {
					segments++
				}
			}
			assert.Empty(t, f.Problems())
			assert.Positive(t, segments)
		})
	}
}
