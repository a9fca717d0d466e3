package packet

import (
	"net"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
)

// Packets for the tests, made by gopacket's serializers.

var (
	macA, macB = net.HardwareAddr{2, 0, 0, 0, 0, 1}, net.HardwareAddr{2, 0, 0, 0, 0, 2}
	ip4A, ip4B = net.IP{10, 0, 0, 5}, net.IP{192, 168, 7, 9}
	ip6A, ip6B = net.ParseIP("2001:db8::5"), net.ParseIP("fe80::9")
)

// pack serializes layers with right lengths and checksums.
func pack(t testing.TB, l ...gopacket.SerializableLayer) []byte {
	b := gopacket.NewSerializeBuffer()
	require.NoError(t, gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, l...))
	return b.Bytes()
}

func ether(kind layers.EthernetType) *layers.Ethernet {
	return &layers.Ethernet{SrcMAC: macA, DstMAC: macB, EthernetType: kind}
}

func ipv4(options ...layers.IPv4Option) *layers.IPv4 {
	return &layers.IPv4{Version: 4, TTL: 64, Id: 0x1234, Protocol: layers.IPProtocolTCP, SrcIP: ip4A, DstIP: ip4B, Options: options}
}

func ipv6(next layers.IPProtocol) *layers.IPv6 {
	return &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: next, SrcIP: ip6A, DstIP: ip6B}
}

// tcpOver is a segment whose checksum is of that network layer.
func tcpOver(n gopacket.NetworkLayer) *layers.TCP {
	t := &layers.TCP{
		SrcPort: 51234, DstPort: 20880, Seq: 0xfffffff0, Ack: 77, PSH: true, ACK: true, Window: 502,
		Options: []layers.TCPOption{
			{OptionType: layers.TCPOptionKindNop, OptionLength: 1},
			{OptionType: layers.TCPOptionKindNop, OptionLength: 1},
			{OptionType: layers.TCPOptionKindTimestamps, OptionLength: 10, OptionData: make([]byte, 8)},
		},
	}
	_ = t.SetNetworkLayerForChecksum(n)
	return t
}

// body is a payload that is not mistaken for padding.
func body(n int) gopacket.Payload {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i + 1)
	}
	return b
}

// ip4 and ip6 are whole IP packets with a segment of n payload bytes.
func ip4(t testing.TB, n int, options ...layers.IPv4Option) []byte {
	ip := ipv4(options...)
	return pack(t, ip, tcpOver(ip), body(n))
}

func ip6(t testing.TB, n int) []byte {
	ip := ipv6(layers.IPProtocolTCP)
	return pack(t, ip, tcpOver(ip), body(n))
}

// ip6Ext is an IPv6 packet with extension headers (each with 0 as its first byte,
// which is put right) before a segment of n payload bytes.
func ip6Ext(t testing.TB, n int, first byte, kinds []byte, headers ...string) []byte {
	segment := ip6(t, n)[40:]
	ip := ip6(t, n)[:40]
	var ext []byte
	for i, h := range headers {
		next := byte(6)
		if i+1 < len(kinds) {
			next = kinds[i+1]
		}
		ext = append(append(ext, next), h[1:]...)
	}
	ip[6] = first
	total := len(ext) + len(segment)
	ip[4], ip[5] = byte(total>>8), byte(total)
	return append(append(ip, ext...), segment...)
}

// behind is a packet of that link type: a header and what follows it.
func behind(link capture.LinkType, header string, rest []byte) *capture.Packet {
	b := append([]byte(header), rest...)
	return &capture.Packet{Data: b, WireLen: len(b), Link: link}
}

// sample is a packet and the payload length it must have.
type sample struct {
	name    string
	p       *capture.Packet
	payload int
}

const (
	hdrEther4 = "\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01\x08\x00"
	hdrEther6 = "\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01\x86\xdd"
	hdrMACs   = "\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01"
	hdrSLL    = "\x00\x00\x00\x01\x00\x06\x02\x00\x00\x00\x00\x01\x00\x00"
	hdrSLL2   = "\x00\x00\x00\x00\x00\x02\x00\x01\x00\x06\x02\x00\x00\x00\x00\x01\x00\x00"
)

// common are packets that the hand parser takes and gopacket takes too.
func common(t testing.TB) []sample {
	padded := append(ip4(t, 0), "\x00\x00\x00\x00\x00\x00"...)
	tag := func(kinds ...layers.EthernetType) []byte {
		l := []gopacket.SerializableLayer{ether(kinds[0])}
		for i := range kinds {
			next := layers.EthernetTypeIPv4
			if i+1 < len(kinds) {
				next = kinds[i+1]
			}
			l = append(l, &layers.Dot1Q{VLANIdentifier: 100 + uint16(i), Priority: 5, Type: next})
		}
		ip := ipv4()
		return pack(t, append(l, ip, tcpOver(ip), body(100))...)
	}
	vlan, qinq := layers.EthernetTypeDot1Q, layers.EthernetTypeQinQ
	hop := "\x00\x00\x01\x04\x00\x00\x00\x00"
	long := "\x00\x01\x01\x0c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	return []sample{
		{"ethernet ipv4", behind(1, hdrEther4, ip4(t, 1000)), 1000},
		{"ethernet ipv4, no payload", behind(1, hdrEther4, ip4(t, 0)), 0},
		{"ethernet ipv4, padded", behind(1, hdrEther4, padded), 0},
		{"ethernet ipv4 options", behind(1, hdrEther4, ip4(t, 33, layers.IPv4Option{OptionType: 7, OptionLength: 11, OptionData: make([]byte, 9)})), 33},
		{"ethernet ipv6", behind(1, hdrEther6, ip6(t, 1000)), 1000},
		{"ethernet ipv6, padded", behind(1, hdrEther6, append(ip6(t, 3), 0, 0, 0)), 3},
		{"vlan", behind(1, "", tag(vlan)), 100},
		{"qinq", behind(1, "", tag(qinq, vlan)), 100},
		{"vlan in vlan in vlan", behind(1, "", tag(vlan, vlan, vlan)), 100},
		{"linux cooked ipv4", behind(113, hdrSLL+"\x08\x00", ip4(t, 50)), 50},
		{"linux cooked ipv6", behind(113, hdrSLL+"\x86\xdd", ip6(t, 50)), 50},
		{"linux cooked v2 ipv4", behind(276, "\x08\x00"+hdrSLL2, ip4(t, 50)), 50},
		{"linux cooked v2 ipv6", behind(276, "\x86\xdd"+hdrSLL2, ip6(t, 50)), 50},
		{"null ipv4, little-endian", behind(0, "\x02\x00\x00\x00", ip4(t, 50)), 50},
		{"null ipv4, big-endian", behind(0, "\x00\x00\x00\x02", ip4(t, 50)), 50},
		{"null ipv6, darwin", behind(0, "\x1e\x00\x00\x00", ip6(t, 50)), 50},
		{"null ipv6, freebsd", behind(0, "\x00\x00\x00\x1c", ip6(t, 50)), 50},
		{"loop ipv4", behind(108, "\x00\x00\x00\x02", ip4(t, 50)), 50},
		{"loop ipv6, openbsd", behind(108, "\x00\x00\x00\x18", ip6(t, 50)), 50},
		{"raw ipv4", behind(101, "", ip4(t, 50)), 50},
		{"raw ipv6", behind(101, "", ip6(t, 50)), 50},
		{"raw 12", behind(12, "", ip4(t, 50)), 50},
		{"raw 14", behind(14, "", ip6(t, 50)), 50},
		{"ipv4 link", behind(228, "", ip4(t, 50)), 50},
		{"ipv6 link", behind(229, "", ip6(t, 50)), 50},
		{"ipv6 hop-by-hop", behind(101, "", ip6Ext(t, 50, 0, []byte{0}, hop)), 50},
		{"ipv6 routing", behind(101, "", ip6Ext(t, 50, 43, []byte{43}, "\x00\x02\x00\x00\x00\x00\x00\x00abcdabcdabcdabcd")), 50},
		{"ipv6 hop-by-hop, destination, routing", behind(101, "", ip6Ext(t, 50, 0, []byte{0, 60, 43}, hop, long, "\x00\x00\x00\x00\x00\x00\x00\x00")), 50},
		{"ipv6 destination, 16 bytes", behind(101, "", ip6Ext(t, 50, 60, []byte{60}, long)), 50},
	}
}
