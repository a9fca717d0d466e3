package pipeline

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/rpc"
)

// shifted is a source whose packets come later, or earlier, from a packet on.
type shifted struct {
	capture.Source
	n     int
	shift func(n int) time.Duration
}

func (s *shifted) Next(p *capture.Packet) error {
	err := s.Source.Next(p)
	if err == nil {
		s.n++
		p.Time += int64(s.shift(s.n))
	}
	return err
}

// calls counts what comes out.
type calls struct{ selected, unanswered int }

func (*calls) Frame(*Row) {}

func (c *calls) Call(k *call.Call, _ bool) {
	c.selected++
	if k.State() == call.NoResponse {
		c.unanswered++
	}
}

func runShifted(t *testing.T, file string, opt Options, shift func(n int) time.Duration) (*Totals, *calls) {
	src, err := capture.Open([]string{"../../testdata/captures/" + file}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	opt.Protocols, opt.Formats = protocols.All(), formats.All()
	sink := &calls{}
	totals, err := Run(&shifted{Source: src, shift: shift}, opt, sink)
	require.NoError(t, err)
	require.NoError(t, totals.Balance())
	return totals, sink
}

// TestClockSteps: whatever is done to the clock of the recording machine, the same messages and calls are found, and
// nothing expires.
func TestClockSteps(t *testing.T) {
	const file = "fleet.pcap.zst"
	limits := Limits{IdleTime: time.Minute, CallTime: time.Minute}
	want, wanted := runShifted(t, file, Options{Limits: limits}, func(int) time.Duration { return 0 })
	for name, shift := range map[string]func(n int) time.Duration{
		"back by an hour": func(n int) time.Duration {
			if n > 500 {
				return -time.Hour
			}
			return 0
		},
		"back again and again": func(n int) time.Duration { return -time.Duration(n/100) * 10 * time.Minute },
		"back to 1970": func(n int) time.Duration {
			if n > 300 {
				return -50 * 365 * 24 * time.Hour
			}
			return 0
		},
	} {
		got, sink := runShifted(t, file, Options{Limits: limits}, shift)
		assert.Equal(t, want.Frames, got.Frames, name)
		assert.Equal(t, want.Calls, got.Calls, name)
		assert.Equal(t, wanted, sink, name)
		assert.Equal(t, want.RPCBytes, got.RPCBytes, name)
		assert.Equal(t, want.CompleteBytes, got.CompleteBytes, name)
		assert.Zero(t, got.TCP.Idle, name)
		assert.Zero(t, got.ExpiredByTime, name)
	}
	// Live, a step forward is none either.
	forward := func(n int) time.Duration {
		if n > 500 {
			return 24 * time.Hour
		}
		return 0
	}
	got, sink := runShifted(t, file, Options{Limits: limits, Live: true}, forward)
	assert.Equal(t, want.Frames, got.Frames)
	assert.Equal(t, wanted, sink)
	assert.Zero(t, got.TCP.Idle)
}

// TestExpiry: a connection without packets, and a request without an answer, for longer than is waited for, are given
// up, and counted; what comes after is found as on a connection joined midway.
func TestExpiry(t *testing.T) {
	const file = "edge-hessian2-2.7.3.pcap.zst"
	pause := func(n int) time.Duration {
		if n > 200 {
			return time.Hour
		}
		return 0
	}
	never, _ := runShifted(t, file, Options{}, pause)
	assert.Zero(t, never.TCP.Idle)
	assert.Zero(t, never.ExpiredByTime)
	got, _ := runShifted(t, file, Options{Limits: Limits{IdleTime: 10 * time.Minute, CallTime: 10 * time.Minute}}, pause)
	assert.Greater(t, got.TCP.Idle, int64(0))
	assert.GreaterOrEqual(t, got.TCP.Joined, got.TCP.Idle)
	assert.Equal(t, never.TCP.Connections+got.TCP.Idle, got.TCP.Connections)
	assert.InDelta(t, float64(never.Frames), float64(got.Frames), 4)
}

// waiting is a source that has nothing now and then, as an interface.
type waiting struct {
	capture.Source
	n int
}

func (w *waiting) Next(p *capture.Packet) error {
	if w.n++; w.n%7 == 0 {
		return capture.ErrTimeout
	}
	return w.Source.Next(p)
}

// TestRunning: a look at a run has, at its end, what the totals have but for what only the end tells.
func TestRunning(t *testing.T) {
	for _, file := range []string{"fleet.pcap.zst", "edge-hessian2-2.7.3.pcap.zst"} {
		src, err := capture.Open([]string{"../../testdata/captures/" + file}, capture.Options{})
		require.NoError(t, err)
		looks := 0
		var last *Progress
		ended := false
		opt := Options{Protocols: protocols.All(), Formats: formats.All(), Live: true}
		opt.Watch = func(r *Running) {
			looks++
			k := r.Progress()
			if last != nil {
				assert.GreaterOrEqual(t, k.Packets, last.Packets)
				assert.GreaterOrEqual(t, k.Frames, last.Frames)
				assert.GreaterOrEqual(t, k.SeenBytes, last.SeenBytes)
			}
			last = k
		}
		opt.Stop = func() bool { return ended }
		totals, err := Run(&waiting{Source: &atEnd{Source: src, ended: &ended}}, opt, &calls{})
		require.NoError(t, err)
		require.Greater(t, looks, 3)
		assert.Equal(t, totals.Packets, last.Packets)
		assert.Equal(t, totals.LinkBytes, last.LinkBytes)
		assert.Equal(t, totals.Frames, last.Frames)
		assert.Equal(t, totals.CompleteBytes, last.CompleteBytes)
		assert.LessOrEqual(t, last.OtherBytes(), totals.OtherBytes()) // what is still looked through is known at the end
		assert.InDelta(t, totals.Percent(), last.Percent(), 0.001)
		assert.Equal(t, totals.Calls, last.Calls+int64(last.OpenCalls))
		assert.InDelta(t, totals.RPCBytes, last.SeenBytes, 0.01*float64(totals.RPCBytes))
		src.Close()
	}
}

// atEnd waits at the end of its source, as an interface does.
type atEnd struct {
	capture.Source
	ended *bool
}

func (a *atEnd) Next(p *capture.Packet) error {
	err := a.Source.Next(p)
	if err == io.EOF {
		*a.ended = true
		return capture.ErrTimeout
	}
	return err
}

// TestWantValues: values that are wanted from one moment to the next, and then no more, change nothing but what rows have of
// them.
func TestWantValues(t *testing.T) {
	for _, file := range []string{"fleet.pcap.zst", "edge-hessian2-2.7.3.pcap.zst", "zoo-hessian2-3.3.6.pcap.zst"} {
		want, wanted := runShifted(t, file, Options{}, func(int) time.Duration { return 0 })
		n := 0
		opt := Options{Live: true, Watch: func(r *Running) {
			n++
			if n%3 == 1 {
				r.WantValues(func(_ *call.Conn, _ int, m *rpc.Message) bool { return m.Exchange%2 == 0 })
			} else {
				r.WantValues(nil)
			}
		}}
		// Time passes faster, so that it is asked for at every packet.
		got, sink := runShifted(t, file, opt, func(n int) time.Duration { return time.Duration(n) * 200 * time.Millisecond })
		require.Greater(t, n, 100)
		assert.Equal(t, want.Frames, got.Frames, file)
		assert.Equal(t, want.CompleteBytes, got.CompleteBytes, file)
		assert.Equal(t, wanted, sink, file)
	}
}
