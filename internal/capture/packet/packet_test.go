package packet

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/layers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
)

func TestSegments(t *testing.T) {
	for _, c := range append(append(common(t), rareSamples(t)...), tunnelSamples(t)...) {
		t.Run(c.name, func(t *testing.T) {
			var d Decoder
			var s Segment
			require.Equal(t, TCP, d.Decode(c.p, &s))
			want := Segment{
				Src: NewEndpoint(netip.MustParseAddrPort("10.0.0.5:51234")), Dst: NewEndpoint(netip.MustParseAddrPort("192.168.7.9:20880")),
				Seq: 0xfffffff0, Ack: 77, Window: 502, IPID: 0x1234, Flags: PSH | ACK, Payload: body(c.payload), PayloadLen: c.payload,
			}
			if !s.Src.Is4() {
				want.Src = NewEndpoint(netip.MustParseAddrPort("[2001:db8::5]:51234"))
				want.Dst = NewEndpoint(netip.MustParseAddrPort("[fe80::9]:20880"))
				want.IPID = 0
			}
			want.Checksum, want.Padding, want.Source = s.Checksum, s.Padding, s.Source // TestPadding, TestSource, and gopacket's word in agree_test.go
			assert.Equal(t, want, s)
			assert.Equal(t, "TCP", d.Protocol())
		})
	}
}

// rareSamples are link layers beyond the common ones.
func rareSamples(t testing.TB) []sample {
	ppp, snap := "\xff\x03\x00\x21", "\xaa\xaa\x03\x00\x00\x00\x08\x00"
	pflog := "\x3d\x02" + strings.Repeat("\x00", 62)
	pktap := "\x9c\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00" + strings.Repeat("\x00", 144)
	dot11 := "\x88\x01\x30\x00" + hdrMACs + "\x02\x00\x00\x00\x00\x03" + "\x10\x00" + "\x00\x00"
	radiotap := "\x00\x00\x08\x00\x00\x00\x00\x00"
	prism := "\x44\x00\x00\x00\x90\x00\x00\x00wlan0" + strings.Repeat("\x00", 131)
	vlan := "\x00\x64"
	hop, atomic := "\x00\x00\x01\x04\x00\x00\x00\x00", "\x00\x00\x00\x00\x00\x00\x00\x09" // gopacket takes the latter for a fragment
	long := "\x00\x01\x01\x0c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	return []sample{
		{"802.3 with SNAP", behind(1, hdrMACs+"\x00\x70"+snap, ip4(t, 50)), 50},
		{"old QinQ", behind(1, hdrMACs+"\x91\x00"+vlan+"\x81\x00"+vlan+"\x08\x00", ip4(t, 50)), 50},
		{"eight tags", behind(1, hdrMACs+strings.Repeat("\x81\x00"+vlan, 8)+"\x08\x00", ip4(t, 50)), 50},
		{"cooked with tag", behind(113, hdrSLL+"\x81\x00"+vlan+"\x08\x00", ip4(t, 50)), 50},
		{"ppp", behind(capture.LinkPPP, ppp, ip4(t, 50)), 50},
		{"ppp, short protocol", behind(capture.LinkPPP, "\x21", ip4(t, 50)), 50},
		{"ppp ipv6", behind(capture.LinkPPPHDLC, "\x00\x57", ip6(t, 50)), 50},
		{"pppoe", behind(1, hdrMACs+"\x88\x64\x11\x00\x00\x01\x00\x72\x00\x21", ip4(t, 50)), 50},
		{"pppoe link", behind(capture.LinkPPPEther, "\x11\x00\x00\x01\x00\x72\x00\x21", ip4(t, 50)), 50},
		{"mpls, two labels", behind(1, hdrMACs+"\x88\x47\x00\x01\x00\x40\x00\x01\x01\x40", ip4(t, 50)), 50},
		{"cisco hdlc", behind(capture.LinkCHDLC, "\x0f\x00\x08\x00", ip4(t, 50)), 50},
		{"fddi", behind(capture.LinkFDDI, "\x50"+hdrMACs+snap, ip4(t, 50)), 50},
		{"pflog", behind(capture.LinkPFLog, pflog, ip4(t, 50)), 50},
		{"pktap", behind(capture.LinkPKTAP, pktap+hdrEther4, ip4(t, 50)), 50},
		{"802.11", behind(capture.LinkIEEE80211, dot11+snap, ip4(t, 50)), 50},
		{"802.11 radiotap", behind(capture.LinkRadiotap, radiotap+dot11+snap, ip4(t, 50)), 50},
		{"802.11 prism", behind(capture.LinkPrism, prism+dot11+snap, ip4(t, 50)), 50},
		{"ipv6 authentication", behind(101, "", ip6Ext(t, 50, 51, []byte{51}, "\x00\x04\x00\x00"+strings.Repeat("a", 20))), 50},
		{"ipv6 atomic fragment", behind(101, "", ip6Ext(t, 50, 44, []byte{44}, atomic)), 50},
		{"ipv6 all of them", behind(101, "", ip6Ext(t, 50, 0, []byte{0, 60, 43, 44, 60}, hop, long, "\x00\x00\x00\x00\x00\x00\x00\x00", atomic, hop)), 50},
		{"ipv6 mobility", behind(101, "", ip6Ext(t, 50, 135, []byte{135}, "\x00\x00\x00\x00\x00\x00\x00\x00")), 50},
	}
}

func TestVerdicts(t *testing.T) {
	v4, v6 := ip4(t, 50), ip6(t, 50)
	edit := func(b []byte, changes ...int) []byte {
		b = bytes.Clone(b)
		for i := 0; i < len(changes); i += 2 {
			b[changes[i]] = byte(changes[i+1])
		}
		return b
	}
	for _, c := range []struct {
		name     string
		p        *capture.Packet
		verdict  Verdict
		protocol string
	}{
		{"udp", behind(101, "", edit(v4, 9, 17)), NotTCP, "UDP"},
		{"icmp", behind(101, "", edit(v4, 9, 1)), NotTCP, "ICMP"},
		{"icmpv6", behind(101, "", edit(v6, 6, 58)), NotTCP, "ICMPv6"},
		{"no next header", behind(101, "", edit(v6, 6, 59)), NotTCP, "IP protocol 59"},
		{"sctp", behind(101, "", edit(v4, 9, 132)), NotTCP, "SCTP"},
		{"gre", behind(101, "", edit(v4, 9, 47)), NotTCP, "GRE"},
		{"esp", behind(101, "", edit(v4, 9, 50)), NotTCP, "ESP"},
		{"ip in ip", behind(101, "", edit(v4, 9, 4)), NotTCP, "IP protocol 4"},
		{"arp", behind(1, hdrMACs+"\x08\x06", make([]byte, 46)), NotTCP, "ARP"},
		{"arp, cooked", behind(276, "\x08\x06"+hdrSLL2, make([]byte, 28)), NotTCP, "ARP"},
		{"lldp", behind(1, hdrMACs+"\x88\xcc", make([]byte, 46)), NotTCP, "LLDP"},
		{"other type", behind(1, hdrMACs+"\x88\xb5", make([]byte, 46)), NotTCP, "Ethernet type 0x88b5"},
		{"spanning tree", behind(1, hdrMACs+"\x00\x26\x42\x42\x03", make([]byte, 43)), NotTCP, "LLC"},
		{"pppoe session, lcp", behind(1, hdrMACs+"\x88\x64\x11\x00\x00\x01\x00\x72\xc0\x21", make([]byte, 20)), NotTCP, "Ethernet type 0x8864"},
		{"mpls pseudowire", behind(1, hdrMACs+"\x88\x47\x00\x01\x01\x40\x00\x00", make([]byte, 60)), NotTCP, "Ethernet type 0x8847"},
		{"loopback, other family", behind(0, "\x07\x00\x00\x00", v4), NotTCP, ""},
		{"802.11 beacon", behind(capture.LinkIEEE80211, "\x80\x00\x00\x00"+hdrMACs+"\x02\x00\x00\x00\x00\x03\x10\x00", make([]byte, 20)), NotTCP, ""},

		{"fragment behind the first", behind(101, "", edit(v4, 6, 0, 7, 185)), Held, "TCP"},
		{"ipv6 fragment behind the first", behind(101, "", ip6Ext(t, 50, 44, []byte{44}, "\x00\x00\x05\xa8\x00\x00\x00\x09")), Held, "TCP"},

		{"user link type", behind(147, "", v4), UnknownLink, ""},
		{"bluetooth", behind(201, "", v4), UnknownLink, ""},
		{"pktap of it", behind(capture.LinkPKTAP, "\x0c\x00\x00\x00\x01\x00\x00\x00\xc9\x00\x00\x00", v4), UnknownLink, ""},

		{"nothing", behind(1, "", nil), Malformed, ""},
		{"nothing, raw", behind(101, "", nil), Malformed, ""},
		{"version 5", behind(101, "", edit(v4, 0, 0x55)), Malformed, ""},
		{"header of 16 bytes", behind(101, "", edit(v4, 0, 0x44)), Malformed, ""},
		{"total length below the header", behind(101, "", edit(v4, 2, 0, 3, 19)), Malformed, ""},
		{"total length inside the tcp header", behind(101, "", edit(v4, 2, 0, 3, 39)), Malformed, "TCP"},
		{"tcp header of 16 bytes", behind(101, "", edit(v4, 32, 0x40)), Malformed, "TCP"},
		{"tcp header behind the end", behind(101, "", edit(ip4(t, 0), 32, 0xf0)), Malformed, "TCP"},
		{"ends in the ip header", behind(101, "", v4[:19]), Malformed, ""},
		{"ends in the tcp header", behind(101, "", v4[:39]), Malformed, "TCP"},
		{"ipv6 extension behind the end", behind(101, "", ip6Ext(t, 0, 0, []byte{0}, "\x00\xff\x00\x00\x00\x00\x00\x00")), Malformed, ""},
		{"nine tags", behind(1, hdrMACs+strings.Repeat("\x81\x00\x00\x01", 9)+"\x08\x00", v4), Malformed, "Ethernet type 0x8100"},
		{"labels without bottom", behind(1, hdrMACs+"\x88\x47"+strings.Repeat("\x00\x01\x00\x40", 17), v4), Malformed, "Ethernet type 0x8847"},
		{"snap in snap", behind(1, hdrMACs+"\x00\x70\xaa\xaa\x03\x00\x00\x00\x00\x08", make([]byte, 40)), Malformed, "LLC"},
		{"pktap in pktap", behind(capture.LinkPKTAP, "\x0c\x00\x00\x00\x01\x00\x00\x00\x02\x01\x00\x00", make([]byte, 40)), Malformed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d Decoder
			assert.Equal(t, c.verdict, d.Decode(c.p, new(Segment)), "%v", c.verdict)
			assert.Equal(t, c.protocol, d.Protocol())
		})
	}
}

// Extension headers are followed up to a bound.
func TestManyExtensions(t *testing.T) {
	for n := 14; n <= 17; n++ {
		kinds, headers := make([]byte, n), make([]string, n)
		for i := range headers {
			kinds[i], headers[i] = 60, "\x00\x00\x01\x04\x00\x00\x00\x00"
		}
		want := TCP
		if n >= maxExtensions {
			want = Malformed
		}
		assert.Equal(t, want, new(Decoder).Decode(behind(101, "", ip6Ext(t, 5, 60, kinds, headers...)), new(Segment)), n)
	}
}

// However short the snap length, a packet is either cut in its headers or a segment
// whose payload is what is there, and whose length is what was.
func TestSnapLength(t *testing.T) {
	for _, c := range append(append(common(t), rareSamples(t)...), tunnelSamples(t)...) {
		var whole Segment
		require.Equal(t, TCP, new(Decoder).Decode(c.p, &whole))
		headers := len(c.p.Data) - c.payload - whole.Padding
		tcpFixed := headers - 12 // the options are not needed
		for n := range len(c.p.Data) {
			p := *c.p
			p.Data = p.Data[:n:n]
			var s Segment
			v := new(Decoder).Decode(&p, &s)
			if v == NotTCP && strings.Contains(c.name, "SNAP") {
				continue // cut inside LLC, which may be anything then
			}
			if n < tcpFixed {
				if v != NotTCP {
					require.Equal(t, CutHeader, v, "%s cut to %d", c.name, n)
				}
				continue
			}
			if strings.Contains(c.name, "802.11") && v != TCP {
				continue // gopacket wants a frame check sequence
			}
			require.Equal(t, TCP, v, "%s cut to %d", c.name, n)
			require.Equal(t, c.payload, s.PayloadLen, "%s cut to %d", c.name, n)
			require.Equal(t, []byte(body(max(0, min(n-headers, c.payload)))), append([]byte{}, s.Payload...), "%s cut to %d", c.name, n)
		}
	}
}

// Segmentation offload hands over packets without an IP length.
func TestOffloaded(t *testing.T) {
	for _, offset := range []int{2, 4} {
		b := ip4(t, 5000)
		if offset == 4 {
			b = ip6(t, 5000)
		}
		b[offset], b[offset+1] = 0, 0
		var s Segment
		require.Equal(t, TCP, new(Decoder).Decode(behind(101, "", b), &s))
		assert.True(t, s.NoIPLength)
		assert.True(t, s.Offloaded)
		assert.Equal(t, 5000, s.PayloadLen)
		p := behind(101, "", b[:100])
		p.WireLen = len(b)
		require.Equal(t, TCP, new(Decoder).Decode(p, &s))
		assert.Equal(t, 5000, s.PayloadLen)
		require.Equal(t, TCP, new(Decoder).Decode(behind(101, "", ip4(t, 7)), &s))
		assert.False(t, s.NoIPLength)
		assert.False(t, s.Offloaded)
	}
	for size, offloaded := range map[int]bool{MaxOnWire: false, MaxOnWire + 1: true} {
		var s Segment
		require.Equal(t, TCP, new(Decoder).Decode(behind(101, "", ip4(t, size-52)), &s))
		assert.Equal(t, offloaded, s.Offloaded, size)
		require.Equal(t, TCP, new(Decoder).Decode(behind(101, "", ip6(t, size-72)), &s))
		assert.Equal(t, offloaded, s.Offloaded, size)
	}
}

// Packets larger than a length field can say, with and without the option that says it (RFC 2675), and with padding that only the
// option tells from payload.
func TestJumbo(t *testing.T) {
	const n = 70_000
	segment := append(ip6(t, 0)[40:], body(n)...)
	head := ip6(t, 0)[:40]
	head[4], head[5] = 0, 0
	size := len(segment) + 8
	option := []byte{6, 0, 0xc2, 4, byte(size >> 24), byte(size >> 16), byte(size >> 8), byte(size)}
	withOption := append(append(bytes.Clone(head), option...), segment...)
	withOption[6] = 0
	v4 := append(ip4(t, 0), body(n)...)
	v4[2], v4[3] = 0, 0
	for _, c := range []struct {
		name    string
		ip      []byte
		padding int
	}{
		{"jumbogram", withOption, 0},
		{"jumbogram with a trailer", append(bytes.Clone(withOption), "trailer"...), 7},
		{"BIG TCP, IPv6", append(bytes.Clone(head), segment...), 0},
		{"BIG TCP, IPv4", v4, 0},
	} {
		for _, captured := range []int{len(c.ip), 200} {
			p := behind(101, "", c.ip)
			p.Data = p.Data[:captured]
			var s Segment
			require.Equal(t, TCP, new(Decoder).Decode(p, &s), c.name)
			assert.Equal(t, n, s.PayloadLen, c.name)
			assert.Equal(t, c.padding, s.Padding, c.name)
			assert.True(t, s.Offloaded && s.NoIPLength, c.name)
			assert.True(t, bytes.HasPrefix(body(n), s.Payload), c.name)
		}
	}
	// An option that claims more than there was, or none at all.
	for _, option := range []string{"\x06\x00\xc2\x04\xff\xff\xff\xff", "\x06\x00\x01\x04\x00\x00\x00\x00", "\x06\x00\x00\x00\x00\x00\x00\x00", "\x06\x00\x05\xff\x00\x00\x00\x00"} {
		b := append(append(bytes.Clone(withOption[:40]), option...), segment...)
		var s Segment
		require.Equal(t, TCP, new(Decoder).Decode(behind(101, "", b), &s))
		assert.Equal(t, n, s.PayloadLen)
	}
}

// A tool that cut packets and forgot their lengths: no more payload than the file
// says was on the wire, so that the books of link bytes balance.
func TestLengthBeyondWire(t *testing.T) {
	b := ip4(t, 1000)
	var s Segment
	require.Equal(t, TCP, new(Decoder).Decode(behind(101, "", b[:152]), &s))
	assert.Equal(t, 100, s.PayloadLen)
	assert.Len(t, s.Payload, 100)
	assert.Equal(t, Malformed, new(Decoder).Decode(behind(101, "", b[:45]), &s))
}

func TestFlags(t *testing.T) {
	for i, set := range []func(*layers.TCP){
		func(t *layers.TCP) { t.FIN = true }, func(t *layers.TCP) { t.SYN = true }, func(t *layers.TCP) { t.RST = true },
		func(t *layers.TCP) { t.PSH = true }, func(t *layers.TCP) { t.ACK = true }, func(t *layers.TCP) { t.URG = true },
		func(t *layers.TCP) { t.ECE = true }, func(t *layers.TCP) { t.CWR = true },
	} {
		ip := ipv4()
		tcp := &layers.TCP{}
		set(tcp)
		require.NoError(t, tcp.SetNetworkLayerForChecksum(ip))
		var s Segment
		require.Equal(t, TCP, new(Decoder).Decode(behind(101, "", pack(t, ip, tcp)), &s))
		assert.EqualValues(t, 1<<i, s.Flags)
	}
}

// What lies after the IP packet is padding, whatever layer it belongs to.
func TestPadding(t *testing.T) {
	for n := range 9 {
		for _, c := range []sample{
			{"ipv4", behind(1, hdrEther4, append(ip4(t, 7), make([]byte, n)...)), 7},
			{"ipv6", behind(1, hdrEther6, append(ip6(t, 7), make([]byte, n)...)), 7},
			{"ppp", behind(capture.LinkPPP, "\xff\x03\x00\x21", append(ip4(t, 7), make([]byte, n)...)), 7},
		} {
			var s Segment
			require.Equal(t, TCP, new(Decoder).Decode(c.p, &s), c.name)
			assert.Equal(t, n, s.Padding, c.name)
			assert.Equal(t, c.payload, s.PayloadLen, c.name)
			assert.Equal(t, []byte(body(7)), s.Payload, c.name)
		}
	}
}

// Cooked captures say which interface saw a packet, and whether it came or went.
func TestSource(t *testing.T) {
	sll2 := func(index, kind string) *capture.Packet {
		return behind(276, "\x08\x00\x00\x00"+index+"\x00\x01"+kind+"\x06\x02\x00\x00\x00\x00\x01\x00\x00", ip4(t, 5))
	}
	seen := map[uint32]bool{}
	for _, p := range []*capture.Packet{
		behind(113, "\x00\x00"+hdrSLL[2:]+"\x08\x00", ip4(t, 5)), behind(113, "\x00\x04"+hdrSLL[2:]+"\x08\x00", ip4(t, 5)),
		sll2("\x00\x00\x00\x01", "\x00"), sll2("\x00\x00\x00\x01", "\x04"), sll2("\x00\x00\x00\x02", "\x00"), sll2("\x00\x00\x02\x00", "\x00"),
	} {
		var s Segment
		require.Equal(t, TCP, new(Decoder).Decode(p, &s))
		assert.False(t, seen[s.Source], s.Source)
		seen[s.Source] = true
	}
	var s Segment
	s.Source = 9
	require.Equal(t, TCP, new(Decoder).Decode(behind(1, hdrEther4, ip4(t, 5)), &s))
	assert.Zero(t, s.Source)
}

// Both directions have one lane, and connections spread evenly over lanes.
func TestLane(t *testing.T) {
	var s, back Segment
	for _, lanes := range []int{1, 2, 3, 8} {
		v4, v6 := make([]int, lanes), make([]int, lanes)
		for port := range 4000 {
			for _, counts := range [][]int{v4, v6} {
				a, b := "10.0.0.5", "10.0.0.6"
				if &counts[0] == &v6[0] {
					a, b = "2001:db8::5", "2001:db8::6"
				}
				s.Src = NewEndpoint(netip.AddrPortFrom(netip.MustParseAddr(a), uint16(32768+port)))
				s.Dst = NewEndpoint(netip.AddrPortFrom(netip.MustParseAddr(b), 20880))
				back.Src, back.Dst = s.Dst, s.Src
				lane := s.Lane(lanes)
				require.Equal(t, lane, back.Lane(lanes))
				counts[lane]++
			}
		}
		for i := range lanes {
			assert.InEpsilon(t, 4000/lanes, v4[i], 0.1)
			assert.InEpsilon(t, 4000/lanes, v6[i], 0.1)
		}
	}
}

func TestEndpoint(t *testing.T) {
	for _, text := range []string{"10.0.0.5:51234", "[2001:db8::5]:0", "[fe80::9]:65535", "0.0.0.0:1", "[::]:1"} {
		e := NewEndpoint(netip.MustParseAddrPort(text))
		assert.Equal(t, text, e.String())
		assert.Equal(t, text[0] != '[', e.Is4())
	}
}

func TestVerdictNames(t *testing.T) {
	assert.Equal(t, "unknown link type", UnknownLink.String())
	assert.Equal(t, "verdict 99", Verdict(99).String())
}
