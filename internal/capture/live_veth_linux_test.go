package capture

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// A VLAN tag stands where it was sent, whoever has taken it out on the way: in frames received (the kernel keeps it
// beside them) and sent (it is in the bytes).
func TestLiveTags(t *testing.T) {
	inNamespace(t)
	pair(t, "v-ring0", "v-ring1")
	s := newSender(t, "v-ring1")
	frames := [][]byte{
		testFrame(1, 10),
		testFrame(2, 10, 0x81004064), // priority 2: begins with a 4, as IPv4 does
		testFrame(3, 1400, 0x88a80123),
		testFrame(4, 10, 0x88a82001, 0x81004064),
		testFrame(5, 2020, 0x81000001)[:2000],
		testFrame(6, 10, 0x88a82001, 0x81004064, 0x81000007),
		testFrame(7, 10, 0x81000000), // priority only
	}
	for _, name := range []string{"v-ring0", "v-ring1", "v-ring1,v-ring0"} {
		begin := time.Now()
		l := openLive(t, name, LiveOptions{})
		assert.Equal(t, LinkEthernet, l.Link())
		ip(t, "link set v-ring0 mtu 3000")
		ip(t, "link set v-ring1 mtu 3000")
		for _, f := range frames {
			require.NoError(t, s.send(f))
		}
		copies := 1 + strings.Count(name, ",")
		got := receive(t, l, copies*len(frames))
		require.Len(t, got, copies*len(frames))
		for i, c := range got {
			assert.Equal(t, string(frames[i/copies]), c.bytes, "%s: packet %d", name, i)
			assert.Equal(t, len(frames[i/copies]), c.WireLen)
			assert.Equal(t, i%copies, c.Interface, "sent by the first, then received by the second")
			assert.EqualValues(t, i+1, c.Number)
			between(t, begin, c.Time)
		}
		assert.True(t, slices.IsSortedFunc(got, func(a, b copyOf) int { return int(a.Time - b.Time) }))
	}
	// Cooked, what was received has all tags; of what was sent the kernel leaves one.
	l := openLive(t, AnyInterface, LiveOptions{})
	for _, f := range frames {
		require.NoError(t, s.send(f))
	}
	got := receive(t, l, 2*len(frames))
	require.Len(t, got, 2*len(frames))
	for i, c := range got {
		f := frames[i/2]
		if c.bytes[10] == unix.PACKET_OUTGOING && len(f) > 2 && f[16] == 0x81 { // two tags or more
			continue
		}
		assert.Equal(t, string(f[12:14]), c.bytes[:2], "protocol, packet %d", i)
		assert.Equal(t, string(f[14:]), c.bytes[sll2Len:], "packet %d", i)
		assert.Equal(t, len(f)-14+sll2Len, c.WireLen)
		assert.Equal(t, string(f[6:12]), c.bytes[12:18])
		assert.Equal(t, "\x00\x01", c.bytes[8:10])
	}
	states := l.States()
	require.Len(t, states, 2)
	assert.Equal(t, "v-ring1", states[0].Name, "that sent first")
	assert.Equal(t, "v-ring0", states[1].Name)
	assert.True(t, states[0].Up && states[1].Up)
	stats, err := l.Stats()
	require.NoError(t, err)
	assert.EqualValues(t, len(frames), stats.In.Packets)
	assert.EqualValues(t, len(frames), stats.Out.Packets)
	in := l.Inputs()[0]
	assert.Equal(t, in.Bytes, stats.In.Bytes+stats.Out.Bytes)
	assert.Equal(t, "any", in.File)
}

// A packet longer than the snap length is cut there, with its tag and cooked header as part of it, as tcpdump cuts.
func TestLiveSnapLenOfTagged(t *testing.T) {
	inNamespace(t)
	pair(t, "v-ring0", "v-ring1")
	s := newSender(t, "v-ring1")
	f := testFrame(1, 1000, 0x81000064)
	for name, wire := range map[string]int{"v-ring0": len(f), AnyInterface: len(f) - 14 + sll2Len} {
		l := openLive(t, name, LiveOptions{SnapLen: 100})
		require.NoError(t, s.send(f))
		for _, c := range receive(t, l, 1) {
			assert.Len(t, c.bytes, 100)
			assert.Equal(t, wire, c.WireLen)
			assert.True(t, c.Truncated())
		}
		in := l.Inputs()[0]
		assert.Positive(t, in.TruncatedPackets)
		assert.Equal(t, 100, in.SnapLen)
	}
}

// What the user's filter finds after ours is what it would find alone.
func TestLiveFilterOfSeveral(t *testing.T) {
	inNamespace(t)
	pair(t, "v-ring0", "v-ring1")
	pair(t, "v-ring2", "v-ring3")
	s, other := newSender(t, "v-ring1"), newSender(t, "v-ring3")
	// It counts on registers that are 0, which nothing in it sets: 1+0 instructions to the end.
	program := []bpf.RawInstruction{
		{Op: 0x15, K: 0, Jf: 2}, // jeq #0
		{Op: 0x30, K: 23},       // ldb [23]
		{Op: 0x15, K: 17, Jt: 1},
		{Op: 0x06, K: 0},
		{Op: 0x06, K: 60},
	}
	asked := LinkType(0)
	l := openLive(t, "v-ring0,lo", LiveOptions{Filter: func(link LinkType) ([]bpf.RawInstruction, error) {
		asked = link
		return program, nil
	}})
	assert.Equal(t, LinkEthernet, asked)
	require.NoError(t, other.send(testFrame(1, 100)))
	require.NoError(t, s.send(testFrame(2, 100)))
	require.NoError(t, s.send(testFrame(3, 100, 0x81000001, 0x81000002))) // no 17 at 23
	exchange(t, 1000)                                                     // TCP, on lo
	require.NoError(t, s.send(testFrame(4, 100)))
	got := receive(t, l, 3)
	require.Len(t, got, 2)
	for i, c := range got {
		assert.Equal(t, string(testFrame(uint32(2+2*i), 100)[:60]), c.bytes)
		assert.Zero(t, c.Interface)
	}

	_, err := OpenLive([]string{"v-ring0"}, LiveOptions{Filter: func(LinkType) ([]bpf.RawInstruction, error) { return nil, io.ErrNoProgress }})
	assert.Equal(t, io.ErrNoProgress, err)
	_, err = OpenLive([]string{"v-ring0"}, LiveOptions{Filter: func(LinkType) ([]bpf.RawInstruction, error) {
		return []bpf.RawInstruction{{Op: 0xffff}}, nil
	}})
	assert.ErrorContains(t, err, "v-ring0: cannot capture: the filter was refused: ")
	assert.Equal(t, Unreadable, CauseOf(err))
}

func TestLiveNames(t *testing.T) {
	inNamespace(t)
	pair(t, "v-ring0", "v-ring1")
	ip(t, "link set v-ring1 down")
	for names, want := range map[string]string{
		"v-ring1":         "v-ring1 is down; bring it up: ip link set v-ring1 up",
		"v-ring0,v-ring1": "v-ring1 is down; bring it up: ip link set v-ring1 up",
		"lo,lo":           "lo is given twice",
		"lo,any":          "any means all interfaces; give it alone",
		"v-rung0":         "v-rung0: no such network interface; did you mean v-ring0?; available: lo, v-ring1, v-ring0, any",
		"":                ": no such network interface; available: lo, v-ring1, v-ring0, any",
	} {
		_, err := OpenLive(strings.Split(names, ","), LiveOptions{})
		assert.EqualError(t, err, want)
		assert.Equal(t, NoInterface, CauseOf(err))
	}
	_, err := OpenLive(nil, LiveOptions{})
	assert.Equal(t, NoInterface, CauseOf(err))
}

// Interfaces whose link types differ are cooked, one without link header is raw.
func TestLiveTun(t *testing.T) {
	inNamespace(t)
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		t.Skip("needs /dev/net/tun")
	}
	tun, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0)
	require.NoError(t, err)
	defer tun.Close()
	req, err := unix.NewIfreq("ring-tun")
	require.NoError(t, err)
	req.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	require.NoError(t, unix.IoctlIfreq(int(tun.Fd()), unix.TUNSETIFF, req))
	ip(t, "link set ring-tun up")
	pair(t, "v-ring0", "v-ring1")
	s := newSender(t, "v-ring1")
	raw := openLive(t, "ring-tun", LiveOptions{})
	mixed := openLive(t, "v-ring0,ring-tun", LiveOptions{})
	assert.Equal(t, LinkRaw, raw.Link())
	assert.Equal(t, LinkLinuxSLL2, mixed.Link())
	f := testFrame(1, 100)
	_, err = tun.Write(f[14:])
	require.NoError(t, err)
	require.NoError(t, s.send(f))
	got := receive(t, raw, 1)
	require.Len(t, got, 1)
	assert.Equal(t, string(f[14:]), got[0].bytes)
	got = receive(t, mixed, 2)
	require.Len(t, got, 2)
	for i, c := range got {
		assert.Equal(t, string(f[14:]), c.bytes[sll2Len:])
		assert.Equal(t, "\x08\x00", c.bytes[:2])
		assert.Equal(t, 1-i, c.Interface)
		assert.EqualValues(t, mixed.States()[1-i].Index, binary.BigEndian.Uint32([]byte(c.bytes[4:])))
	}
}

// What fits into the ring is delivered, the rest counted.
func TestLiveDrops(t *testing.T) {
	inNamespace(t)
	pair(t, "v-ring0", "v-ring1")
	s := newSender(t, "v-ring1")
	l := openLive(t, "v-ring0", LiveOptions{Buffer: 1, Poll: time.Second})
	frame := testFrame(1, 1400)
	var p Packet
	require.NoError(t, s.send(frame))
	require.NoError(t, l.Next(&p))
	first := string(p.Data)
	const sent = 3000
	for i := range sent - 1 {
		binary.BigEndian.PutUint32(frame[42:], uint32(i))
		require.NoError(t, s.send(frame))
	}
	stats, err := l.Stats()
	require.NoError(t, err)
	assert.Positive(t, stats.Dropped)
	assert.Positive(t, stats.Freezes)
	assert.Equal(t, 1.0, stats.Fill)
	assert.Equal(t, first, string(p.Data), "a packet stays until the next call, however full the ring is")
	delivered := int64(1 + len(receive(t, l, sent)))
	stats, err = l.Stats()
	require.NoError(t, err)
	assert.EqualValues(t, sent, stats.Received)
	assert.Equal(t, stats.Received, delivered+stats.Dropped)
	assert.Less(t, stats.Fill, 1.0)
	assert.Equal(t, stats.Dropped, l.Inputs()[0].Dropped)
	assert.Equal(t, delivered, stats.In.Packets)
	require.NoError(t, s.send(frame))
	assert.Len(t, receive(t, l, 1), 1, "it goes on")
}

// tcpdump of the same minute has the same packets: bytes, lengths, order, and times up to what lies between two readers
// of one packet.
func TestLiveAgainstTcpdump(t *testing.T) {
	inNamespace(t)
	if _, err := exec.LookPath("tcpdump"); err != nil {
		t.Skip("needs tcpdump")
	}
	far := joined(t, "v-ring0")
	s := newSender(t, "v-ring0")
	var back *sender
	far.do(func() { back = newSender(t, "v-ring-far") })
	for _, name := range []string{"v-ring0", AnyInterface} {
		file := filepath.Join(t.TempDir(), "tcpdump.pcap")
		cmd := exec.Command("tcpdump", "-i", name, "-n", "-U", "-B", "65536", "--time-stamp-precision=nano", "-w", file, "-Z", "root")
		stderr, err := cmd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewReader(stderr)
		for line := ""; !strings.Contains(line, "listening on"); {
			line, err = lines.ReadString('\n')
			require.NoError(t, err)
		}
		go func() { _, _ = io.Copy(io.Discard, lines) }()
		l := openLive(t, name, LiveOptions{})
		for i := range uint32(50) {
			require.NoError(t, s.send(testFrame(i, 100, 0x81000064)))
			require.NoError(t, back.send(testFrame(i, 1000, 0x81000065)))
			require.NoError(t, back.send(testFrame(i, 1400)))
		}
		far.transfer(t, 5<<20)
		exchange(t, 1<<20) // on lo
		ours := receive(t, l, 1e6)
		least := int64(24)
		for _, o := range ours {
			least += 16 + int64(len(o.bytes)) - 4 // without a tag
		}
		require.Eventually(t, func() bool {
			info, err := os.Stat(file)
			return err == nil && info.Size() >= least
		}, time.Minute, 20*time.Millisecond, "tcpdump has fewer packets")
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		require.NoError(t, cmd.Wait())
		files, err := Open([]string{file}, Options{})
		require.NoError(t, err)
		theirs := drain(t, files)
		require.NoError(t, files.Close())
		stats, err := l.Stats()
		require.NoError(t, err)
		assert.Zero(t, stats.Dropped)
		if name == AnyInterface {
			theirs = withoutDoubles(theirs)
		}
		require.Equal(t, len(theirs), len(ours), "the last ones: %v, %v", theirs[max(0, len(theirs)-3):], ours[max(0, len(ours)-3):])
		largest, late := 0, time.Duration(0)
		tags, displaced := 0, 0
		// Two processors may give two packets to two sockets in different order, but not far apart, unless one of them is
		// held up in between.
		places := make(map[string][]int)
		for k, g := range theirs {
			places[g.data] = append(places[g.data], k)
		}
		for i, o := range ours {
			largest = max(largest, o.WireLen)
			if o.bytes[:2] == "\x81\x00" { // tcpdump's cooked packets lose the tag
				tags++
				o.bytes = o.bytes[22:24] + o.bytes[2:20] + o.bytes[24:]
				o.WireLen -= 4
			}
			same := places[o.bytes]
			require.NotEmpty(t, same, "%s: packet %d, which tcpdump has not: %v", name, i, o)
			places[o.bytes] = same[1:]
			if d := same[0] - i; d > 16 || d < -16 {
				displaced++
			}
			theirs := theirs[same[0]]
			late = max(late, time.Duration(max(o.Time-theirs.time, theirs.time-o.Time)))
			require.Equal(t, theirs.wire, o.WireLen)
			require.Equal(t, theirs.link, o.Link)
		}
		assert.Greater(t, largest, 20_000, "packets for segmentation offload are among them")
		assert.Less(t, late, 5*time.Second)
		assert.LessOrEqual(t, displaced, 4, "packets in another order")
		assert.Equal(t, name == AnyInterface, tags == 100)
		t.Logf("%s: %d packets, the largest %d bytes, at most %v apart", name, len(ours), largest, late)
	}
}

// withoutDoubles leaves out what loopback interfaces send.
func withoutDoubles(all []got) []got {
	return slices.DeleteFunc(all, func(g got) bool { return g.data[8:11] == "\x03\x04\x04" })
}

func TestLiveCounters(t *testing.T) {
	inNamespace(t)
	pair(t, "v-ring0", "v-ring1")
	s := newSender(t, "v-ring1")
	for range 5 {
		require.NoError(t, s.send(testFrame(1, 100)))
	}
	in, out, ok := Counters("v-ring0")
	assert.Equal(t, Traffic{Packets: 5, Bytes: 5 * 142}, in)
	assert.Zero(t, out)
	assert.True(t, ok)
	_, out, _ = Counters("v-ring1")
	assert.Equal(t, Traffic{Packets: 5, Bytes: 5 * 142}, out)
	_, _, ok = Counters("nothere0")
	assert.False(t, ok)
	assert.EqualValues(t, 10e9, LinkSpeed("v-ring0"))
	for _, name := range []string{"lo", "nothere0", "", "a-name-that-is-much-too-long", AnyInterface} {
		assert.Zero(t, LinkSpeed(name), name)
	}
	all, err := Interfaces()
	require.NoError(t, err)
	i := slices.IndexFunc(all, func(i Interface) bool { return i.Name == "v-ring0" })
	require.GreaterOrEqual(t, i, 0)
	assert.EqualValues(t, 10e9, all[i].Speed)
}
