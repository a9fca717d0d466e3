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

// Every form of a header of IEEE 802.11 ends where gopacket says that it ends.
func TestWiFiAgreesWithGopacket(t *testing.T) {
	const snap = "\xaa\xaa\x03\x00\x00\x00\x08\x00"
	ip, d, all := ip4(t, 50), new(Decoder), 0
	for form := range 1 << 6 {
		has := func(bit int) bool { return form>>bit&1 != 0 }
		qos, control, four, timed, padded, fcs := has(0), has(1), has(2), has(3), has(4), has(5)
		if control && !qos {
			continue // then the bit has another meaning
		}
		kind, more, header := byte(0x08), byte(1), "\x30\x00"+hdrMACs+"\x02\x00\x00\x00\x00\x03\x10\x00"
		if four {
			more, header = more|2, header+"\x02\x00\x00\x00\x00\x04"
		}
		if qos {
			kind, header = kind|0x80, header+"\x00\x00"
		}
		if control {
			more, header = more|0x80, header+"\x00\x00\x00\x00"
		}
		if padded && len(header)%4 == 0 { // with its first two bytes
			header += "\x00\x00"
		}
		words, fields, flags := byte(2), "", byte(0)
		if timed {
			words, fields = 3, "\x00\x00\x00\x00\x00\x00\x00\x00"
		}
		if padded {
			flags |= 0x20
		}
		tail := ""
		if fcs {
			flags, tail = flags|0x10, "\x01\x02\x03\x04"
		}
		fields += string([]byte{flags, 0})
		radio := string([]byte{0, 0, byte(8 + len(fields)), 0, words, 0, 0, 0}) + fields
		p := behind(capture.LinkRadiotap, radio+string([]byte{kind, more})+header+snap+string(ip)+tail, nil)

		g := gopacket.NewPacket(bytes.Clone(p.Data), layers.LayerTypeRadioTap, gopacket.Default)
		dot11, ok := g.Layer(layers.LayerTypeDot11).(*layers.Dot11)
		require.True(t, ok, form)
		require.Equal(t, snap+string(ip), string(dot11.LayerPayload()), form)
		var s Segment
		require.Equal(t, TCP, d.Decode(p, &s), form)
		require.Equal(t, 50, s.PayloadLen, form)
		require.Equal(t, len(tail), s.Padding, form)
		all++

		for n := range p.Data { // cut anywhere
			cut := &capture.Packet{Data: p.Data[:n], WireLen: p.WireLen, Link: p.Link}
			if v := d.Decode(cut, &s); v == TCP {
				require.Equal(t, 50, s.PayloadLen, "%d, %d bytes", form, n)
				require.Equal(t, len(tail), s.Padding, "%d, %d bytes", form, n)
			} else {
				require.Contains(t, []Verdict{CutHeader, NotTCP}, v, "%d, %d bytes", form, n) // NotTCP without all of LLC
			}
		}
	}
	assert.Equal(t, 48, all)
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
