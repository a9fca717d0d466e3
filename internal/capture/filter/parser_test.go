package filter

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/dev/testkit"
)

func TestErrors(t *testing.T) {
	deep := strings.Repeat("(", 200) + "tcp" + strings.Repeat(")", 200)
	for expr, want := range map[string]string{
		"prot 80":                           `column 1: "prot" is not a word of the filter language`,
		"port http":                         `column 6: names of ports are not resolved; write the number of "http"`,
		"tcp and port 80-90":                `column 14: "80-90" is not a port; a range is written "portrange FROM-TO"`,
		"portrange 80-http":                 `column 11: "80-http" is not a range of ports`,
		"host example.com":                  `column 6: names of hosts and networks are not resolved; write the address of "example.com"`,
		"1.2.3.4":                           `column 1: what about 1.2.3.4? write "host 1.2.3.4"`,
		"tcp and 80":                        `column 9: what about 80? write "port 80"`,
		"port 65536":                        `column 6: there is no port 65536`,
		"host 1.2.3.400":                    `column 6: 1.2.3.400 is not an IPv4 address`,
		"host 1.2.3.4/24":                   `column 6: a mask belongs to a network`,
		"net 10.1.2.3/8":                    `column 5: 10.1.2.3 has bits that its mask does not have`,
		"net 10.0.0.0/33":                   `column 5: the mask of 10.0.0.0 is not a number from 0 to 32`,
		"net 10.0.0.0 mask 255.0.0.0.0":     `column 5: the mask of 10.0.0.0 is not a mask like 255.255.0.0`,
		"net 2001:db8::1/32":                `column 5: 2001:db8::1 has bits that its mask does not have`,
		"ip6 host 1.2.3.4":                  `column 10: this is an IPv4 address`,
		"ip host ::1":                       `column 9: ip has no IPv6 addresses`,
		"tcp host 1.2.3.4":                  `column 10: tcp has no hosts`,
		"icmp port 80":                      `column 11: icmp has no ports`,
		"host 01:02:03:04:05:06":            `column 6: 01:02:03:04:05:06 is an Ethernet address`,
		"ether host 1.2.3.4":                `column 12: expected an Ethernet address`,
		"ip protochain 6":                   `column 4: "protochain" is not supported; give the output of tcpdump`,
		"tcp or geneve":                     `column 8: "geneve" is not supported; give the output of tcpdump`,
		"type mgt":                          `column 1: "type" is not supported`,
		"gateway 1.2.3.4":                   `column 1: "gateway" is not supported`,
		"tcp and":                           `column 8: expected an expression, not the end`,
		"(tcp":                              `column 5: expected ")", not the end`,
		"tcp)":                              `column 4: expected "and", "or" or the end, not ")"`,
		"tcp udp":                           `column 5: expected "and", "or" or the end, not "udp"`,
		"tcp[0":                             `column 6: expected "]", not the end`,
		"tcp[0:3] = 1":                      `column 7: a size is 1, 2 or 4 bytes`,
		"tcp[0]":                            `column 7: expected a comparison, not the end`,
		"tcp[0] = ":                         `column 10: expected a number, not the end`,
		"5 / 0 = 1":                         `column 3: division by zero`,
		"tcp[0] << 32 = 1":                  `column 8: shift by more than 31 bits`,
		"tcp[0] / (ip[0] & 0) = 1":          `division by zero`,
		"vlan 4096":                         `column 6: vlan has no number above 4095`,
		"mpls and arp":                      `column 10: inside MPLS only IPv4 and IPv6`,
		"mpls and vlan":                     `column 10: "vlan" cannot follow "mpls"`,
		"ip broadcast":                      `column 1: "ip broadcast" needs the network's mask`,
		"inbound":                           `column 1: "inbound" and "outbound" in a file: not possible with link type ETHERNET`,
		"byte 0 & 1":                        `column 1: "byte" with "&" is not supported; write "ether[0] & NUMBER != 0"`,
		"tcp; rm":                           `column 4: unexpected ';'`,
		"host 2001:db8::1::2":               `column 6: "2001:db8::1::2" is not an address`,
		"port 080":                          `column 6: "080" is not a number of 32 bits`,
		"len > 99999999999":                 `column 7: "99999999999" is not a number of 32 bits`,
		"tcp proto 6":                       `column 11: "tcp proto" means nothing`,
		"ip proto foo":                      `column 10: the protocol "foo" is not known by name; write its number`,
		"tcp and udp":                       `this expression matches no packet`,
		"ether[0 - 1] = 1":                  `column 1: this offset is before the start of the packet`,
		deep:                                `more than 100 levels`,
		strings.Repeat("not ", 200) + "tcp": `more than 100 levels`,
		"host " + strings.Repeat("1 or ", 6500) + "1": `more than 4,096 instructions`,
		strings.Repeat("x", 40000):                    `longer than 32 KiB`,
		manyHosts(1500):                               `more than 4,096 instructions`,
	} {
		_, err := Compile(expr, Target{Link: capture.LinkEthernet})
		if assert.Error(t, err, expr[:min(len(expr), 60)]) {
			assert.Contains(t, err.Error(), want)
			assert.NotContains(t, err.Error(), "\n")
			var e *Error
			assert.ErrorAs(t, err, &e)
		}
	}
}

func manyHosts(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("host 10.%d.%d.1", i>>8, i&255))
	}
	return strings.Join(all, " or ")
}

func TestErrorsOfTargets(t *testing.T) {
	for _, c := range []struct {
		expr string
		t    Target
		want string
	}{
		{"vlan 5", Target{Link: capture.LinkLinuxSLL2, Kernel: true}, `column 1: "vlan": not possible with link type LINUX_SLL2 (several interfaces`},
		{"vlan", Target{Link: capture.LinkRaw}, `"vlan": not possible with link type RAW`},
		{"ether host 1:2:3:4:5:6", Target{Link: capture.LinkLinuxSLL2, Kernel: true}, "an Ethernet address: not possible with link type LINUX_SLL2"},
		{"broadcast", Target{Link: capture.LinkRaw, Kernel: true}, `"broadcast": not possible with link type RAW`},
		{"ether[12:4] = 1", Target{Link: capture.LinkLinuxSLL2, Kernel: true}, "the kernel does not show this byte of the cooked header"},
		{"ether[ip[0]] = 1", Target{Link: capture.LinkLinuxSLL2, Kernel: true}, "the kernel does not show the cooked header"},
		{"ifindex 1", Target{Link: capture.LinkEthernet}, `"ifindex" in a file`},
		{"tcp", Target{Link: capture.LinkRadiotap}, "link type IEEE802_11_RADIOTAP is not supported"},
	} {
		_, err := Compile(c.expr, c.t)
		assert.ErrorContains(t, err, c.want)
	}
}

func TestEverything(t *testing.T) {
	for _, text := range []string{"", "  \n"} {
		prog, err := Compile(text, Target{Link: capture.LinkEthernet, SnapLen: 100})
		require.NoError(t, err)
		assert.Equal(t, []bpf.RawInstruction{{Op: opRet, K: 100}}, prog)
	}
	var none *Expr
	prog, err := none.Compile(Target{Link: capture.LinkEthernet})
	require.NoError(t, err)
	assert.Equal(t, []bpf.RawInstruction{{Op: opRet, K: 262144}}, prog)
}

func TestJoined(t *testing.T) {
	parse := func(s string) *Expr {
		e, err := Parse(s)
		require.NoError(t, err)
		return e
	}
	var in []seen
	r := rand.New(rand.NewPCG(5, 5))
	for range 1500 {
		_, k := synthFrame(r, capture.LinkEthernet, false)
		in = append(in, k)
	}
	target := Target{Link: capture.LinkEthernet, Kernel: true}
	pass := func(e *Expr) []bool {
		prog, err := e.Compile(target)
		require.NoError(t, err)
		require.NoError(t, Check(prog))
		var out []bool
		for i := range in {
			got, _ := run(prog, &in[i])
			out = append(out, got != 0)
		}
		return out
	}
	for _, c := range [][2]string{{"vlan 5", "port 80"}, {"vlan and tcp", "vlan 5"}, {"tcp", "vlan and vlan"}, {"ip[0] = 69", "not vlan"}} {
		a, b := parse(c[0]), parse(c[1])
		x, y := pass(a), pass(b)
		and := pass(And(a, b))
		for i := range in {
			require.Equal(t, x[i] && y[i], and[i], c)
		}
	}
	tcp := parse("tcp")
	assert.Same(t, tcp, And(nil, And(tcp, parse(""))))
}

// TestLong compiles what needs jumps of more than 255 instructions.
func TestLong(t *testing.T) {
	var ports []string
	for i := range 300 {
		ports = append(ports, fmt.Sprint(1000+3*i))
	}
	expr := "(tcp dst port " + strings.Join(ports, " or ") + ") and ip[8] = 64 or arp"
	prog, err := Compile(expr, Target{Link: capture.LinkEthernet})
	require.NoError(t, err)
	require.NoError(t, Check(prog))
	require.Greater(t, len(prog), 300)
	jumps := 0
	for _, r := range prog {
		if r.Op == opJA {
			jumps++
		}
	}
	assert.Positive(t, jumps)
	for p := range 2000 {
		in := &seen{data: cat(make([]byte, 12), be16(etherIPv4), []byte{0x45, 0, 0, 40, 0, 0, 0, 0, 64, ipTCP, 0, 0, 10, 0, 0, 7, 10, 1, 2, 3}, be16(1, uint16(p)), make([]byte, 16))}
		got, _ := run(prog, in)
		assert.Equal(t, p >= 1000 && p < 1900 && (p-1000)%3 == 0, got != 0, p)
	}
	got, _ := run(prog, &seen{data: cat(make([]byte, 12), be16(etherARP))})
	assert.NotZero(t, got)
}

func goldenFrames(link capture.LinkType) []frame {
	r := rand.New(rand.NewPCG(2026, uint64(link)))
	var out []frame
	for range 400 {
		file, kernel := synthFrame(r, link, false)
		p := seen{data: file, length: len(file)}
		out = append(out, frame{p, kernel})
	}
	return out
}

// TestGolden holds programs against what libpcap's let through, without libpcap: a line
// of testdata/golden.txt is a place, an expression and a bit for each packet.
func TestGolden(t *testing.T) {
	name := filepath.Join("testdata", "golden.txt")
	places := map[string]Target{
		"file": {Link: capture.LinkEthernet}, "kernel": {Link: capture.LinkEthernet, Kernel: true}, "any": {Link: capture.LinkLinuxSLL2, Kernel: true},
	}
	if *testkit.Update {
		needTcpdump(t)
		var b strings.Builder
		for _, place := range []string{"file", "kernel", "any"} {
			o := map[string]oracle{"file": fileOracle(t, capture.LinkEthernet), "kernel": {[]string{"-i", "lo"}}, "any": {[]string{"-i", "any"}}}[place]
			lines := strings.Count(b.String(), "\n")
			for i, expr := range table {
				prog, err := o.program(expr, "-O")
				if err != nil || i%2 == 1 && !strings.Contains(expr, "vlan") {
					continue
				}
				if prog, err = Adapt(prog, places[place]); err != nil {
					continue
				}
				fmt.Fprintf(&b, "%s\t%s\t%s\n", place, expr, bits(prog, place, goldenFrames(places[place].Link)))
			}
			require.Greater(t, strings.Count(b.String(), "\n"), lines, "tcpdump compiles nothing for %s: it may need root", place)
		}
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(name, []byte(b.String()), 0o644))
	}
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	require.Greater(t, len(lines), 200)
	expressions := map[string]int{}
	for _, l := range lines {
		f := strings.Split(l, "\t")
		expressions[f[0]]++
		prog, err := Compile(f[1], places[f[0]])
		require.NoError(t, err, l)
		assert.Equal(t, f[2], bits(prog, f[0], goldenFrames(places[f[0]].Link)), "%s: %s", f[0], f[1])
	}
	for place := range places {
		assert.Greater(t, expressions[place], 50, place)
	}
}

func bits(prog []bpf.RawInstruction, place string, frames []frame) string {
	out := make([]byte, (len(frames)+7)/8)
	for i := range frames {
		p := &frames[i].theirs
		if place == "file" {
			p = &frames[i].ours
		}
		if got, _ := run(prog, p); got != 0 {
			out[i/8] |= 1 << (i % 8)
		}
	}
	return hex.EncodeToString(out)
}

// Compile parses and compiles an expression.
func Compile(text string, t Target) ([]bpf.RawInstruction, error) {
	e, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return e.Compile(t)
}
