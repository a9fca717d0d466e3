package record

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
)

// end is an endpoint of tests.
func endAt(host byte, port uint16) packet.Endpoint {
	e := packet.Endpoint{Port: port}
	copy(e.IP[:], "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x0a\x00\x00")
	e.IP[15] = host
	return e
}

// seg is a segment between two ends.
func seg(a, b packet.Endpoint, flags uint8, seq uint32, payload int) *packet.Segment {
	return &packet.Segment{Src: a, Dst: b, Flags: flags, Seq: seq, PayloadLen: payload}
}

// pkt is a packet whose bytes are a text.
func pkt(at int64, data string) *capture.Packet {
	return &capture.Packet{Data: []byte(data), WireLen: len(data), Time: at, Link: capture.LinkEthernet}
}

// clockAt is a clock that stands still.
func clockAt(at int64) func() time.Time { return func() time.Time { return time.Unix(0, at) } }

// back reads files with our own reader.
func back(t testing.TB, paths ...string) (all []capture.Packet, inputs []capture.Input) {
	t.Helper()
	src, err := capture.Open(paths, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	for {
		var p capture.Packet
		if err := src.Next(&p); err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
		p.Data = bytes.Clone(p.Data)
		all = append(all, p)
	}
	require.Empty(t, src.Problems())
	return all, src.Inputs()
}

// texts are the bytes of packets.
func texts(all []capture.Packet) []string {
	var out []string
	for _, p := range all {
		out = append(out, string(p.Data))
	}
	return out
}

func open(t testing.TB, o Options) *Recorder {
	t.Helper()
	r, err := Open(o)
	require.NoError(t, err)
	return r
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestExact: what comes out is what went in, to the nanosecond, whatever the order of times.
func TestExact(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.pcap")
	r := open(t, Options{File: name, SnapLen: 8, Names: func(i int) string { return []string{"eth0", "eth1"}[i] }})
	a, b, c := pkt(1_000_000_000_123_456_789, "1234567"), pkt(999_999_999_999_999_999, "abcdefghij"), pkt(1_000_000_000_123_456_790, "")
	b.WireLen, b.Interface, b.Link = 4000, 1, capture.LinkLinuxSLL2
	for _, p := range []*capture.Packet{a, b, c} {
		r.Packet(p, packet.NotTCP, nil)
	}
	require.NoError(t, r.Close())
	require.NoError(t, r.Close(), "again")
	all, inputs := back(t, name)
	require.Len(t, all, 3)
	assert.Equal(t, "pcapng", inputs[0].Format)
	assert.Equal(t, []string{"1234567", "abcdefgh", ""}, texts(all))
	assert.Equal(t, []int64{a.Time, b.Time, c.Time}, []int64{all[0].Time, all[1].Time, all[2].Time})
	assert.Equal(t, []int{7, 4000, 0}, []int{all[0].WireLen, all[1].WireLen, all[2].WireLen})
	assert.Equal(t, []int{0, 1, 0}, []int{all[0].Interface, all[1].Interface, all[2].Interface})
	assert.Equal(t, capture.LinkLinuxSLL2, all[1].Link)
	assert.Equal(t, int64(-1), inputs[0].Dropped, "nobody said how many")
	s := r.Stats()
	assert.Equal(t, Stats{File: name, Files: 1, Packets: 3, Bytes: s.Bytes}, s)
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Files: 3}, "-W 3"},
		{Options{File: "-", MaxBytes: 1}, "-w -"},
		{Options{File: "-", Every: time.Second}, "-w -"},
		{Options{MaxBytes: -1}, "-C"},
		{Options{Every: time.Millisecond}, "-G 1ms"},
		{Options{Files: -1}, "-W -1"},
		{Options{SnapLen: -1}, "-s -1"},
		{Options{File: "a-%Q.pcapng", Every: time.Second}, "%Q"},
		{Options{File: "a-%", Every: time.Second}, "% is not a time format"},
	} {
		_, err := Open(c.o)
		require.ErrorContains(t, err, c.want)
		assert.NotContains(t, err.Error(), "\n")
	}
	o := Options{File: "a-%Q"}
	assert.NoError(t, o.Check(), "without -G a percent sign is one")
}

// TestNames follows tcpdump's names, and what is different.
func TestNames(t *testing.T) {
	day := time.Date(2024, 2, 29, 23, 59, 58, 0, time.UTC)
	for _, c := range []struct {
		what  string
		o     Options
		steps []time.Duration
		want  string
		again int
	}{
		{"size", Options{File: "f", MaxBytes: 1}, make([]time.Duration, 4), "f f1 f2 f3", 0},
		{"ring of 3", Options{File: "f", MaxBytes: 1, Files: 3}, make([]time.Duration, 5), "f0 f1 f2 f0 f1", 2},
		{"ring of 1", Options{File: "f", MaxBytes: 1, Files: 1}, make([]time.Duration, 3), "f f f", 2},
		{"ring of 11", Options{File: "f", MaxBytes: 1, Files: 11}, make([]time.Duration, 2), "f00 f01", 0},
		{"ring of 10", Options{File: "f", MaxBytes: 1, Files: 10}, make([]time.Duration, 2), "f0 f1", 0},
		{"time", Options{File: "f-%H%M%S", Every: time.Second}, []time.Duration{0, time.Second, time.Second}, "f-235958 f-235959 f-000000", 0},
		{"time, no conversion", Options{File: "f", Every: time.Second}, []time.Duration{0, time.Second, time.Second}, "f f1 f2", 0},
		{"coarse time", Options{File: "f-%M", Every: time.Second}, []time.Duration{0, time.Second, time.Second, time.Second}, "f-59 f-591 f-00 f-001", 0},
		{"daily ring", Options{File: "f-%H", Every: 12 * time.Hour}, []time.Duration{0, 12 * time.Hour, 12 * time.Hour, 12 * time.Hour}, "f-23 f-11 f-23 f-11", 2},
		{"time and size", Options{File: "f-%S", Every: time.Second, MaxBytes: 1}, []time.Duration{0, 0, time.Second, 0, 0}, "f-58 f-581 f-59 f-591 f-592", 0},
		{"time and ring", Options{File: "f-%S_", Every: time.Second, MaxBytes: 1, Files: 2}, []time.Duration{0, 0, 0, time.Second, 0}, "f-58_0 f-58_1 f-58_0 f-59_0 f-59_1", 1},
	} {
		var n namer
		var got []string
		at, again := day, 0
		for i, step := range c.steps {
			at = at.Add(step)
			name, had := n.next(&c.o, &Period{c.o.Every, at.UnixNano()}, i == 0)
			got = append(got, name)
			if had {
				again++
			}
		}
		assert.Equal(t, c.want, strings.Join(got, " "), c.what)
		assert.Equal(t, c.again, again, c.what)
	}
	name, unknown := formatTime("%F %T %s %j %V %u %w %a %b %% %y %I%p %Z%z %C %e %G %A %B %R", day)
	assert.Empty(t, unknown)
	assert.Equal(t, "2024-02-29 23:59:58 1709251198 060 09 4 4 Thu Feb % 24 11PM UTC+0000 20 29 2024 Thursday February 23:59", name)
}

// TestStartStop: the screen begins and ends recordings; none writes over an earlier one.
func TestStartStop(t *testing.T) {
	dir := t.TempDir()
	r := open(t, Options{})
	require.Error(t, r.Start(""))
	r.Packet(pkt(1, "before"), packet.NotTCP, nil)
	r.Dropped(10, 10)
	for i, want := range []string{"a", "a1", "b", "a2"} {
		require.NoError(t, r.Start(filepath.Join(dir, want[:1])))
		assert.Equal(t, Stats{File: filepath.Join(dir, want), On: true, Files: i + 1, Packets: int64(i), Bytes: r.Stats().Bytes}, r.Stats())
		r.Packet(pkt(1, want), packet.NotTCP, nil)
		r.Dropped(int64(20+i), int64(11+i))
		require.NoError(t, r.Close())
		r.Packet(pkt(1, "between"), packet.NotTCP, nil)
	}
	for _, want := range []string{"a", "a1", "b", "a2"} {
		all, in := back(t, filepath.Join(dir, want))
		assert.Equal(t, []string{want}, texts(all))
		assert.Equal(t, int64(1), in[0].Dropped, "of its own time")
	}
}

// TestRotateBySize: no file is larger than it may be, nothing is lost between files, and a ring keeps the last of them.
func TestRotateBySize(t *testing.T) {
	for _, ring := range []int{0, 3} {
		dir := t.TempDir()
		r := open(t, Options{File: filepath.Join(dir, "f"), MaxBytes: 2000, Files: ring, Filter: "port 1"})
		for i := range 100 {
			r.Packet(pkt(int64(i+1), strings.Repeat(string(rune('0'+i%10)), 100+i)), packet.NotTCP, nil)
		}
		big := strings.Repeat("x", 5000)
		r.Packet(pkt(101, big), packet.NotTCP, nil)
		require.NoError(t, r.Close())
		all, inputs := back(t, dir)
		for _, in := range inputs {
			info, err := os.Stat(in.File)
			require.NoError(t, err)
			if in.Bytes != 5000 {
				assert.LessOrEqual(t, info.Size(), int64(2000))
				assert.Positive(t, in.Packets)
			}
		}
		assert.Equal(t, big, string(all[len(all)-1].Data))
		if ring == 0 {
			assert.Len(t, all, 101)
			assert.Equal(t, r.Stats().Files, len(inputs))
			assert.Zero(t, r.Stats().Overwritten)
		} else {
			assert.Equal(t, []string{"f0", "f1", "f2"}, files(t, dir))
			assert.Equal(t, r.Stats().Files-3, r.Stats().Overwritten)
			assert.Equal(t, int64(101), all[len(all)-1].Time)
			for i := range all[1:] {
				assert.Equal(t, all[i].Time+1, all[i+1].Time, "the last packets, without a hole")
			}
		}
	}
}

// TestRotateByTime: on the second, also while nothing comes, also when the clock is set; and it ends after -W.
func TestRotateByTime(t *testing.T) {
	const second = int64(time.Second)
	start := int64(1_700_000_000) * second
	dir := t.TempDir()
	r := open(t, Options{File: filepath.Join(dir, "f"), Every: 10 * time.Second, Files: 4, Now: clockAt(start)})
	r.Packet(pkt(start+second, "one"), packet.NotTCP, nil)
	r.Packet(pkt(start-second, "a little back"), packet.NotTCP, nil)
	r.Packet(pkt(start+10*second, "two"), packet.NotTCP, nil)
	assert.Equal(t, filepath.Join(dir, "f1"), r.Stats().File)
	r.Tick(start + 20*second)
	assert.Equal(t, filepath.Join(dir, "f2"), r.Stats().File)
	r.Packet(pkt(start-3600*second, "an hour back"), packet.NotTCP, nil)
	r.Packet(pkt(start-3592*second, "still"), packet.NotTCP, nil)
	assert.Equal(t, filepath.Join(dir, "f2"), r.Stats().File)
	r.Tick(start + 100*second)
	assert.Equal(t, filepath.Join(dir, "f3"), r.Stats().File, "a step ahead is one period")
	r.Packet(pkt(start+101*second, "last"), packet.NotTCP, nil)
	assert.False(t, r.Done())
	r.Tick(start + 110*second)
	assert.True(t, r.Done())
	r.Packet(pkt(start+111*second, "behind"), packet.NotTCP, nil)
	require.NoError(t, r.Close())
	assert.Equal(t, []string{"f", "f1", "f2", "f3"}, files(t, dir))
	for name, want := range map[string][]string{
		"f": {"one", "a little back"}, "f1": {"two"}, "f2": {"an hour back", "still"}, "f3": {"last"},
	} {
		all, _ := back(t, filepath.Join(dir, name))
		assert.Equal(t, want, texts(all))
	}
}

// TestDroppedOfEach: each file says what was lost in its time.
func TestDroppedOfEach(t *testing.T) {
	dir := t.TempDir()
	r := open(t, Options{File: filepath.Join(dir, "f"), Every: 10 * time.Second, Now: clockAt(0)})
	for i := range int64(3) {
		r.Packet(pkt(i*int64(10*time.Second), "x"), packet.NotTCP, nil)
		r.Dropped(i*100+50, i*10+3)
	}
	require.NoError(t, r.Close())
	_, in := back(t, filepath.Join(dir, "f"), filepath.Join(dir, "f1"), filepath.Join(dir, "f2"))
	assert.Equal(t, []int64{3, 10, 10}, []int64{in[0].Dropped, in[1].Dropped, in[2].Dropped})
}

// TestFollow: a reader of the growing file sees whole blocks, and what was recorded, at the next tick.
func TestFollow(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	r := open(t, Options{File: name})
	r.Packet(pkt(1, "one"), packet.NotTCP, nil)
	r.Tick(2)
	all, _ := back(t, name)
	assert.Equal(t, []string{"one"}, texts(all))
	require.NoError(t, r.Close())
}

func TestManyInterfaces(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	r := open(t, Options{File: name})
	for i := range maxIDs + 10 {
		p := pkt(int64(i), "x")
		p.Interface = i
		r.Packet(p, packet.NotTCP, nil)
		p.Interface = 3
		r.Packet(p, packet.NotTCP, nil)
	}
	r.Dropped(9, 4)
	require.NoError(t, r.Close())
	all, in := back(t, name)
	assert.Len(t, all, 2*(maxIDs+10))
	assert.Equal(t, int64(4), in[0].Dropped)
}

func TestLargePackets(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	r := open(t, Options{File: name, SnapLen: 4 << 20})
	data := strings.Repeat("0123456789abcdef", 5<<16)
	for _, n := range []int{10, len(data), 5 << 20, 10, 0} {
		r.Packet(pkt(1, data[:min(n, len(data))]), packet.NotTCP, nil)
	}
	require.NoError(t, r.Close())
	all, _ := back(t, name)
	require.Len(t, all, 5)
	assert.Equal(t, data[:4<<20], string(all[1].Data))
	assert.Equal(t, len(data), all[1].WireLen)
}

func TestCreateErrors(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{filepath.Join(dir, "no", "f"), dir} {
		_, err := Open(Options{File: name})
		require.Error(t, err)
		e, ok := errors.AsType[*capture.Error](err)
		require.True(t, ok)
		assert.Equal(t, name, e.File)
		assert.True(t, strings.HasPrefix(err.Error(), name+": "), err.Error())
		assert.Equal(t, 1, strings.Count(err.Error(), name), err.Error())
	}
}

// broken takes some bytes, then nothing.
type broken struct {
	bytes.Buffer
	room int
}

func (b *broken) Write(p []byte) (int, error) {
	n := min(len(p), b.room)
	b.room -= n
	b.Buffer.Write(p[:n])
	if n < len(p) {
		return n, errors.New("the pipe is full")
	}
	return n, nil
}

// TestStdout: what cannot be taken back is not added to.
func TestStdout(t *testing.T) {
	out := &broken{room: 1000}
	r := open(t, Options{File: "-", Stdout: out})
	for range 100 {
		r.Packet(pkt(1, strings.Repeat("x", 90)), packet.NotTCP, nil)
	}
	r.Tick(2)
	require.ErrorContains(t, r.Err(), "standard output: the pipe is full")
	out.room = 1000
	require.Error(t, r.Close())
	assert.Equal(t, 1000, out.Len())
	assert.Less(t, r.Stats().Packets, int64(10))
}
