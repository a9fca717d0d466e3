package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// all is the serializations of these tests.
const all = "kryo,fst,fastjson,hessian2"

// rig is the bed of all tests with its provider, and a consumer across the wire.
type rig struct {
	*Bed
	provider, consumer *Peer
}

// TestLive is one test because its parts share the peers: a JVM takes seconds to start, and half a minute to build on a
// fresh machine.
func TestLive(t *testing.T) {
	r := newRig(t, Release)
	bed := r.Bed
	var err error
	r.provider, err = bed.StartProvider()
	require.NoError(t, err)
	r.consumer, err = bed.StartConsumer(bed.Consumer, ProviderHost)
	require.NoError(t, err)
	// Whatever is done only once, Dubbo does now.
	require.NoError(t, r.consumer.Round("plain "+all))
	_, err = bed.Truth(r.provider, r.consumer)
	require.NoError(t, err)

	for _, part := range []struct {
		name string
		run  func(t *testing.T, r *rig)
	}{
		{"wire", wire},
		{"loopback", loopback},
		{"heartbeats", heartbeats},
		{"ends", ends},
		{"command", command},
		{"interface goes down", goesDown},
		{"interface is deleted", deleted},
		{"bad wire", badWire},
		{"mirror that misses packets", lossyMirror},
		{"farewell", farewell}, // the last: the provider leaves
	} {
		if !t.Run(part.name, func(t *testing.T) { part.run(t, r) }) {
			return // the log of a round that broke off would be the next one's
		}
	}
}

// newRig returns a bed with peers of some releases, none of which runs.
func newRig(t *testing.T, releases ...string) *rig {
	testkit.Needs(t, "root and Java")
	if testing.Short() {
		t.Skip("with -short: real peers take a minute")
	}
	if missing := Missing("ethtool", "python3", "tcpdump", "setpriv", "setcap"); missing != "" {
		t.Skip(missing)
	}
	dir, err := os.MkdirTemp("", "dubbo-wire-e2e-") // t.TempDir is closed to other users
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("what was printed is kept in", dir)
			return
		}
		assert.NoError(t, os.RemoveAll(dir))
	})
	bed, err := NewBed(dir, os.Getenv("DUBBO_WIRE"), releases...) // another build than that of this tree, for trials
	if no, ok := errors.AsType[*NoJars](err); ok {
		t.Skip(no)
	}
	require.NoError(t, err)
	t.Cleanup(bed.Close)
	return &rig{Bed: bed}
}

// truth is what was sent since it was last asked for.
func (r *rig) truth(t *testing.T, consumer *Peer) *Truth {
	truth, err := r.Truth(r.provider, consumer)
	require.NoError(t, err)
	require.NotZero(t, truth.Sent)
	return truth
}

func (r *rig) capture(t *testing.T, ns, binary string, args ...string) *Capture {
	// One that has given up its rights does not die with us.
	c, err := r.StartCapture(ns, binary, append([]string{"--duration", "10m"}, args...)...)
	require.NoError(t, err)
	return c
}

func stop(t *testing.T, c *Capture) *Report {
	report, code, err := c.Stop()
	require.NoError(t, err)
	require.Zero(t, code, c.Stderr())
	return report
}

// wire: one round, and everybody who may look looks at it.
func wire(t *testing.T, r *rig) {
	file, kept := filepath.Join(r.Dir, "wire.pcap"), filepath.Join(r.Dir, "wire.pcapng")
	dump, err := r.StartTcpdump(r.Provider, ProviderLink, file)
	require.NoError(t, err)
	watchers := []struct {
		name string
		*Capture
	}{
		{"at the provider", r.capture(t, r.Provider, "", ProviderLink, "-w", kept)},
		{"filtered", r.capture(t, r.Provider, "", ProviderLink, "port "+Port)},
		{"filtered by both ends", r.capture(t, r.Provider, "", "any", "host", ConsumerHost, "and", "tcp", "port", Port)},
		{"all interfaces", r.capture(t, r.Provider, "", "any")},
		{"two interfaces", r.capture(t, r.Provider, "", ProviderLink+",lo")},
		{"an ordinary user, at the consumer", r.capture(t, r.Consumer, r.forNobody(t), ConsumerLink)},
		{"as root, who becomes an ordinary user", r.capture(t, r.Consumer, "", ConsumerLink, "--user", "nobody")},
		{"with class files", r.withClasses(t)},
	}
	other := r.capture(t, r.Provider, "", ProviderLink, "not port "+Port)
	require.NoError(t, r.consumer.Round("everything "+all))
	r.settle(t)
	truth := r.truth(t, r.consumer)
	t.Logf("%d frames, %d bytes of bodies, %d connections, %d groups", truth.Sent, truth.BodyBytes, truth.Connections, len(truth.Groups))

	for _, w := range watchers {
		t.Run(w.name, func(t *testing.T) { truth.whole(t, stop(t, w.Capture)) })
	}
	t.Run("nothing is opaque with class files", func(t *testing.T) {
		w := watchers[len(watchers)-1]
		report, err := readReport(w.File)
		require.NoError(t, err)
		decoded := 0
		for _, g := range report.Groups {
			sum := int64(0)
			for _, part := range g.Parts {
				sum += part.Bytes
				if part.Path == "opaque" && (g.Serialization == "kryo" || g.Serialization == "fst") {
					assert.Zero(t, part.Bytes, "%s %s/%s", g.Serialization, g.Service, g.Method)
					decoded++
				}
			}
			bodies := int64(0)
			for _, side := range []ReportSide{g.Request, g.Response} {
				if side.BodyBytes != nil {
					bodies += side.BodyBytes.Total
				}
			}
			assert.Equal(t, bodies, sum, "%s %s/%s", g.Serialization, g.Service, g.Method)
		}
		assert.Greater(t, decoded, 10, "groups of kryo and fst")
		assert.Contains(t, w.Stderr(), "all known")
	})
	t.Run("all but that port", func(t *testing.T) { assert.Zero(t, stop(t, other).Coverage.Frames) })
	t.Run("the file that it kept", func(t *testing.T) {
		report, analysis, err := r.Analyze(kept)
		require.NoError(t, err)
		truth.whole(t, report)
		truth.frames(t, r.Bed, kept)
		sameGroups(t, watchers[0].File, analysis, 0, true)
	})
	t.Run("tcpdump's file", func(t *testing.T) {
		dump.Signal(syscall.SIGINT)
		_, err := dump.Wait(time.Minute)
		require.NoError(t, err)
		report, analysis, err := r.Analyze(file)
		require.NoError(t, err)
		truth.whole(t, report)
		truth.frames(t, r.Bed, file)
		sameGroups(t, watchers[0].File, analysis, apart, true)
	})
}

// withClasses captures with the classes of the peers, from a jar that only root may read: the capture becomes an ordinary user.
func (r *rig) withClasses(t *testing.T) *Capture {
	root, err := moduleRoot()
	require.NoError(t, err)
	b, err := os.ReadFile(filepath.Join(root, "testdata/models/rig.jar"))
	require.NoError(t, err)
	jar := filepath.Join(r.Dir, "rig.jar")
	require.NoError(t, os.WriteFile(jar, b, 0o600))
	return r.capture(t, r.Provider, "", ProviderLink, "--user", "nobody", "--classpath", jar, "--parts")
}

// forNobody is a copy of dubbo-wire that an ordinary user may capture with.
func (r *rig) forNobody(t *testing.T) string {
	file := filepath.Join(r.Dir, "dubbo-wire-setcap")
	if _, err := os.Stat(file); err == nil {
		return file
	}
	b, err := os.ReadFile(r.Binary)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, b, 0o755))
	require.NoError(t, r.commands("setcap cap_net_raw+ep "+file))
	return file
}

// loopback: the consumer is on the provider's host. The kernel shows each packet there twice.
func loopback(t *testing.T, r *rig) {
	consumer, err := r.StartConsumer(r.Provider, "127.0.0.1")
	require.NoError(t, err)
	c := r.capture(t, r.Provider, "", "lo")
	onAny := r.capture(t, r.Provider, "", "any")
	require.NoError(t, consumer.Round("everything "+all))
	r.settle(t)
	truth := r.truth(t, consumer)
	truth.whole(t, stop(t, c))
	truth.whole(t, stop(t, onAny))
	require.NoError(t, consumer.Leave())
}

// heartbeats: nobody calls for a while; SIGTERM ends a capture as Ctrl-C does.
func heartbeats(t *testing.T, r *rig) {
	c := r.capture(t, r.Provider, "", ProviderLink)
	require.NoError(t, r.consumer.Round("heartbeats hessian2"))
	r.settle(t)
	truth := r.truth(t, r.consumer)
	require.NotZero(t, truth.Heartbeats)
	c.Signal(syscall.SIGTERM)
	report, code, err := c.Report()
	require.NoError(t, err)
	assert.Zero(t, code)
	truth.whole(t, report)
}

func (r *rig) settle(t *testing.T) {
	t.Helper()
	require.NoError(t, r.Settle())
}

// fileSize is the size of a file, 0 if there is none.
func fileSize(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// farewell: the provider leaves while a consumer is connected, with the event that says so.
func farewell(t *testing.T, r *rig) {
	c := r.capture(t, r.Provider, "", ProviderLink)
	before := fileSize(r.provider.truth)
	require.NoError(t, r.consumer.Begin("hold fst"))
	// Its calls are done when the provider logs no more; its connections stay open for 5 s from then.
	size, looks := before, 0
	require.Eventually(t, func() bool {
		looks++
		if now := fileSize(r.provider.truth); now != size {
			size, looks = now, 0
		}
		return size > before && looks == 10
	}, time.Minute, 100*time.Millisecond, "no calls")
	require.NoError(t, r.provider.Leave())
	require.NoError(t, r.consumer.Leave())
	r.settle(t)
	truth := r.truth(t, r.consumer)
	require.NotZero(t, truth.Events)
	truth.whole(t, stop(t, c))
}
