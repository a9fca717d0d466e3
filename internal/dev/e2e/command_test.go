package e2e

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ends: captures that end while packets come, each in its own way. Every one has a report, whose books balance.
func ends(t *testing.T, r *rig) {
	require.NoError(t, r.consumer.Begin("steady kryo,fst,hessian2"))
	packets := r.capture(t, r.Provider, "", ProviderLink, "-c", "200")
	calls := r.capture(t, r.Provider, "", ProviderLink, "--calls", "20")
	size := r.capture(t, r.Provider, "", ProviderLink, "--max-bytes", "100KB")
	duration := r.capture(t, r.Provider, "", ProviderLink, "--duration", "700ms")
	interrupted := r.capture(t, r.Provider, "", ProviderLink)
	time.Sleep(300 * time.Millisecond)
	interrupted.Signal(syscall.SIGINT)
	reports := map[*Capture]*Report{}
	for _, c := range []*Capture{packets, calls, size, duration, interrupted} {
		report, code, err := c.Report()
		require.NoError(t, err)
		assert.Zero(t, code, c.Stderr())
		reports[c] = report
	}
	_, err := r.consumer.WaitFor("DONE", r.consumer.done, 0)
	require.Error(t, err, "the round was over before the captures")
	require.NoError(t, r.consumer.Finished(time.Minute))
	r.settle(t)
	truth := r.truth(t, r.consumer)
	for _, report := range reports {
		truth.part(t, report)
		assert.NotZero(t, report.Coverage.Frames)
	}
	assert.EqualValues(t, 200, reports[packets].Inputs[0].Packets)
	found := int64(0)
	for _, g := range reports[calls].Groups {
		found += g.Calls
	}
	assert.EqualValues(t, 20, found)
	assert.GreaterOrEqual(t, reports[size].Wire.LinkBytes, int64(100_000))
}

// command: `capture lo -- COMMAND` captures for as long as a consumer lives, sees all of it, and passes its exit code on.
func command(t *testing.T, r *rig) {
	truthFile := filepath.Join(r.Dir, "command.truth")
	java := r.Java(r.Provider, "consumer", "Consumer", truthFile, []string{"-Drig.host=127.0.0.1", "-Drig.serializations=" + all}, "once")
	java = java[len(inNamespace("")):] // where the capture is, too
	for i, word := range java {
		java[i] = "'" + word + "'"
	}
	c := r.capture(t, r.Provider, "", "lo", "port", Port, "--", "sh", "-c", strings.Join(java, " ")+"; echo consumer: $?; exit 7")
	require.NoError(t, c.Stdin.Close()) // the consumer leaves when it ends
	code, err := c.Wait(StartJava + time.Minute)
	require.NoError(t, err)
	assert.Equal(t, 7, code, c.Stderr())
	assert.Contains(t, c.Stdout(), "consumer: 0")
	report, err := readReport(c.File)
	require.NoError(t, err, c.Stderr())
	r.truth(t, &Peer{Process: c.Process, truth: truthFile}).whole(t, report)
}
