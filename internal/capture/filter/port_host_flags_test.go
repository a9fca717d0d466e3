package filter

import (
	"errors"
	"io"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
)

// TestFlagsKeepAllSegments reads the project's captures: no packet that is decoded to a
// segment of a port or host is kept back by the filter for it, whatever lies between.
// On captures without tunnels and fragments nothing else gets through.
func TestFlagsKeepAllSegments(t *testing.T) {
	names, err := filepath.Glob(captures + "*.pcap*")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	type filters struct {
		port [65536][]bpf.RawInstruction
		host map[netip.Addr][]bpf.RawInstruction
	}
	byLink := map[capture.LinkType]*filters{}
	plain := map[string]bool{"bid-plain.pcap": true, "bid-ipv6.pcap": true, "tags-vlan.pcap.zst": true, "tags-qinq.pcap.zst": true, "hessian2.pcap.zst": true, "bid-cooked2.pcap.zst": true}
	segments, others := 0, 0
	for _, name := range names {
		f, err := capture.Open([]string{name}, capture.Options{})
		require.NoError(t, err)
		var d packet.Decoder
		for n := 0; n < 400; n++ {
			var p capture.Packet
			if err := f.Next(&p); errors.Is(err, io.EOF) {
				break
			} else {
				require.NoError(t, err)
			}
			var s packet.Segment
			verdict := d.Decode(&p, &s)
			have := byLink[p.Link]
			if have == nil {
				have = &filters{host: map[netip.Addr][]bpf.RawInstruction{}}
				if _, err := Ports([]uint16{1}).Compile(Target{Link: p.Link}); err != nil {
					break // a link type that has no filters
				}
				byLink[p.Link] = have
			}
			in := testPacket(&p)
			if verdict == packet.Held { // a fragment of what may have the port
				if have.port[9] == nil {
					have.port[9] = compiled(t, Ports([]uint16{9, 10}), p.Link)
				}
				got, _ := run(have.port[9], in)
				require.NotZero(t, got, "%s: packet %d", name, p.Number)
			}
			if verdict == packet.TCP {
				segments++
				for _, e := range []packet.Endpoint{s.Src, s.Dst} {
					if have.port[e.Port] == nil {
						have.port[e.Port] = compiled(t, Ports([]uint16{e.Port, 7}), p.Link)
					}
					got, _ := run(have.port[e.Port], in)
					require.NotZero(t, got, "%s: packet %d, port %d", name, p.Number, e.Port)
					addr := e.Addr()
					if have.host[addr] == nil {
						have.host[addr] = compiled(t, Hosts([]netip.Addr{addr, netip.MustParseAddr("192.0.2.1")}), p.Link)
					}
					got, _ = run(have.host[addr], in)
					require.NotZero(t, got, "%s: packet %d, host %s", name, p.Number, addr)
				}
			}
			if plain[filepath.Base(name)] && verdict == packet.TCP {
				others++
				if have.port[9] == nil {
					have.port[9] = compiled(t, Ports([]uint16{9, 10}), p.Link)
				}
				got, _ := run(have.port[9], in)
				require.Zero(t, got, "%s: packet %d", name, p.Number)
				other := netip.MustParseAddr("192.0.2.9")
				if have.host[other] == nil {
					have.host[other] = compiled(t, Hosts([]netip.Addr{other, netip.MustParseAddr("2001:db8:ffff::9")}), p.Link)
				}
				got, _ = run(have.host[other], in)
				require.Zero(t, got, "%s: packet %d", name, p.Number)
			}
		}
		require.NoError(t, f.Close())
	}
	t.Logf("%d segments of %d captures get through, %d others are kept back", segments, len(names), others)
	assert.Greater(t, segments, 5000)
	assert.Greater(t, others, 500)
}

// TestFlagsInKernel does it with the program for a packet socket, which does not see
// the outermost tag or a cooked header.
func TestFlagsInKernel(t *testing.T) {
	for _, name := range []string{"bid-plain.pcap", "tags-vlan.pcap.zst", "tags-qinq.pcap.zst", "tunnel-vxlan.pcap.zst", "bid-cooked2.pcap.zst", "any-doubles-cooked1.pcap.gz"} {
		f, err := capture.Open([]string{captures + name}, capture.Options{})
		require.NoError(t, err)
		var d packet.Decoder
		for {
			var p capture.Packet
			if err := f.Next(&p); errors.Is(err, io.EOF) {
				break
			} else {
				require.NoError(t, err)
			}
			var s packet.Segment
			if d.Decode(&p, &s) != packet.TCP {
				continue
			}
			in := testPacket(&p)
			in.ancillary = true
			switch p.Link {
			case capture.LinkEthernet:
				if in.data[12] == 0x81 {
					in.data = cat(in.data[:12], in.data[16:])
				}
			case capture.LinkLinuxSLL2:
				in.protocol, in.data = uint32(in.data[0])<<8|uint32(in.data[1]), in.data[20:]
			case capture.LinkLinuxSLL:
				in.protocol, in.data = uint32(in.data[14])<<8|uint32(in.data[15]), in.data[16:]
			}
			for _, e := range []*Expr{Ports([]uint16{s.Dst.Port}), Hosts([]netip.Addr{s.Src.Addr()})} {
				prog, err := And(e, And(Ports([]uint16{s.Src.Port}), &Expr{})).Compile(Target{Link: p.Link, Kernel: true})
				require.NoError(t, err)
				got, _ := run(prog, in)
				require.NotZero(t, got, "%s: packet %d, %s", name, p.Number, e)
			}
		}
		require.NoError(t, f.Close())
	}
}

func compiled(t *testing.T, e *Expr, link capture.LinkType) []bpf.RawInstruction {
	t.Helper()
	prog, err := e.Compile(Target{Link: link})
	require.NoError(t, err)
	require.NoError(t, Check(prog))
	return prog
}

func TestFlagsOnTheRest(t *testing.T) {
	eth := func(kind uint16, data []byte) *seen { return &seen{data: cat(make([]byte, 12), be16(kind), data)} }
	ipv4 := func(proto byte, fragment uint16, body []byte) []byte {
		return cat([]byte{0x45, 0}, be16(uint16(20+len(body)), 1, fragment), []byte{64, proto, 0, 0, 10, 0, 0, 7, 10, 1, 2, 3}, body)
	}
	ipv6 := func(next byte, body []byte) []byte {
		return cat([]byte{0x60, 0, 0, 0}, be16(uint16(len(body))), []byte{next, 64}, netip.MustParseAddr("2001:db8::1").AsSlice(), netip.MustParseAddr("2001:db8::2").AsSlice(), body)
	}
	tcp := func(src, dst uint16) []byte { return cat(be16(src, dst), make([]byte, 16)) }
	for _, c := range []struct {
		name       string
		p          *seen
		port, host bool
	}{
		{"another port, the host", eth(etherIPv4, ipv4(ipTCP, 0, tcp(1, 2))), false, true},
		{"the port", eth(etherIPv4, ipv4(ipTCP, 0, tcp(1, 20880))), true, true},
		{"a first fragment", eth(etherIPv4, ipv4(ipTCP, 0x2000, tcp(1, 2))), true, true},
		{"a later fragment", eth(etherIPv4, ipv4(ipTCP, 0x0010, tcp(1, 2))), true, true},
		{"do not fragment", eth(etherIPv4, ipv4(ipTCP, 0x4000, tcp(1, 2))), false, true},
		{"UDP", eth(etherIPv4, ipv4(ipUDP, 0, tcp(20880, 20880))), false, false},
		{"VXLAN", eth(etherIPv4, ipv4(ipUDP, 0, tcp(20880, 4789))), true, true},
		{"a fragment of UDP", eth(etherIPv4, ipv4(ipUDP, 0x0010, tcp(20880, 2))), true, true},
		{"ICMP", eth(etherIPv4, ipv4(ipICMP, 0, tcp(20880, 2))), false, false},
		{"GRE", eth(etherIPv4, ipv4(47, 0, tcp(1, 2))), true, true},
		{"IPv4 in IPv4", eth(etherIPv4, ipv4(4, 0, tcp(1, 2))), true, true},
		{"ESP", eth(etherIPv4, ipv4(50, 0, tcp(1, 2))), true, true},
		{"IPv6, another port and host", eth(etherIPv6, ipv6(ipTCP, tcp(1, 2))), false, false},
		{"IPv6, the port", eth(etherIPv6, ipv6(ipTCP, tcp(20880, 2))), true, false},
		{"IPv6 with a header between", eth(etherIPv6, ipv6(0, tcp(1, 2))), true, true},
		{"IPv6 fragment", eth(etherIPv6, ipv6(ipFragment, tcp(1, 2))), true, true},
		{"IPv6 UDP", eth(etherIPv6, ipv6(ipUDP, tcp(20880, 2))), false, false},
		{"IPv6 GENEVE", eth(etherIPv6, ipv6(ipUDP, tcp(1, 6081))), true, true},
		{"ICMPv6", eth(etherIPv6, ipv6(ipICMP6, tcp(1, 2))), false, false},
		{"ARP", eth(etherARP, make([]byte, 28)), false, false},
		{"MPLS", eth(etherMPLS, make([]byte, 28)), true, true},
		{"PPPoE", eth(etherPPPoES, make([]byte, 28)), true, true},
		{"MACsec", eth(0x88e5, make([]byte, 28)), true, true},
		{"a tag, another port", eth(etherVLAN, cat(be16(5, etherIPv4), ipv4(ipTCP, 0, tcp(1, 2)))), false, true},
		{"two tags, the port", eth(etherQinQ, cat(be16(5, etherVLAN, 6, etherIPv4), ipv4(ipTCP, 0, tcp(20880, 2)))), true, true},
		{"two tags, another port", eth(etherQinQ, cat(be16(5, etherVLAN, 6, etherIPv4), ipv4(ipTCP, 0, tcp(1, 2)))), false, true},
		{"three tags", eth(etherQinQ, cat(be16(5, etherVLAN, 6, etherVLAN, 7, etherIPv4), ipv4(ipTCP, 0, tcp(1, 2)))), true, true},
	} {
		ports := compiled(t, Ports([]uint16{20880, 20881}), capture.LinkEthernet)
		hosts := compiled(t, Hosts([]netip.Addr{netip.MustParseAddr("::ffff:10.0.0.7"), netip.MustParseAddr("2001:db8::77")}), capture.LinkEthernet)
		got, _ := run(ports, c.p)
		assert.Equal(t, c.port, got != 0, "ports: %s", c.name)
		got, _ = run(hosts, c.p)
		assert.Equal(t, c.host, got != 0, "hosts: %s", c.name)
	}
}

func testPacket(p *capture.Packet) *seen {
	return &seen{data: append([]byte(nil), p.Data...), length: p.WireLen}
}

// TestFlagsWithMany has more ports and hosts than a program has room for: more gets
// through then, never less.
func TestFlagsWithMany(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, n := range []int{1, 2, 39, 40, 41, 42, 500, 5000} {
		var ports []uint16
		want := map[uint16]bool{}
		for range n {
			p := uint16(r.Uint32())
			ports = append(ports, p)
			want[p] = true
		}
		in := ranges(ports)
		assert.LessOrEqual(t, len(in), maxPortRanges)
		for p := range 65536 {
			covered := slices.ContainsFunc(in, func(s span) bool { return s.lo <= uint16(p) && uint16(p) <= s.hi })
			if want[uint16(p)] {
				require.True(t, covered, p)
			} else if n < maxPortRanges {
				require.False(t, covered, p)
			}
		}
		prog := compiled(t, Ports(ports), capture.LinkEthernet)
		assert.Less(t, len(prog), 2000)
	}
	assert.Equal(t, []span{{0, 1}, {65534, 65535}}, ranges([]uint16{65535, 1, 0, 65534, 1}))
	var hosts []netip.Addr
	for i := range 300 {
		hosts = append(hosts, netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), netip.AddrFrom16([16]byte{0x20, 1, 14: byte(i >> 8), 15: byte(i)}))
	}
	assert.Less(t, len(compiled(t, Hosts(hosts), capture.LinkEthernet)), 2000)
	assert.Less(t, len(compiled(t, Hosts(hosts[:maxHosts]), capture.LinkEthernet)), 2000)
}
