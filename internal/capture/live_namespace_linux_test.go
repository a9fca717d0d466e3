package capture

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"dubbo-wire/internal/dev/testkit"
)

// inNamespace puts the test's goroutine into a network namespace of its own, with loopback up. It stays on its thread,
// which ends with the test, and the namespace with it.
func inNamespace(t *testing.T) {
	testkit.Needs(t, "root, for a network namespace")
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, for a network namespace")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("needs ip, of iproute2")
	}
	runtime.LockOSThread() // and never unlocked: Go ends the thread
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skip("needs CAP_SYS_ADMIN, for a network namespace: ", err)
	}
	withoutIPv6()
	ip(t, "link set lo up")
}

// withoutIPv6 keeps the kernel from sending anything by itself. Where there is no IPv6, there is nothing to keep.
func withoutIPv6() {
	for _, which := range []string{"all", "default"} {
		_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+which+"/disable_ipv6", []byte("1"), 0o644)
	}
}

// ip runs ip(8) in the namespace.
func ip(t *testing.T, args string) {
	t.Helper()
	out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput()
	if strings.Contains(string(out), "Operation not supported") || strings.Contains(string(out), "Unknown device type") {
		t.Skipf("the kernel lacks what this needs: ip %s: %s", args, out)
	}
	require.NoError(t, err, "ip %s: %s", args, out)
}

// pair makes a pair of interfaces that is up.
func pair(t *testing.T, one, other string) {
	t.Helper()
	ip(t, "link add "+one+" type veth peer name "+other)
	for _, name := range []string{one, other} {
		ip(t, "link set "+name+" up")
	}
}

// namespace is another network namespace, with a goroutine that stays in it.
type namespace struct {
	tid  int
	work chan func()
}

func newNamespace(t *testing.T) *namespace {
	n := &namespace{work: make(chan func())}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := unix.Unshare(unix.CLONE_NEWNET)
		n.tid = unix.Gettid()
		if err == nil {
			withoutIPv6()
		}
		ready <- err
		for f := range n.work {
			f()
		}
	}()
	require.NoError(t, <-ready)
	t.Cleanup(func() { close(n.work) })
	return n
}

// do runs f there.
func (n *namespace) do(f func()) {
	done := make(chan struct{})
	n.work <- func() { defer close(done); f() }
	<-done
}

// sender sends frames as they are.
type sender struct {
	fd int
	to unix.SockaddrLinklayer
}

func newSender(t *testing.T, iface string) *sender {
	t.Helper()
	i, err := net.InterfaceByName(iface)
	require.NoError(t, err)
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Close(fd) })
	return &sender{fd: fd, to: unix.SockaddrLinklayer{Ifindex: i.Index}}
}

func (s *sender) send(frame []byte) error { return unix.Sendto(s.fd, frame, 0, &s.to) }

// frame is an Ethernet frame with IPv4 and UDP to port 9 and a payload that begins with number; between the addresses
// and the type it has the tags.
func testFrame(number uint32, size int, tags ...uint32) []byte {
	f := []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}
	for _, tag := range tags {
		f = binary.BigEndian.AppendUint32(f, tag)
	}
	f = append(f, 8, 0, 0x45, 0)
	f = binary.BigEndian.AppendUint16(f, uint16(28+size))
	f = append(f, 0, 7, 0, 0, 64, 17, 0, 0, 10, 9, 9, 1, 10, 9, 9, 2)
	sum := uint32(0)
	head := f[len(f)-20:]
	for i := 0; i < 20; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(head[i:]))
	}
	sum = sum&0xffff + sum>>16
	binary.BigEndian.PutUint16(head[10:], ^uint16(sum&0xffff+sum>>16))
	f = append(f, 0x80, 1, 0, 9)
	f = binary.BigEndian.AppendUint16(f, uint16(8+size))
	f = append(f, 0, 0)
	payload := make([]byte, size)
	for i := range payload {
		payload[i] = byte(uint32(i) + number)
	}
	binary.BigEndian.PutUint32(payload, number)
	return append(f, payload...)
}

// copyOf is a packet that stays.
type copyOf struct {
	Packet
	bytes string
}

// receive reads until it has n packets, or until Next has found none several times. Time on a clock would not do: the test may
// be held up while packets wait.
func receive(t *testing.T, l *Live, n int) []copyOf {
	t.Helper()
	var got []copyOf
	var p Packet
	for timeouts := 0; len(got) < n && timeouts < 5; {
		err := l.Next(&p)
		if err == ErrTimeout {
			timeouts++
			continue
		}
		require.NoError(t, err)
		timeouts = 0
		got = append(got, copyOf{Packet: p, bytes: string(p.Data)})
	}
	return got
}

func (c copyOf) String() string {
	return fmt.Sprintf("%d on wire, interface %d: %x", c.WireLen, c.Interface, c.bytes[:min(len(c.bytes), 80)])
}

// joined makes a pair of interfaces with addresses 10.9.9.1/24 here, at name, and 10.9.9.2/24 in another namespace.
func joined(t *testing.T, name string) *namespace {
	t.Helper()
	n := newNamespace(t)
	pair(t, name, "v-ring-far")
	ip(t, fmt.Sprintf("link set v-ring-far netns %d", n.tid))
	ip(t, "addr add 10.9.9.1/24 dev "+name)
	n.do(func() {
		for _, args := range []string{"addr add 10.9.9.2/24 dev v-ring-far", "link set v-ring-far up"} {
			if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
				t.Errorf("ip %s: %v: %s", args, err, out)
			}
		}
	})
	return n
}

// transfer sends n bytes over one TCP connection from here to the other namespace, and a tenth of it back.
func (n *namespace) transfer(t *testing.T, size int) {
	t.Helper()
	var server net.Listener
	var err error
	n.do(func() { server, err = net.Listen("tcp4", "10.9.9.2:0") })
	require.NoError(t, err)
	defer server.Close()
	done := make(chan error, 1)
	go func() {
		c, err := server.Accept()
		if err == nil {
			_, err = io.Copy(io.Discard, c)
			_, _ = c.Write(make([]byte, size/10))
			_ = c.Close()
		}
		done <- err
	}()
	c, err := net.Dial("tcp4", server.Addr().String())
	require.NoError(t, err)
	_, err = c.Write(make([]byte, size))
	require.NoError(t, err)
	require.NoError(t, c.(*net.TCPConn).CloseWrite())
	_, err = io.Copy(io.Discard, c)
	require.NoError(t, err)
	require.NoError(t, <-done)
	_ = c.Close()
}

// runtimeLocked runs f on a thread of its own.
func runtimeLocked(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f()
}
