package e2e

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// badWire: segments are lost, overtaken and repeated on their way, and TCP repairs it: who looks behind the relay sees everything,
// who looks before it sees much of it twice.
func badWire(t *testing.T, r *rig) {
	r.relayed(t, Badly{Lost: 0.02, Overtaken: 0.03, Repeated: 0.01})
	atProvider := r.capture(t, r.Provider, "", ProviderLink)
	atConsumer := r.capture(t, r.Consumer, "", ConsumerLink)
	mirror := r.capture(t, r.Relay, "", MirrorLink)
	require.NoError(t, r.consumer.Round("punctual "+all))
	r.settle(t)
	truth := r.truth(t, r.consumer)
	truth.whole(t, stop(t, atProvider))
	truth.whole(t, stop(t, atConsumer))
	truth.whole(t, stop(t, mirror))
}

// relayed puts the relay between the hosts for a test.
func (r *rig) relayed(t *testing.T, bad Badly) {
	require.NoError(t, r.Cut())
	t.Cleanup(func() {
		require.NoError(t, r.Cut())
		require.NoError(t, r.Join())
	})
	require.NoError(t, r.Relayed(bad))
}

// lossyMirror: the capture misses packets that both peers have. It says so, and makes nothing up.
func lossyMirror(t *testing.T, r *rig) {
	r.relayed(t, Badly{NotMirrored: 0.03})
	file := filepath.Join(r.Dir, "mirror.pcap")
	dump, err := r.StartTcpdump(r.Relay, MirrorLink, file)
	require.NoError(t, err)
	kept := filepath.Join(r.Dir, "mirror.pcapng")
	c := r.capture(t, r.Relay, "", MirrorLink, "-w", kept)
	require.NoError(t, r.consumer.Round("everything "+all))
	r.settle(t)
	truth := r.truth(t, r.consumer)
	report := stop(t, c)
	truth.part(t, report)
	t.Logf("coverage %v %%, gap %d bytes, %d of %d frames complete", report.Coverage.Percent, report.Coverage.GapBytes,
		report.Coverage.Frames-report.Coverage.FramesIncomplete, truth.Sent)
	assert.Less(t, report.Coverage.Percent, 100.0)
	assert.Greater(t, report.Coverage.Percent, 50.0)
	assert.NotZero(t, report.Coverage.GapBytes)

	dump.Signal(syscall.SIGINT)
	_, err = dump.Wait(time.Minute)
	require.NoError(t, err)
	complete, incomplete, err := r.Frames(file)
	require.NoError(t, err)
	assert.NotZero(t, incomplete)
	found := int64(incomplete)
	for header, n := range complete {
		assert.LessOrEqual(t, n, truth.Frames[header], "invented: %s", header)
		found += int64(n)
	}
	assert.Equal(t, report.Coverage.Frames, found)
	_, analysis, err := r.Analyze(file)
	require.NoError(t, err)
	sameGroups(t, c.File, analysis, apart, false)
	_, analysis, err = r.Analyze(kept)
	require.NoError(t, err)
	sameGroups(t, c.File, analysis, 0, false)
}
