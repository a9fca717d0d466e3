package filter

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"

	"dubbo-wire/internal/capture"
)

// recorded are captures of the project that have something to tell apart; of each the
// first packets.
var recorded = []string{
	"bid-plain.pcap", "bid-ipv6.pcap", "any-doubles-cooked1.pcap.gz", "bid-cooked1.pcap.gz", "bid-cooked2.pcap.zst", "any-doubles.pcap.zst",
	"fragments-v4.pcap.zst", "fragments-v6.pcap.zst", "fragments-vxlan.pcap.zst", "tags-mpls.pcap.zst", "tags-qinq.pcap.zst",
	"tags-vlan.pcap.zst", "tags-pseudowire.pcap.zst", "tunnel-4in4.pcap.zst", "tunnel-6in4.pcap.zst", "tunnel-gre.pcap.zst",
	"tunnel-gre-ip.pcap.zst", "tunnel-vxlan.pcap.zst", "tunnel-geneve.pcap.zst", "tunnel-erspan3.pcap.zst", "snap200.pcap.zst", "offload.pcap.zst",
}

const captures = "../../../testdata/captures/"

// packetsOf are the packets of a link type: recorded ones and made ones, none cut.
func packetsOf(t *testing.T, link capture.LinkType) []seen {
	t.Helper()
	var out []seen
	for _, name := range recorded {
		f, err := capture.Open([]string{captures + name}, capture.Options{})
		require.NoError(t, err)
		for n := 0; n < 60; n++ {
			var p capture.Packet
			if err := f.Next(&p); errors.Is(err, io.EOF) {
				break
			} else {
				require.NoError(t, err)
			}
			if p.Link == link {
				out = append(out, seen{data: bytes.Clone(p.Data), length: p.WireLen})
			}
		}
		require.NoError(t, f.Close())
	}
	r := rand.New(rand.NewPCG(9, uint64(link)))
	for range 1200 {
		data, _ := synthFrame(r, link, false)
		out = append(out, seen{data: data, length: len(data)})
	}
	return out
}

// writePcap writes packets, each at a second of its own by which it is known.
func writePcap(t *testing.T, link capture.LinkType, packets []seen) string {
	t.Helper()
	b := pcapHeader(link)
	for i, p := range packets {
		for _, v := range []int{i, 0, len(p.data), p.length} {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
		b = append(b, p.data...)
	}
	name := filepath.Join(t.TempDir(), "packets.pcap")
	require.NoError(t, os.WriteFile(name, b, 0o644))
	return name
}

// tcpdumpPasses is which packets of a file tcpdump lets through. ok is false where it
// refuses the expression.
func tcpdumpPasses(t *testing.T, name, expr string, n int) (passes []bool, ok bool) {
	t.Helper()
	cmd := exec.Command("tcpdump", "-r", name, "-w", "-", "--", expr)
	out, err := cmd.Output()
	passes = make([]bool, n)
	if err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		return passes, bytes.Contains(exit.Stderr, []byte("rejects all packets"))
	}
	for at := 24; at < len(out); {
		passes[binary.LittleEndian.Uint32(out[at:])] = true
		at += 16 + int(binary.LittleEndian.Uint32(out[at+8:]))
	}
	return passes, true
}

// TestTableAgainstTcpdump lets tcpdump and our programs read the same files.
func TestTableAgainstTcpdump(t *testing.T) {
	needTcpdump(t)
	for _, link := range []capture.LinkType{capture.LinkEthernet, capture.LinkLinuxSLL, capture.LinkLinuxSLL2, capture.LinkRaw, capture.LinkIPv4, capture.LinkIPv6} {
		t.Run(link.String(), func(t *testing.T) {
			t.Parallel()
			packets := packetsOf(t, link)
			name := writePcap(t, link, packets)
			compared, some := 0, 0
			for i, expr := range table {
				if testing.Short() && i%4 != 0 {
					continue
				}
				all := []string{expr}
				if link == capture.LinkEthernet && !testing.Short() {
					other := table[(i*7+3)%len(table)]
					all = append(all, "not ("+expr+")", "("+expr+") and not ("+other+")", expr+" or "+other)
				}
				for _, e := range all {
					want, ok := tcpdumpPasses(t, name, e, len(packets))
					prog, err := Compile(e, Target{Link: link})
					if !ok {
						assert.Error(t, err, e)
						continue
					}
					if err != nil {
						assert.ErrorContains(t, err, "matches no packet", e)
						prog = rejectAll
					}
					compared++
					wrong, passed := 0, 0
					for i := range packets {
						got, _ := run(prog, &packets[i])
						if want[i] {
							passed++
						}
						if (got != 0) != want[i] {
							if wrong++; wrong == 1 {
								t.Errorf("%s: tcpdump says %v of packet %d: % x", e, want[i], i, packets[i].data)
							}
						}
					}
					if passed > 0 && passed < len(packets) {
						some++
					}
				}
			}
			t.Logf("%d expressions on %d packets; %d pass some and keep some back", compared, len(packets), some)
			assert.Greater(t, some, compared/4)
		})
	}
}

// TestRefusedAsByTcpdump has what tcpdump refuses, too.
func TestRefusedAsByTcpdump(t *testing.T) {
	o := fileOracle(t, capture.LinkEthernet)
	for _, expr := range []string{
		"10.0.0.7", "80", "tcp and 80", "port", "host", "tcp udp", "tcp and", "and tcp", "tcp or or udp", "not", "()", "(tcp", "tcp)", "port 80 443", "port 80,443", "port 65536",
		"host 10.0.0.7/8", "net 10.0.0.1/8", "net 10.0.0.0/33", "net 10.0.0.0/255.0.0.0", "host 10.0.0.256", "host 10.0.0.7 10.1.2.3", "port 10.0.0.7", "ip6 host 10.0.0.7", "ip host ::1", "tcp host 10.0.0.7",
		"icmp port 80", "arp port 80", "host 02:00:00:00:00:01", "ether host 10.0.0.7", "ether port 80", "ip proto tcp", "proto tcp", "tcp proto 6", "src tcp", "tcp[0]", "tcp[0] =", "tcp[0:3] = 1",
		"tcp[0] = 1 = 1", "tcp = 1", "ip[ = 1", "1 / 0 = 1", "1 % 0 = 1", "1 << 32 = 1", "vlan 4096", "vlan tcp", "mpls and arp", "mpls and vlan", "mpls 1048576", "pppoes 65536", "arp multicast", "port 80 and (tcp or 443)",
		"less", "less tcp", "greater -1", "inbound", "outbound", "ifindex 1", "(80 or tcp)", "port (80 or tcp)", "port 80 and (81 or tcp)", "TCP", "Host 10.0.0.7", "host 10.0.0.7 && ", "tcp & udp", "tcp | udp", "port 1-2",
		"portrange 1-70000", "ether proto tcp", "ip src port 80", "udp net 10", "net 10.0.0.0 mask 8", "net 10.0.0.1 mask 255.0.0.0", "ip6 net 2001:db8::1/32", "host 2001:db8::/32", "ah[0] = 1", "stp[0] = 1", "tcp[-100] = ", "1 = 2 and",
		"link", "ether", "host 1:2", "ether host 1:2:3:4:5", "src src 10.0.0.7", "src or port 80", "mask 255.0.0.0", "port http-alt-nonsense", "5-3 = 2", "ip[1-1] = 69", "len = 0x1ffffffff", "port 09", "byte 0", "byte 0 + 1",
	} {
		_, theirs := o.program(expr)
		_, ours := Compile(expr, Target{Link: capture.LinkEthernet})
		assert.Error(t, theirs, "tcpdump takes %s", expr)
		assert.Error(t, ours, "we take %s", expr)
	}
}

// TestVM runs our programs in the interpreter of golang.org/x/net/bpf, too.
func TestVM(t *testing.T) {
	packets := packetsOf(t, capture.LinkEthernet)
	for _, expr := range table {
		prog, err := Compile(expr, Target{Link: capture.LinkEthernet})
		if err != nil {
			continue
		}
		all, decoded := bpf.Disassemble(prog)
		require.True(t, decoded, expr)
		if slices.Contains(all, bpf.Instruction(bpf.NegateA{})) {
			continue // it has none
		}
		vm, err := bpf.NewVM(all)
		require.NoError(t, err, expr)
		for i := range packets {
			whole := seen{data: packets[i].data, length: len(packets[i].data)}
			got, err := vm.Run(whole.data)
			require.NoError(t, err, expr)
			want, _ := run(prog, &whole)
			require.Equal(t, int(want), got, "%s, packet %d", expr, i)
		}
	}
}

// TestCutAnywhere cuts packets to every length: the programs still say what libpcap's
// say.
func TestCutAnywhere(t *testing.T) {
	o := fileOracle(t, capture.LinkEthernet)
	r := rand.New(rand.NewPCG(4, 4))
	var frames []frame
	for range 40 {
		data, _ := synthFrame(r, capture.LinkEthernet, false)
		for n := range data {
			p := seen{data: data[:n], length: len(data)}
			frames = append(frames, frame{p, p})
		}
	}
	for range 300 {
		p := seen{data: bytesOf(r, r.IntN(120))}
		p.length = len(p.data)
		frames = append(frames, frame{p, p})
	}
	for _, expr := range table {
		ours, err := Compile(expr, Target{Link: capture.LinkEthernet})
		if err != nil {
			ours = rejectAll
		}
		theirs, err := o.program(expr, "-O")
		require.NoError(t, err, expr)
		if i, bad := difference(ours, theirs, frames); bad {
			t.Errorf("%s differs on % x", expr, frames[i].ours.data)
		}
	}
}
