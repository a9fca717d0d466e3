package capture

import (
	"encoding/binary"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// await calls Next until done, and returns the numbers of the test's frames that came.
func await(t *testing.T, l *Live, done func(numbers []uint32) bool) (numbers []uint32) {
	t.Helper()
	var p Packet
	for start := time.Now(); !done(numbers); {
		require.Less(t, time.Since(start), time.Minute, "came so far: %v", numbers)
		err := l.Next(&p)
		if err == ErrTimeout {
			continue
		}
		require.NoError(t, err)
		if at := len(p.Data) - 10; at > 0 {
			numbers = append(numbers, binary.BigEndian.Uint32(p.Data[at:]))
		}
	}
	return numbers
}

// resend sends until it is received: after an interface that came up, the other end drops frames until it knows.
func resend(t *testing.T, l *Live, s *sender, number uint32) {
	t.Helper()
	var last time.Time
	numbers := await(t, l, func(n []uint32) bool {
		if len(n) == 0 && time.Since(last) > 100*time.Millisecond {
			last = time.Now()
			require.NoError(t, s.send(testFrame(number, 10)))
		}
		return len(n) > 0
	})
	for _, n := range numbers {
		assert.Equal(t, number, n)
	}
	// Those that were on their way.
	var p Packet
	for l.Next(&p) == nil {
	}
}

// An interface that goes down or away is waited for, alone or with others; what came before and comes after is
// delivered, and the counts go on.
func TestLiveDownAndUp(t *testing.T) {
	for _, names := range []string{"v-ring0", "v-ring0,v-ring2"} {
		t.Run(names, func(t *testing.T) {
			inNamespace(t)
			pair(t, "v-ring0", "v-ring1")
			pair(t, "v-ring2", "v-ring3")
			s, other := newSender(t, "v-ring1"), newSender(t, "v-ring3")
			several := strings.Contains(names, ",")
			var told []string
			var l *Live
			l = openLive(t, names, LiveOptions{Poll: 20 * time.Millisecond, Notice: func(line string) {
				told = append(told, line)
				l.States() // may be asked from here
			}})
			hear := func(n int) {
				t.Helper()
				assert.Empty(t, await(t, l, func([]uint32) bool { return len(told) >= n }))
			}
			get := func(want ...uint32) {
				t.Helper()
				assert.Equal(t, want, await(t, l, func(n []uint32) bool { return len(n) >= len(want) }))
			}
			require.NoError(t, s.send(testFrame(1, 10)))
			get(1)

			ip(t, "link set v-ring0 down")
			hear(1)
			assert.Equal(t, "v-ring0 went down; waiting until it is back (Ctrl-C ends the capture)", told[0])
			state := l.States()[0]
			assert.True(t, !state.Up && !state.Gone && state.Index > 0)
			if several {
				require.NoError(t, other.send(testFrame(2, 10)))
				get(2)
			}
			ip(t, "link set v-ring0 up")
			resend(t, l, s, 3)
			hear(2)
			assert.Equal(t, "v-ring0 is up again", told[1])

			before := l.States()[0].Index
			ip(t, "link del v-ring0")
			hear(3)
			assert.Equal(t, "v-ring0 disappeared; waiting until it is back (Ctrl-C ends the capture)", told[2])
			assert.Equal(t, InterfaceState{Name: "v-ring0", Gone: true}, l.States()[0])
			if several {
				require.NoError(t, other.send(testFrame(4, 10)))
				get(4)
			}
			pair(t, "v-ring0", "v-ring1")
			hear(4)
			assert.True(t, strings.HasPrefix(told[3], "v-ring0 is back"), told[3])
			await(t, l, func([]uint32) bool { return l.States()[0].Up })
			assert.NotEqual(t, before, l.States()[0].Index)
			s = newSender(t, "v-ring1")
			resend(t, l, s, 5)
			require.NoError(t, newSender(t, "v-ring0").send(testFrame(6, 10)))
			get(6)

			stats, err := l.Stats()
			require.NoError(t, err)
			assert.EqualValues(t, 1, stats.Out.Packets)
			assert.Equal(t, stats.Received, stats.In.Packets+stats.Out.Packets)
			assert.Equal(t, l.Inputs()[0].Packets, stats.Received)
			assert.Empty(t, l.Inputs()[0].Damage)
		})
	}
}

// A change of an interface ends a wait, and so does Close, however long the wait would be.
func TestLiveIsWoken(t *testing.T) {
	inNamespace(t)
	pair(t, "v-ring0", "v-ring1")
	var told []string
	l := openLive(t, "v-ring0", LiveOptions{Poll: time.Hour, Notice: func(line string) { told = append(told, line) }})
	var late atomic.Bool
	watchdog := time.AfterFunc(time.Minute, func() {
		late.Store(true)
		_ = l.Close()
	})
	defer watchdog.Stop()
	next := func() error {
		var p Packet
		for {
			if err := l.Next(&p); err != nil {
				return err
			}
		}
	}
	down := exec.Command("sh", "-c", "sleep 0.2; ip link set v-ring0 down") // in this namespace, while Next waits
	require.NoError(t, down.Start())
	assert.Equal(t, ErrTimeout, next())
	assert.Equal(t, []string{"v-ring0 went down; waiting until it is back (Ctrl-C ends the capture)"}, told)
	require.NoError(t, down.Wait())

	closing := time.AfterFunc(200*time.Millisecond, func() { _ = l.Close() })
	defer closing.Stop()
	assert.Equal(t, ErrClosed, next())
	assert.False(t, late.Load(), "nothing woke it for a minute")
}

// An interface of the same name with other packets is not taken into a capture that has one link type.
func TestLiveBackAsAnother(t *testing.T) {
	inNamespace(t)
	pair(t, "v-ring0", "v-ring1")
	var told []string
	l := openLive(t, "v-ring0", LiveOptions{Poll: 20 * time.Millisecond, Notice: func(line string) { told = append(told, line) }})
	ip(t, "link del v-ring0")
	await(t, l, func([]uint32) bool { return len(told) == 1 })
	ip(t, "tuntap add dev v-ring0 mode tun")
	await(t, l, func([]uint32) bool { return len(told) == 2 })
	assert.Contains(t, told[1], "v-ring0 is back with another link type")
	ip(t, "link del v-ring0")
	pair(t, "v-ring0", "v-ring1")
	await(t, l, func([]uint32) bool { return l.States()[0].Up })
	require.NoError(t, newSender(t, "v-ring1").send(testFrame(1, 10)))
	assert.Equal(t, []uint32{1}, await(t, l, func(n []uint32) bool { return len(n) > 0 }))
	for _, line := range told[2:] {
		assert.NotContains(t, line, "another kind")
	}
}

// With "any" an interface that is new is captured at once, and one that is back keeps its place.
func TestLiveAnyNew(t *testing.T) {
	inNamespace(t)
	l := openLive(t, AnyInterface, LiveOptions{Poll: 20 * time.Millisecond})
	assert.Empty(t, l.States())
	for i := range uint32(3) {
		pair(t, "v-ring0", "v-ring1")
		require.NoError(t, newSender(t, "v-ring1").send(testFrame(i, 10)))
		assert.Equal(t, []uint32{i, i}, await(t, l, func(n []uint32) bool { return len(n) == 2 }))
		states := l.States()
		require.Len(t, states, 2)
		assert.True(t, states[0].Up && states[1].Up)
		ip(t, "link del v-ring0")
		await(t, l, func([]uint32) bool { return l.States()[0].Gone && l.States()[1].Gone })
	}
}
