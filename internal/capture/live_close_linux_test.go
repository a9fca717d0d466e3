package capture

import (
	"errors"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mappings is how many rings the process has in its memory.
func mappings(t *testing.T) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	return strings.Count(string(maps), "socket:[")
}

// settled is mappings when those of earlier tests are gone.
func settled(t *testing.T) int {
	t.Helper()
	for start := time.Now(); mappings(t) > 0 && time.Since(start) < 10*time.Second; time.Sleep(10 * time.Millisecond) {
		runtime.GC()
	}
	return mappings(t)
}

// poke makes a packet on the loopback interface.
func poke(t *testing.T) {
	t.Helper()
	conn, err := net.Dial("udp4", "127.0.0.1:9")
	require.NoError(t, err)
	_, _ = conn.Write([]byte("what is delivered stays"))
	require.NoError(t, conn.Close())
}

// nextPacket reads up to the packet of poke.
func nextPacket(t *testing.T, l *Live, p *Packet) {
	t.Helper()
	for start := time.Now(); ; {
		require.Less(t, time.Since(start), time.Minute)
		if err := l.Next(p); err == nil && strings.HasSuffix(string(p.Data), "delivered stays") {
			return
		}
	}
}

// Under a packet that was delivered the memory stays, until Next is called or nobody can call it any more.
func TestLiveCloseUnderAPacket(t *testing.T) {
	before := settled(t)
	l := openLive(t, "lo", LiveOptions{Buffer: 4 << 20})
	require.Equal(t, before+1, mappings(t))
	poke(t)
	var p Packet
	nextPacket(t, l, &p)
	closed := make(chan error)
	go func() { closed <- l.Close() }()
	require.NoError(t, <-closed)
	assert.True(t, strings.HasSuffix(string(p.Data), "what is delivered stays"))
	stats, err := l.Stats()
	require.NoError(t, err)
	assert.Positive(t, stats.Received)
	assert.Positive(t, stats.In.Packets)
	assert.Equal(t, "lo", l.States()[0].Name)
	assert.Equal(t, ErrClosed, l.Next(&p))
	assert.Equal(t, before, mappings(t))
	assert.Equal(t, ErrClosed, l.Next(&p))
	again, err := l.Stats()
	require.NoError(t, err)
	assert.Equal(t, stats.Received, again.Received)
	assert.Zero(t, again.Fill)
	assert.Equal(t, stats.Received, again.Received)

	l, err = OpenLive([]string{"lo"}, LiveOptions{Buffer: 4 << 20})
	require.NoError(t, err)
	poke(t)
	nextPacket(t, l, &p)
	require.NoError(t, l.Close())
	p = Packet{}
	runtime.KeepAlive(l)
	l = nil
	for start := time.Now(); mappings(t) != before; time.Sleep(10 * time.Millisecond) {
		require.Less(t, time.Since(start), time.Minute)
		runtime.GC()
	}
}

// Close without a Next before it gives everything back at once, and as often as one likes.
func TestLiveCloseAtOnce(t *testing.T) {
	before := settled(t)
	fds := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(all)
	}
	open := fds()
	for range 3 {
		l := openLive(t, "lo", LiveOptions{})
		require.NoError(t, l.Close())
		require.NoError(t, l.Close())
		assert.Equal(t, ErrClosed, l.Next(new(Packet)))
	}
	assert.Equal(t, before, mappings(t))
	assert.LessOrEqual(t, fds(), open)
}

// All but Next and Inputs may be called from anywhere, while packets come.
func TestLiveFromManyGoroutines(t *testing.T) {
	for range 5 {
		l := openLive(t, "any", LiveOptions{Buffer: 1 << 20, Poll: time.Millisecond})
		stop, some := make(chan struct{}), make(chan struct{})
		var others sync.WaitGroup
		for range 2 {
			others.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						_, err := l.Stats()
						assert.NoError(t, err)
						l.States()
					}
				}
			})
		}
		others.Go(func() {
			conn, err := net.Dial("udp4", "127.0.0.1:9")
			if !assert.NoError(t, err) {
				return
			}
			defer conn.Close()
			for {
				select {
				case <-stop:
					return
				default:
					_, _ = conn.Write(make([]byte, 8000))
				}
			}
		})
		others.Go(func() {
			<-some
			assert.NoError(t, l.Close())
		})
		var p Packet
		var sum byte
		n := 0
		for {
			err := l.Next(&p)
			if errors.Is(err, ErrClosed) {
				break
			}
			if err == nil {
				if n++; n == 100 {
					close(some)
				}
				for _, b := range p.Data {
					sum += b
				}
			}
		}
		close(stop)
		others.Wait()
	}
}
