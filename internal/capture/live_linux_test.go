package capture

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"

	"dubbo-wire/internal/dev/testkit"
)

// openLive opens an interface, or skips the test where capturing is not allowed.
func openLive(t *testing.T, iface string, opt LiveOptions) *Live {
	testkit.Needs(t, "the right to capture")
	if opt.Poll == 0 {
		opt.Poll = 3 * retireMillis * time.Millisecond // longer than packets wait: a timeout says that none is there
	}
	l, err := OpenLive(strings.Split(iface, ","), opt)
	if CauseOf(err) == Permission {
		assert.Contains(t, err.Error(), "sudo setcap cap_net_raw+ep ")
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	return l
}

// exchange sends n bytes over a new loopback connection and returns its port.
func exchange(t *testing.T, n int) uint16 {
	server, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer server.Close()
	// Dialed here and not by the goroutine, which may be in another network namespace.
	client, err := net.Dial("tcp4", server.Addr().String())
	require.NoError(t, err)
	go func() {
		_, _ = io.WriteString(client, strings.Repeat("x", n))
		_ = client.Close()
	}()
	c, err := server.Accept()
	require.NoError(t, err)
	got, err := io.Copy(io.Discard, c)
	require.NoError(t, err)
	require.EqualValues(t, n, got)
	require.NoError(t, c.Close())
	return uint16(server.Addr().(*net.TCPAddr).Port)
}

// tcpPayload is the payload length of an IPv4 packet to that port, or -1.
func tcpPayload(ip []byte, port uint16) int {
	if len(ip) < 40 || ip[0]>>4 != 4 || ip[9] != 6 {
		return -1
	}
	header := int(ip[0]&15) * 4
	if binary.BigEndian.Uint16(ip[header+2:]) != port {
		return -1
	}
	return int(binary.BigEndian.Uint16(ip[2:])) - header - int(ip[header+12]>>4)*4
}

// quiet reports whether err, of Next, or the time since start end a test's reading:
// others may use the interface without a pause.
func quiet(t *testing.T, err error, start time.Time) bool {
	if err == ErrTimeout || time.Since(start) > time.Minute {
		return true
	}
	require.NoError(t, err)
	return false
}

// collect reads until the interface is quiet and sums the payload sent to port since begin.
func collect(t *testing.T, l *Live, begin time.Time, port uint16, linkHeader int) (payload, syns int) {
	var p Packet
	for start := time.Now(); ; {
		if quiet(t, l.Next(&p), start) {
			return payload, syns
		}
		between(t, begin, p.Time)
		if n := tcpPayload(p.Data[linkHeader:], port); n >= 0 {
			payload += n
			if ip := p.Data[linkHeader:]; ip[int(ip[0]&15)*4+13]&2 != 0 {
				syns++
			}
		}
	}
}

// between checks that a packet was captured after a time and before now. The kernel's clock may be read in another way, so a
// second each way is allowed.
func between(t *testing.T, before time.Time, at int64) {
	t.Helper()
	require.GreaterOrEqual(t, at, before.Add(-time.Second).UnixNano())
	require.LessOrEqual(t, at, time.Now().Add(time.Second).UnixNano())
}

// once checks that n bytes came once, but for a few that TCP may have retransmitted on a busy machine.
func once(t *testing.T, n, got int) {
	t.Helper()
	assert.GreaterOrEqual(t, got, n)
	assert.Less(t, got, n+n/3)
}

// Each packet comes once, although a loopback interface shows it twice.
func TestLiveLoopback(t *testing.T) {
	begin := time.Now()
	l := openLive(t, "lo", LiveOptions{})
	assert.Equal(t, LinkEthernet, l.Link())
	payload, syns := collect(t, l, begin, exchange(t, 300_000), 14)
	once(t, 300_000, payload)
	assert.Equal(t, 1, syns)
	stats, err := l.Stats()
	require.NoError(t, err)
	in := l.Inputs()[0]
	assert.GreaterOrEqual(t, stats.Received, in.Packets)
	assert.Zero(t, in.Dropped)
	assert.Equal(t, "lo", in.File)
	assert.Positive(t, in.Packets)
}

func TestLiveAny(t *testing.T) {
	l := openLive(t, AnyInterface, LiveOptions{})
	assert.Equal(t, LinkLinuxSLL2, l.Link())
	port := exchange(t, 300_000)
	lo, err := net.InterfaceByName("lo")
	require.NoError(t, err)
	payload, syns := 0, 0
	var p Packet
	for start := time.Now(); !quiet(t, l.Next(&p), start); {
		require.GreaterOrEqual(t, len(p.Data), sll2Len)
		if n := tcpPayload(p.Data[sll2Len:], port); n >= 0 {
			payload += n
			if p.Data[sll2Len+33]&2 != 0 {
				syns++
			}
			assert.EqualValues(t, 0x0800, binary.BigEndian.Uint16(p.Data))
			assert.EqualValues(t, lo.Index, binary.BigEndian.Uint32(p.Data[4:]))
			assert.EqualValues(t, 772, binary.BigEndian.Uint16(p.Data[8:]))
		}
	}
	once(t, 300_000, payload)
	assert.Equal(t, 1, syns)
}

func TestLiveSnapLenAndFilter(t *testing.T) {
	// ip proto 6, of Ethernet
	filter, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 23, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 6, SkipFalse: 1},
		bpf.RetConstant{Val: 1000},
		bpf.RetConstant{Val: 0},
	})
	require.NoError(t, err)
	for _, snapLen := range []int{60, 2000} {
		l := openLive(t, "lo", LiveOptions{SnapLen: snapLen, Filter: func(LinkType) ([]bpf.RawInstruction, error) { return filter, nil }})
		exchange(t, 300_000)
		conn, err := net.Dial("udp4", "127.0.0.1:9")
		require.NoError(t, err)
		_, _ = conn.Write([]byte("not let through"))
		_ = conn.Close()
		var p Packet
		largest := 0
		for start := time.Now(); !quiet(t, l.Next(&p), start); {
			assert.LessOrEqual(t, len(p.Data), min(snapLen, 1000))
			assert.EqualValues(t, 6, p.Data[23])
			largest = max(largest, p.WireLen)
		}
		assert.Greater(t, largest, 1500)
		assert.Positive(t, l.Inputs()[0].TruncatedPackets)
	}
}

func TestLiveClose(t *testing.T) {
	l := openLive(t, "lo", LiveOptions{Poll: 50 * time.Millisecond})
	done := make(chan error)
	go func() {
		var p Packet
		for {
			if err := l.Next(&p); err != nil && !errors.Is(err, ErrTimeout) {
				done <- err
				return
			}
		}
	}()
	time.Sleep(10 * time.Millisecond)
	require.NoError(t, l.Close())
	select {
	case err := <-done:
		assert.Equal(t, ErrClosed, err)
	case <-time.After(time.Minute):
		t.Fatal("Next does not return after Close")
	}
	_, err := l.Stats()
	assert.NoError(t, err)
}

func TestLiveUnknownInterface(t *testing.T) {
	_, err := OpenLive([]string{"nothere0"}, LiveOptions{})
	assert.Equal(t, NoInterface, CauseOf(err))
	assert.Contains(t, err.Error(), "nothere0: no such network interface; available: ")
	assert.Contains(t, err.Error(), "lo")
	assert.Contains(t, err.Error(), ", any")
}

func TestLiveAllocatesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector allocates")
	}
	l := openLive(t, "lo", LiveOptions{})
	conn, err := net.Dial("udp4", "127.0.0.1:9")
	require.NoError(t, err)
	defer conn.Close()
	var p Packet
	payload := []byte("x")
	before := testing.AllocsPerRun(100, func() { _, _ = conn.Write(payload) })
	allocs := testing.AllocsPerRun(100, func() {
		_, _ = conn.Write(payload)
		_ = l.Next(&p)
	})
	assert.Zero(t, allocs-before)
}

func TestInterfaces(t *testing.T) {
	all, err := Interfaces()
	require.NoError(t, err)
	found := false
	for _, i := range all {
		if i.Name == "lo" {
			found = true
			assert.True(t, i.Loopback)
			assert.Contains(t, i.Addrs, "127.0.0.1")
		}
	}
	assert.True(t, found)
	assert.Equal(t, AnyInterface, all[len(all)-1].Name)
}
