package packet

import (
	"io"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
)

// overIP puts bytes into an IPv4 or IPv6 packet of that protocol, between other hosts than those inside.
func overIP(t testing.TB, v6 bool, proto layers.IPProtocol, b []byte) []byte {
	if v6 {
		return pack(t, &layers.IPv6{Version: 6, HopLimit: 9, NextHeader: proto, SrcIP: ip6B, DstIP: ip6A}, gopacket.Payload(b))
	}
	return pack(t, &layers.IPv4{Version: 4, TTL: 9, Id: 77, Protocol: proto, SrcIP: []byte{172, 16, 0, 1}, DstIP: []byte{172, 16, 0, 2}}, gopacket.Payload(b))
}

// overUDP puts bytes into UDP in IPv4.
func overUDP(t testing.TB, port uint16, b []byte) []byte {
	n := 8 + len(b)
	header := []byte{0xcc, 0xcc, byte(port >> 8), byte(port), byte(n >> 8), byte(n), 0, 0}
	return overIP(t, false, layers.IPProtocolUDP, append(header, b...))
}

func join(header string, rest []byte) []byte { return append([]byte(header), rest...) }

// etherOf is the Ethernet type of an IP packet, as two bytes.
func etherOf(ip []byte) string {
	if ip[0]>>4 == 6 {
		return "\x86\xdd"
	}
	return "\x08\x00"
}

func frameOf(ip []byte) []byte { return join(hdrMACs+etherOf(ip), ip) }

// tunnel makes a link packet of an IP packet by putting it into a tunnel.
type tunnel struct {
	name string
	wrap func(t testing.TB, ip []byte) *capture.Packet
	// guessed: known by a port or pattern only, so that other contents than TCP leave it what it was.
	guessed bool
}

func tunnels() []tunnel {
	udp := func(port uint16, header string, bridged bool) func(testing.TB, []byte) *capture.Packet {
		return func(t testing.TB, ip []byte) *capture.Packet {
			if bridged {
				ip = frameOf(ip)
			}
			return behind(1, hdrEther4, overUDP(t, port, join(header, ip)))
		}
	}
	gre := func(header string, bridged bool) func(testing.TB, []byte) *capture.Packet {
		return func(t testing.TB, ip []byte) *capture.Packet {
			header := strings.ReplaceAll(header, "??", etherOf(ip))
			if bridged {
				ip = frameOf(ip)
			}
			return behind(1, hdrEther4, overIP(t, false, layers.IPProtocolGRE, join(header, ip)))
		}
	}
	link := func(link capture.LinkType, header string) func(testing.TB, []byte) *capture.Packet {
		return func(t testing.TB, ip []byte) *capture.Packet {
			return behind(link, strings.ReplaceAll(header, "??", etherOf(ip)), ip)
		}
	}
	inIP := func(v6 bool) func(testing.TB, []byte) *capture.Packet {
		return func(t testing.TB, ip []byte) *capture.Packet {
			proto := layers.IPProtocolIPv4
			if ip[0]>>4 == 6 {
				proto = layers.IPProtocolIPv6
			}
			return behind(101, "", overIP(t, v6, proto, ip))
		}
	}
	pptp := func(flags, tail string) func(testing.TB, []byte) *capture.Packet {
		return func(t testing.TB, ip []byte) *capture.Packet {
			kind := "\x21"
			if ip[0]>>4 == 6 {
				kind = "\x57"
			}
			n := len(ip) + 3
			header := flags + "\x88\x0b" + string([]byte{byte(n >> 8), byte(n)}) + "\x00\x07" + tail + "\xff\x03" + kind
			return behind(1, hdrEther4, overIP(t, false, layers.IPProtocolGRE, join(header, ip)))
		}
	}
	gtp := func(flags string, tail string) func(testing.TB, []byte) *capture.Packet {
		return func(t testing.TB, ip []byte) *capture.Packet {
			n := len(ip) + len(tail)
			return behind(1, hdrEther4, overUDP(t, 2152, join(flags+"\xff"+string([]byte{byte(n >> 8), byte(n)})+"\x00\x00\x00\x01"+tail, ip)))
		}
	}
	return []tunnel{
		{"vxlan", udp(4789, "\x08\x00\x00\x00\x00\x00\x64\x00", true), true},
		{"vxlan, Linux's old port", udp(8472, "\x08\x00\x00\x00\x00\x00\x01\x00", true), true},
		{"vxlan with group policy", udp(4789, "\x88\x08\x12\x34\x00\x00\x01\x00", true), true},
		{"vxlan-gpe, Ethernet", udp(4790, "\x0c\x00\x00\x03\x00\x00\x01\x00", true), true},
		{"geneve", udp(6081, "\x00\x00\x65\x58\x00\x00\x64\x00", true), true},
		{"geneve, options", udp(6081, "\x02\x40\x65\x58\x00\x00\x64\x00\x01\x02\x80\x01data", true), true},
		{"geneve, all options", udp(6081, "\x3f\x00\x65\x58\x00\x00\x64\x00"+strings.Repeat("opts", 63), true), true},
		{"gtp-u", gtp("\x30", ""), true},
		{"gtp-u, sequence", gtp("\x32", "\x00\x01\x00\x00"), true},
		{"gtp-u, extensions", gtp("\x34", "\x00\x00\x00\x85\x01\x10\x09\x40\x02abcdef\x00"), true},
		{"tzsp", udp(37008, "\x01\x00\x00\x01\x00\x0a\x01\x05\x01", true), true},
		{"mpls in udp", udp(6635, "\x00\x01\x01\x40", false), true},
		{"gre", gre("\x00\x00??", false), false},
		{"gre, key", gre("\x20\x00??\x00\x00\x00\x07", false), false},
		{"gre, checksum, key, sequence", gre("\xb0\x00??\x12\x34\x00\x00\x00\x00\x00\x07\x00\x00\x00\x01", false), false},
		{"gre, routing", gre("\x40\x00??\x00\x00\x00\x00\x08\x00\x00\x04\x0a\x00\x00\x01\x00\x00\x00\x00", false), false},
		{"gre, bridged", gre("\x00\x00\x65\x58", true), false},
		{"nvgre", gre("\x20\x00\x65\x58\x00\x10\x01\x07", true), false},
		{"gre, mpls", gre("\x00\x00\x88\x47\x00\x01\x01\x40", false), false},
		{"gre, wccp", gre("\x00\x00\x88\x3e\x00\x00\x00\x00", false), false},
		{"gre, vlan", gre("\x00\x00\x81\x00\x00\x07??", false), false},
		{"pptp", pptp("\x30\x01", "\x00\x00\x00\x01"), false},
		{"pptp, acknowledging", pptp("\x30\x81", "\x00\x00\x00\x01\x00\x00\x00\x01"), false},
		{"erspan I", gre("\x00\x00\x88\xbe", true), false},
		{"erspan II", gre("\x10\x00\x88\xbe\x00\x00\x00\x01\x10\x64\x00\x01\x00\x00\x00\x00", true), false},
		{"erspan III", gre("\x10\x00\x22\xeb\x00\x00\x00\x01\x20\x64\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00", true), false},
		{"erspan III, platform", gre("\x10\x00\x22\xeb\x00\x00\x00\x01\x20\x64\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01platform", true), false},
		{"ip in ipv4", inIP(false), false},
		{"ip in ipv6", inIP(true), false},
		{"mpls in ip", func(t testing.TB, ip []byte) *capture.Packet {
			return behind(101, "", overIP(t, false, layers.IPProtocolMPLSInIP, join("\x00\x01\x01\x40", ip)))
		}, false},
		{"etherip", func(t testing.TB, ip []byte) *capture.Packet {
			return behind(101, "", overIP(t, true, layers.IPProtocolEtherIP, join("\x30\x00", frameOf(ip))))
		}, false},
		{"ah", func(t testing.TB, ip []byte) *capture.Packet {
			header := "\x04\x04\x00\x00" + strings.Repeat("a", 20)
			if ip[0]>>4 == 6 {
				header = "\x29" + header[1:]
			}
			return behind(101, "", overIP(t, false, layers.IPProtocolAH, join(header, ip)))
		}, false},
		{"mpls multicast", link(1, hdrMACs+"\x88\x48\x00\x01\x01\x40"), false},
		{"pseudowire", link(1, hdrMACs+"\x88\x47\x00\x02\x01\x40"+hdrMACs+"??"), true},
		{"pseudowire, control word", link(1, hdrMACs+"\x88\x47\x00\x01\x00\x40\x00\x03\x01\x40\x00\x00\x00\x00"+hdrMACs+"??"), true},
		{"pseudowire, address like IPv4", link(1, hdrMACs+"\x88\x47\x00\x02\x01\x40\x44"+hdrMACs[1:]+"??"), true},
		{"pseudowire, address like IPv6", link(1, hdrMACs+"\x88\x47\x00\x02\x01\x40\x64\x00\x99\x99\x99\x99"+hdrMACs[6:]+"??"), true},
		{"pseudowire, tagged", link(1, hdrMACs+"\x88\x47\x00\x03\x01\x40\x00\x00\x00\x00"+hdrMACs+"\x81\x00\x00\x07??"), true},
		{"macsec in the clear", func(t testing.TB, ip []byte) *capture.Packet {
			return behind(1, hdrMACs+"\x88\xe5\x20\x00\x00\x00\x00\x01chan\x00\x00\x00\x01"+etherOf(ip), append(ip[:len(ip):len(ip)], "integrity check."...))
		}, false},
		{"provider backbone", link(1, hdrMACs+"\x88\xa8\x00\x07\x88\xe7\x00\x00\x00\x01"+hdrMACs+"??"), false},
		{"pppoe", func(t testing.TB, ip []byte) *capture.Packet {
			kind := map[byte]string{4: "\x00\x21", 6: "\x00\x57"}[ip[0]>>4]
			n := len(ip) + 2
			return behind(1, hdrMACs+"\x88\x64\x11\x00\x00\x07"+string([]byte{byte(n >> 8), byte(n)})+kind, ip)
		}, false},
		{"vxlan, tagged", func(t testing.TB, ip []byte) *capture.Packet {
			return behind(1, hdrMACs+"\x81\x00\x00\x05\x08\x00", overUDP(t, 4789, join("\x08\x00\x00\x00\x00\x00\x64\x00"+hdrMACs+"\x81\x00\x00\x07"+etherOf(ip), ip)))
		}, true},
		{"geneve, IP", func(t testing.TB, ip []byte) *capture.Packet {
			return behind(1, hdrEther4, overUDP(t, 6081, join("\x00\x00"+etherOf(ip)+"\x00\x00\x64\x00", ip)))
		}, true},
		{"ppi", link(capture.LinkPPI, "\x00\x00\x08\x00\x01\x00\x00\x00"+hdrMACs+"??"), false},
		{"vn-tag", link(1, hdrMACs+"\x89\x26\x00\x00\x00\x00??"), false},
		{"e-tag", link(1, hdrMACs+"\x89\x3f\x00\x00\x00\x00\x00\x00??"), false},
		{"frame relay", link(capture.LinkFrameRelay, "\x18\x41\x03\x00\x80\x00\x00\x00??"), false},
		{"frame relay, Cisco", link(capture.LinkFrameRelay, "\x18\x41??"), false},
		{"atm", link(capture.LinkATM1483, "\xaa\xaa\x03\x00\x00\x00??"), false},
		{"enc", func(t testing.TB, ip []byte) *capture.Packet {
			family := map[byte]string{4: "\x02", 6: "\x18"}[ip[0]>>4]
			return behind(capture.LinkEnc, family+"\x00\x00\x00\x00\x00\x12\x34\x00\x00\x00\x00", ip)
		}, false},
		{"mpls link", link(capture.LinkMPLS, "\x00\x01\x01\x40"), false},
		{"ppp with direction", func(t testing.TB, ip []byte) *capture.Packet {
			kind := map[byte]string{4: "\x00\x21", 6: "\x00\x57"}[ip[0]>>4]
			return behind(capture.LinkPPPWithDir, "\x01\xff\x03"+kind, ip)
		}, false},
		{"hdlc with direction", link(capture.LinkCHDLCWithDir, "\x00\x0f\x00??"), false},
		{"netanalyzer", link(capture.LinkNetAnalyzer, "\x00\x00\x00\x00"+hdrMACs+"??"), false},
		{"nflog, little-endian", nflog(false, true), false},
		{"nflog, big-endian", nflog(true, true), false},
		{"nflog, bridge", nflog(false, false), false},
	}
}

// nflog makes records as Linux does, in either byte order; of a bridge's packets the family says nothing.
func nflog(big, family bool) func(testing.TB, []byte) *capture.Packet {
	return func(t testing.TB, ip []byte) *capture.Packet {
		record := func(kind int, value string) string {
			n := 4 + len(value)
			head := []byte{byte(n), byte(n >> 8), byte(kind), 0}
			if big {
				head = []byte{byte(n >> 8), byte(n), 0, byte(kind)}
			}
			return string(head) + value + strings.Repeat("\x00", -n&3)
		}
		header := "\x07\x00\x00\x05"
		if family {
			header = map[byte]string{4: "\x02", 6: "\x0a"}[ip[0]>>4] + header[1:]
		}
		header += record(1, etherOf(ip)+"\x03\x00") + record(10, "prefix\x00") + record(5, "\x00\x00\x00\x02")
		return behind(capture.LinkNFLog, header+record(9, string(ip)), nil)
	}
}

// tunnelSamples are packets in each tunnel.
func tunnelSamples(t testing.TB) []sample {
	var all []sample
	for _, c := range tunnels() {
		all = append(all, sample{c.name + " ipv4", c.wrap(t, ip4(t, 50)), 50}, sample{c.name + " ipv6", c.wrap(t, ip6(t, 50)), 50})
	}
	return all
}

// realPackets are the IP packets of a recorded conversation over the loopback interface.
func realPackets(t testing.TB, name string) [][]byte {
	f, err := capture.Open([]string{"../../../testdata/captures/" + name}, capture.Options{})
	require.NoError(t, err)
	defer f.Close()
	var all [][]byte
	var p capture.Packet
	for {
		err := f.Next(&p)
		if err == io.EOF {
			require.NotEmpty(t, all)
			return all
		}
		require.NoError(t, err)
		require.Equal(t, capture.LinkEthernet, p.Link)
		all = append(all, append([]byte{}, p.Data[14:]...))
	}
}

// A recorded conversation is the same in every tunnel, and in every tunnel in every other: only headers are added.
func TestRealPacketsInTunnels(t *testing.T) {
	for _, name := range []string{"bid-plain.pcap", "bid-ipv6.pcap"} {
		packets := realPackets(t, name)
		for _, c := range tunnels() {
			var d Decoder
			for i, ip := range packets {
				if i%7 != 0 && i > 50 {
					continue
				}
				if len(ip) > 60000 {
					continue // no room for a header
				}
				var plain, s Segment
				require.Equal(t, TCP, d.Decode(behind(101, "", ip), &plain))
				p := c.wrap(t, ip)
				added := p.WireLen - len(ip)
				if strings.HasPrefix(c.name, "macsec") {
					assert.Equal(t, 16, decodeTCP(t, &d, p, &s).Padding)
					s.Padding = 0
				} else if strings.HasPrefix(c.name, "nflog") {
					assert.Equal(t, -len(ip)&3, decodeTCP(t, &d, p, &s).Padding)
					s.Padding = 0
				} else {
					decodeTCP(t, &d, p, &s)
				}
				require.Equal(t, plain, s, "%s packet %d", c.name, i)
				require.Positive(t, added)

				// Behind an Ethernet frame's padding, and cut by a snap length.
				padded := *p
				padded.Data, padded.WireLen = append(p.Data[:len(p.Data):len(p.Data)], "pad"...), p.WireLen+3
				behindIt := s.Padding
				if decodeTCP(t, &d, &padded, &s).Padding != 3+behindIt && !strings.HasPrefix(c.name, "macsec") && !strings.HasPrefix(c.name, "nflog") {
					t.Fatalf("%s: padding of %d", c.name, s.Padding)
				}
				require.Equal(t, plain.PayloadLen, s.PayloadLen, c.name)
			}
		}
	}
}

func decodeTCP(t testing.TB, d *Decoder, p *capture.Packet, s *Segment) *Segment {
	require.Equal(t, TCP, d.Decode(p, s))
	require.Equal(t, "TCP", d.Protocol())
	return s
}

// Tunnels in tunnels, up to a bound.
func TestNesting(t *testing.T) {
	gre := func(ip []byte) []byte {
		return overIP(t, false, layers.IPProtocolGRE, join("\x00\x00"+etherOf(ip), ip))
	}
	vxlan := func(ip []byte) []byte {
		return overUDP(t, 4789, join("\x08\x00\x00\x00\x00\x00\x64\x00", frameOf(ip)))
	}
	for _, wrap := range []func([]byte) []byte{gre, vxlan} {
		ip := ip6(t, 50)
		for n := range maxNesting + 2 {
			var d Decoder
			var s Segment
			v := d.Decode(behind(1, hdrEther4, append(ip, 1, 2, 3)), &s)
			if n == 0 {
				v = d.Decode(behind(1, hdrEther6, append(ip, 1, 2, 3)), &s)
			}
			if n <= maxNesting {
				require.Equal(t, TCP, v, n)
				assert.Equal(t, []byte(body(50)), s.Payload)
				assert.Equal(t, 3, s.Padding)
			} else {
				require.NotEqual(t, TCP, v, n)
			}
			ip = wrap(ip)
		}
	}
}

// What is known by a port or pattern only, and is not TCP inside, is what it was without it.
func TestTunnelsOfOtherThings(t *testing.T) {
	icmp := ip4(t, 50)
	icmp[9] = 1
	for _, c := range tunnels() {
		var d Decoder
		var s Segment
		require.Equal(t, NotTCP, d.Decode(c.wrap(t, icmp), &s), c.name)
		switch {
		case !c.guessed:
			assert.Equal(t, "ICMP", d.Protocol(), c.name)
		case strings.HasPrefix(c.name, "pseudowire"):
			assert.Equal(t, "Ethernet type 0x8847", d.Protocol(), c.name)
		default:
			assert.Equal(t, "UDP", d.Protocol(), c.name)
		}
		for _, v := range []byte{0x00, 0x50, 0xff} { // no IP at all
			junk := c.wrap(t, ip4(t, 50))
			at := strings.Index(string(junk.Data), string(ip4(t, 50)))
			for i := at; i < len(junk.Data); i++ {
				junk.Data[i] = v
			}
			v := d.Decode(junk, &s)
			require.NotEqual(t, TCP, v, c.name)
			if c.guessed {
				assert.Equal(t, NotTCP, v, c.name)
			}
		}
	}
}

// Headers of tunnels that are not in order: the packet is what it is without them.
func TestTunnelHeaders(t *testing.T) {
	frame, ip := frameOf(ip4(t, 50)), ip4(t, 50)
	udp := func(port uint16, b []byte) *capture.Packet { return behind(1, hdrEther4, overUDP(t, port, b)) }
	gre := func(header string, b []byte) *capture.Packet {
		return behind(1, hdrEther4, overIP(t, false, layers.IPProtocolGRE, join(header, b)))
	}
	for _, c := range []struct {
		name     string
		p        *capture.Packet
		protocol string
	}{
		{"another port", udp(4788, join("\x08\x00\x00\x00\x00\x00\x64\x00", frame)), "UDP"},
		{"vxlan without I", udp(4789, join("\x00\x00\x00\x00\x00\x00\x64\x00", frame)), "UDP"},
		{"vxlan, reserved at the end", udp(4789, join("\x08\x00\x00\x00\x00\x00\x64\x01", frame)), "UDP"},
		{"vxlan, reserved flags", udp(4789, join("\x08\x01\x00\x00\x00\x00\x64\x00", frame)), "UDP"},
		{"vxlan-gpe of another protocol", udp(4790, join("\x0c\x00\x00\x04\x00\x00\x64\x00", frame)), "UDP"},
		{"vxlan, no frame", udp(4789, []byte("\x08\x00\x00\x00\x00\x00\x64\x00")), "UDP"},
		{"udp, nothing in it", udp(4789, nil), "UDP"},
		{"geneve version 1", udp(6081, join("\x40\x00\x65\x58\x00\x00\x64\x00", frame)), "UDP"},
		{"geneve, reserved", udp(6081, join("\x00\x01\x65\x58\x00\x00\x64\x00", frame)), "UDP"},
		{"geneve, reserved at the end", udp(6081, join("\x00\x00\x65\x58\x00\x00\x64\x01", frame)), "UDP"},
		{"geneve of no Ethernet type", udp(6081, join("\x00\x00\x00\x58\x00\x00\x64\x00", frame)), "UDP"},
		{"geneve, options behind the end", udp(6081, []byte("\x3f\x00\x65\x58\x00\x00\x64\x00")), "UDP"},
		{"gtp, an echo", udp(2152, join("\x32\x01\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00", ip)), "UDP"},
		{"gtp, an extension without length", udp(2152, join("\x34\xff\x00\x68\x00\x00\x00\x00\x00\x00\x00\x85\x00", ip)), "UDP"},
		{"tzsp keepalive", udp(37008, join("\x01\x04\x00\x01\x01", frame)), "UDP"},
		{"tzsp without end", udp(37008, []byte("\x01\x00\x00\x01\x0a\x01\x05")), "UDP"},
		{"gre version 2", gre("\x00\x02\x08\x00", ip), "GRE"},
		{"gre, unused flags", gre("\x00\x08\x08\x00", ip), "GRE"},
		{"gre of something", gre("\x00\x00\x12\x34", ip), "GRE"},
		{"pptp, an acknowledgement", gre("\x20\x81\x88\x0b\x00\x00\x00\x07\x00\x00\x00\x01", nil), "GRE"},
		{"erspan of another version", gre("\x10\x00\x22\xeb\x00\x00\x00\x01\x30\x64\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00", frame), "GRE"},
		{"macsec, encrypted", behind(1, hdrMACs+"\x88\xe5\x2c\x00\x00\x00\x00\x01chan\x00\x00\x00\x01\x08\x00", ip), "Ethernet type 0x88e5"},
		{"etherip of another version", behind(101, "", overIP(t, false, layers.IPProtocolEtherIP, join("\x20\x00", frame))), "IP protocol 97"},
		{"esp", behind(101, "", overIP(t, false, layers.IPProtocolESP, ip)), "ESP"},
		{"nflog without a packet", behind(capture.LinkNFLog, "\x02\x00\x00\x05\x08\x00\x01\x00\x08\x00\x03\x00", nil), ""},
	} {
		var d Decoder
		var s Segment
		assert.Equal(t, NotTCP, d.Decode(c.p, &s), c.name)
		name := d.Protocol()
		if c.name == "gre of something" {
			assert.Equal(t, "GRE", name)
			continue
		}
		assert.Equal(t, c.protocol, name, c.name)
	}
	var d Decoder
	var s Segment
	assert.Equal(t, Malformed, d.Decode(behind(capture.LinkNFLog, "\x02\x00\x00\x05\x03\x00\x03\x00", nil), &s))
}
