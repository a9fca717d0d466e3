package filter

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/dev/testkit"
)

// space is a network namespace with a veth pair in it: what is sent on the first
// end has its VLAN tag in the packet there, and as metadata on the second.
type space struct {
	name   string
	handle int
}

const (
	vethOut = "fltv0"
	vethIn  = "fltv1"
)

func newSpace(t *testing.T) *space {
	testkit.Needs(t, "root, for a network namespace, and tcpdump")
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: a network namespace and packet sockets")
	}
	for _, tool := range []string{"ip", "tcpdump"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not installed")
		}
	}
	s := &space{name: fmt.Sprintf("flt-%d", os.Getpid())}
	if out, err := exec.Command("ip", "netns", "add", s.name).CombinedOutput(); err != nil {
		t.Skipf("needs the right to make network namespaces: %s", bytes.TrimSpace(out))
	}
	t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", s.name).Run() })
	for _, args := range [][]string{
		{"link", "add", vethOut, "type", "veth", "peer", "name", vethIn},
		{"link", "set", "lo", "up"},
		{"link", "set", vethOut, "up"},
		{"link", "set", vethIn, "up"},
	} {
		out, err := exec.Command("ip", append([]string{"-n", s.name}, args...)...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	h, err := unix.Open("/run/netns/"+s.name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	s.handle = h
	t.Cleanup(func() { _ = unix.Close(h) })
	return s
}

// do runs f in the namespace. Its thread ends with it.
func (s *space) do(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread is not reused
		if err := unix.Setns(s.handle, unix.CLONE_NEWNET); err != nil {
			done <- err
			return
		}
		done <- f()
	}()
	return <-done
}

// listen is a packet socket with a program in the kernel; "any" is cooked.
func (s *space) listen(t *testing.T, iface string, prog []bpf.RawInstruction) int {
	t.Helper()
	fd := -1
	require.NoError(t, s.do(func() error {
		kind, index := unix.SOCK_RAW, 0
		if iface == "any" {
			kind = unix.SOCK_DGRAM
		} else {
			i, err := net.InterfaceByName(iface)
			if err != nil {
				return err
			}
			index = i.Index
		}
		var err error
		if fd, err = unix.Socket(unix.AF_PACKET, kind|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
			return err
		}
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 4<<20); err != nil {
			return err
		}
		filters := make([]unix.SockFilter, len(prog))
		for i, r := range prog {
			filters[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
		}
		if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(filters)), Filter: &filters[0]}); err != nil {
			return fmt.Errorf("the kernel refuses the program: %w", err)
		}
		all := binary.BigEndian.Uint16((*[2]byte)(unsafe.Pointer(&[]uint16{unix.ETH_P_ALL}[0]))[:])
		return unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: index})
	}))
	t.Cleanup(func() { _ = unix.Close(fd) })
	return fd
}

// marker ends each frame that is sent, so that frames are known again.
var marker = []byte("fltm")

// known names a frame by its marker's number and how the kernel says it went.
func knownFrame(b []byte, kind byte) string {
	i := bytes.LastIndex(b, marker)
	if i < 0 || i+6 != len(b) {
		return ""
	}
	return fmt.Sprintf("%d/%d", binary.BigEndian.Uint16(b[i+4:]), kind)
}

func heard(t *testing.T, fd, loopback int) []string {
	t.Helper()
	var out []string
	b := make([]byte, 65536)
	for {
		n, from, err := unix.Recvfrom(fd, b, 0)
		if err != nil {
			break
		}
		ll := from.(*unix.SockaddrLinklayer)
		if ll.Ifindex == loopback && ll.Pkttype == packetOutgoing {
			continue // seen again coming in; libpcap leaves it out, too
		}
		if k := knownFrame(b[:n], ll.Pkttype); k != "" {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// arrived waits until the frame with a number has come to a socket that lets everything through.
func arrived(t *testing.T, iface string, fd, number int) {
	t.Helper()
	last, b := fmt.Sprintf("%d/", number), make([]byte, 65536)
	require.Eventually(t, func() bool {
		for {
			n, from, err := unix.Recvfrom(fd, b, 0)
			if err != nil {
				return false
			}
			if strings.HasPrefix(knownFrame(b[:n], from.(*unix.SockaddrLinklayer).Pkttype), last) {
				return true
			}
		}
	}, time.Minute, 5*time.Millisecond, "frame %d does not come on %s", number, iface)
}

// asleep waits until a process has read what there is, and waits itself: it would be about to run if its socket had anything.
func asleep(t *testing.T, pid int) {
	t.Helper()
	looks := 0
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && bytes.Contains(stat, []byte(") S ")) {
			looks++
		} else {
			looks = 0
		}
		return looks == 5
	}, time.Minute, 10*time.Millisecond, "tcpdump goes on")
}

// fileHeard reads what tcpdump wrote. Only cooked packets have a kind.
func fileHeard(t *testing.T, name string) []string {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(b), 24)
	cooked := binary.LittleEndian.Uint32(b[20:]) == uint32(capture.LinkLinuxSLL2)
	var out []string
	for b = b[24:]; len(b) >= 16; {
		n := int(binary.LittleEndian.Uint32(b[8:]))
		p := b[16 : 16+n]
		kind := byte(0)
		if cooked {
			kind = p[10]
		}
		if k := knownFrame(p, kind); k != "" {
			out = append(out, k)
		}
		b = b[16+n:]
	}
	slices.Sort(out)
	return out
}

// withoutKinds leaves the kinds away, which only cooked packets have in a file.
func withoutKinds(all []string) []string {
	var out []string
	for _, s := range all {
		n, _, _ := strings.Cut(s, "/")
		out = append(out, n+"/0")
	}
	slices.Sort(out)
	return out
}

var liveTable = []string{
	"vlan", "vlan 5", "vlan 6", "not vlan", "not vlan 5", "vlan and port 80", "vlan 5 and port 20880", "vlan 5 and vlan 6", "vlan and vlan",
	"vlan and tcp", "vlan 5 and not tcp", "vlan and ip6", "vlan and arp", "vlan and host 10.0.0.7", "vlan 100 or vlan 5", "vlan and (port 80 or port 53)",
	"vlan and vlan and tcp", "vlan and mpls", "vlan and ip[8] = 64", "vlan and tcp[tcpflags] & tcp-syn != 0", "vlan and ether proto 0x8100",
	"port 20880", "port 80", "tcp", "udp", "tcp port 20880 and host 10.0.0.7", "ip", "ip6", "arp", "ether proto 0x800", "ether proto 0x8100", "ether proto 0x88a8",
	"net 10.0.0.0/8", "not port 20880", "host 2001:db8::1", "ip6 and tcp", "icmp or icmp6", "sctp", "portrange 20880-20881", "tcp[tcpflags] & tcp-ack != 0",
	"ip[2:2] > 60", "greater 80", "less 70", "len < 90 and tcp", "inbound", "outbound", "outbound and tcp", "ip proto 47", "src net 10 and dst net 192.168.0.0/16",
	"mpls", "mpls and ip", "pppoes and tcp", "ether src 02:00:00:00:00:01", "broadcast", "multicast", "ip multicast", "stp", "ether[12:2] = 0x0800", "udp[4:2] > 10",
}

// dddTable is what only tcpdump -ddd can say.
var dddTable = []string{"clnp or port 80", "isis or tcp", "llc", "tcp port 20880"}

// TestLive sends frames through a veth pair and loopback, and compares what our
// programs let through in the kernel with what tcpdump writes at the same time.
func TestLive(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	s := newSpace(t)
	loopback := 0
	require.NoError(t, s.do(func() error {
		i, err := net.InterfaceByName("lo")
		if err == nil {
			loopback = i.Index
		}
		return err
	}))
	r := rand.New(rand.NewPCG(6, 6))
	// libpcap runs its program over the first packets once more, outside the kernel,
	// where it does not know a packet's direction: they do not count.
	var first, frames [][]byte
	for i := range 300 {
		f, _ := synthFrame(r, capture.LinkEthernet, false)
		first = append(first, cat(f, []byte("0000"), be16(uint16(i))))
		frames = append(frames, cat(f, marker, be16(uint16(i))))
	}
	type pair struct {
		iface, expr string
		prog        []bpf.RawInstruction
		fd          int
		tcpdump     *exec.Cmd
		file        string
	}
	var all []*pair
	for _, iface := range []string{vethIn, vethOut, "any", "lo"} {
		target := Target{Link: capture.LinkEthernet, Kernel: true}
		if iface == "any" {
			target.Link = capture.LinkLinuxSLL2
		}
		for _, expr := range liveTable {
			prog, err := Compile(expr, target)
			if err != nil {
				assert.Equal(t, "any", iface, "%s: %v", expr, err)
				continue
			}
			all = append(all, &pair{iface: iface, expr: expr, prog: prog})
		}
		for _, expr := range dddTable {
			if strings.Contains(expr, "llc") && iface == "any" {
				continue // not with cooked packets
			}
			text, err := exec.Command("ip", "netns", "exec", s.name, "tcpdump", "-i", iface, "-ddd", expr).Output()
			require.NoError(t, err, expr)
			require.True(t, IsDDD(string(text)))
			prog, err := ParseDDD(string(text))
			require.NoError(t, err, expr)
			prog, err = Adapt(prog, target)
			require.NoError(t, err, expr)
			all = append(all, &pair{iface: iface, expr: expr, prog: prog})
		}
	}
	dir := t.TempDir()
	compared, frameCount := 0, 0
	for batch := range slices.Chunk(all, 24) {
		for i, p := range batch {
			p.fd = s.listen(t, p.iface, p.prog)
			p.file = filepath.Join(dir, fmt.Sprintf("%d.pcap", i))
			p.tcpdump = s.tcpdump(t, p.iface, p.file, p.expr)
		}
		received := map[string]int{vethIn: -1, "lo": -1}
		for iface := range received {
			received[iface] = s.listen(t, iface, []bpf.RawInstruction{{Op: 0x06, K: 65535}}) // everything
		}
		for _, f := range [][][]byte{first, frames} {
			s.send(t, vethOut, f)
			s.send(t, "lo", f)
		}
		for iface, fd := range received {
			arrived(t, iface, fd, len(frames)-1)
		}
		for _, p := range batch {
			asleep(t, p.tcpdump.Process.Pid)
		}
		for _, p := range batch {
			require.NoError(t, p.tcpdump.Process.Signal(os.Interrupt))
		}
		for _, p := range batch {
			_ = p.tcpdump.Wait()
			want, got := fileHeard(t, p.file), heard(t, p.fd, loopback)
			if p.iface != "any" {
				got = withoutKinds(got)
			}
			assert.Equal(t, want, got, "%s: %s", p.iface, p.expr)
			compared++
			frameCount += len(want)
			_ = unix.Close(p.fd)
			p.fd = -1
		}
	}
	t.Logf("%d programs compared, %d frames let through", compared, frameCount)
	assert.Greater(t, frameCount, 5000)
}

// tcpdump starts one and waits until it listens.
func (s *space) tcpdump(t *testing.T, iface, file, expr string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("ip", "netns", "exec", s.name, "tcpdump", "-Z", "root", "-i", iface, "--immediate-mode", "-s", "600", "-B", "8192", "-U", "-w", file, "--", expr)
	errs, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	var said bytes.Buffer
	b := make([]byte, 512)
	for !bytes.Contains(said.Bytes(), []byte("listening on")) {
		n, err := errs.Read(b)
		said.Write(b[:n])
		require.NoError(t, err, "%s: %s", expr, said.String())
	}
	return cmd
}

func (s *space) send(t *testing.T, iface string, frames [][]byte) {
	t.Helper()
	require.NoError(t, s.do(func() error {
		i, err := net.InterfaceByName(iface)
		if err != nil {
			return err
		}
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		for n, f := range frames {
			if n%20 == 0 {
				time.Sleep(5 * time.Millisecond) // for the queue between the ends; the tcpdumps' buffers hold all frames
			}
			if err := unix.Sendto(fd, f, 0, &unix.SockaddrLinklayer{Ifindex: i.Index}); err != nil {
				return err
			}
		}
		return nil
	}))
}
