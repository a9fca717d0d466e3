package filter

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/dev/testkit"
)

// oracle asks libpcap for a program, by tcpdump: that for a file, or that for an
// interface.
type oracle struct {
	args []string
}

func fileOracle(t *testing.T, link capture.LinkType) oracle {
	t.Helper()
	needTcpdump(t)
	name := filepath.Join(t.TempDir(), "empty.pcap")
	require.NoError(t, os.WriteFile(name, pcapHeader(link), 0o644))
	return oracle{[]string{"-r", name}}
}

func needTcpdump(t *testing.T) {
	testkit.Needs(t, "tcpdump")
	t.Helper()
	if _, err := exec.LookPath("tcpdump"); err != nil {
		t.Skip("tcpdump is not installed")
	}
}

func pcapHeader(link capture.LinkType) []byte {
	h := make([]byte, 24)
	binary.LittleEndian.PutUint32(h, 0xa1b2c3d4)
	binary.LittleEndian.PutUint16(h[4:], 2)
	binary.LittleEndian.PutUint16(h[6:], 4)
	binary.LittleEndian.PutUint32(h[16:], 262144)
	binary.LittleEndian.PutUint32(h[20:], uint32(link))
	return h
}

// program is libpcap's, or the reason why there is none.
func (o oracle) program(expr string, more ...string) ([]bpf.RawInstruction, error) {
	args := append(append([]string{"-ddd"}, more...), o.args...)
	cmd := exec.Command("tcpdump", append(args, "--", expr)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		return nil, fmt.Errorf("%s", lines[len(lines)-1])
	}
	return ParseDDD(out.String())
}

var rejectAll = []bpf.RawInstruction{{Op: opRet}}

// frame is a packet as the two programs see it; they differ where the kernel hides a
// header.
type frame struct{ ours, theirs seen }

// difference holds our program against libpcap's as its code generator wrote it. The
// optimizer's is not the measure: it is known to lose tests (see TestOptimizerOfLibpcap).
// Where a load of libpcap's went beyond the packet's end, the packet is rejected, unless
// what was loaded cannot matter: there both answers are right.
func difference(ours, theirs []bpf.RawInstruction, frames []frame) (at int, differ bool) {
	for i := range frames {
		x, _ := run(ours, &frames[i].ours)
		y, short := run(theirs, &frames[i].theirs)
		if !short && (x != 0) != (y != 0) {
			return i, true
		}
	}
	return 0, false
}

func environ(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// TestRandomAgainstLibpcap compares the programs of random expressions, ours and
// libpcap's, over packets. FILTER_RANDOM is how many, FILTER_SEED which.
func TestRandomAgainstLibpcap(t *testing.T) {
	for _, link := range []capture.LinkType{capture.LinkEthernet, capture.LinkLinuxSLL, capture.LinkLinuxSLL2, capture.LinkRaw} {
		t.Run(link.String(), func(t *testing.T) {
			ethernet := link == capture.LinkEthernet
			compareRandom(t, fileOracle(t, link), Target{Link: link},
				&expressions{arith: true, layers: ethernet, ether: ethernet, kernel: link == capture.LinkLinuxSLL2})
		})
	}
}

// TestRandomInKernelAgainstLibpcap does the same with programs for packet sockets.
func TestRandomInKernelAgainstLibpcap(t *testing.T) {
	needTcpdump(t)
	if os.Geteuid() != 0 {
		t.Skip("libpcap writes programs for an interface only with CAP_NET_RAW")
	}
	// libpcap 1.10 takes the memories of calculations for its own when a "vlan" comes
	// after them, and forgets to write one for "pppoes" after "vlan".
	ethernet := Target{Link: capture.LinkEthernet, Kernel: true}
	t.Run("ETHERNET", func(t *testing.T) {
		compareRandom(t, oracle{[]string{"-i", "lo"}}, ethernet, &expressions{arith: true, ether: true, kernel: true})
	})
	t.Run("layers", func(t *testing.T) {
		compareRandom(t, oracle{[]string{"-i", "lo"}}, ethernet, &expressions{layers: true, noPPPoE: true, ether: true, kernel: true})
	})
	t.Run("vlan", func(t *testing.T) {
		compareRandom(t, oracle{[]string{"-i", "lo"}}, ethernet, &expressions{before: "vlan and ", arith: true, ether: true, kernel: true})
	})
	t.Run("vlan 5", func(t *testing.T) {
		compareRandom(t, oracle{[]string{"-i", "lo"}}, ethernet, &expressions{before: "vlan 5 or ", arith: true, ether: true, kernel: true})
	})
	t.Run("LINUX_SLL2", func(t *testing.T) {
		compareRandom(t, oracle{[]string{"-i", "any"}}, Target{Link: capture.LinkLinuxSLL2, Kernel: true},
			&expressions{arith: true, kernel: true})
	})
	t.Run("LINUX_SLL", func(t *testing.T) {
		compareRandom(t, oracle{[]string{"-i", "any", "-y", "LINUX_SLL"}}, Target{Link: capture.LinkLinuxSLL, Kernel: true},
			&expressions{arith: true, kernel: true})
	})
}

func compareRandom(t *testing.T, o oracle, target Target, e *expressions) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(environ("FILTER_SEED", 1)), uint64(target.Link)))
	e.r = r
	var frames []frame
	for i := range 2000 {
		file, kernel := synthFrame(r, target.Link, i%10 == 0)
		p := seen{data: file, length: len(file)}
		f := frame{p, p}
		if target.Kernel {
			f = frame{kernel, kernel}
		}
		frames = append(frames, f)
	}
	compared, differ, refused, both := 0, 0, 0, 0
	count := 100
	if target.Kernel { // an interface has to be opened for each
		count = 50
	}
	if testing.Short() {
		count /= 5
	}
	for range environ("FILTER_RANDOM", count) {
		expr := e.before + e.one(r.IntN(4))
		ours, errOurs := Compile(expr, target)
		theirs, errTheirs := o.program(expr, "-O")
		if errOurs == nil {
			require.NoError(t, Check(ours), expr)
		} else if strings.HasSuffix(errOurs.Error(), "this expression matches no packet") {
			ours, errOurs = rejectAll, nil
		}
		switch {
		case errOurs != nil && errTheirs != nil:
			both++
			continue
		case errOurs != nil:
			refused++
			t.Logf("refused: %s: %v", expr, errOurs)
			continue
		case errTheirs != nil:
			t.Errorf("libpcap refuses %s: %v", expr, errTheirs)
			continue
		}
		if target.Kernel {
			var err error
			if theirs, err = Adapt(theirs, target); err != nil {
				refused++
				t.Logf("refused: %s: %v", expr, err)
				continue
			}
		}
		compared++
		if i, bad := difference(ours, theirs, frames); bad {
			if differ++; differ < 15 {
				f := frames[i].ours
				t.Errorf("%s: differs at packet %d, %d bytes, protocol %#x, tagged %v %d: % x", expr, i, len(f.data), f.protocol, f.tagged, f.tag, f.data[:min(len(f.data), 120)])
			}
		}
	}
	t.Logf("%d compared, %d differ, %d refused by us alone, %d by both", compared, differ, refused, both)
}
