package truth

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/pipeline"
)

// Packets that were captured more than once change nothing: what is found in both ends' files together, in a mirror's
// output or on several interfaces is what each packet once would give.
func TestCopiesCountOnce(t *testing.T) {
	path := func(name string) string { return filepath.Join(captures, name) }
	provider, consumer := path("both-ends.pcap.zst"), path("both-ends.consumer.pcap.zst")
	one, other := look(t, pipeline.Limits{}, provider), look(t, pipeline.Limits{}, consumer)
	for name, files := range map[string][]string{"in order": {provider, consumer}, "the other way": {consumer, provider}} {
		t.Run(name, func(t *testing.T) {
			both := look(t, pipeline.Limits{}, files...)
			assert.Equal(t, one.calls, both.calls)
			assert.Equal(t, one.totals.FrameBytes, both.totals.FrameBytes)
			assert.Equal(t, other.totals.FrameBytes, both.totals.FrameBytes)
			assert.Equal(t, one.totals.TCP.Payload, both.totals.TCP.Duplicate)
			assert.Equal(t, one.totals.TCP.Connections, both.totals.TCP.Connections)
			assert.Zero(t, both.totals.TCP.Repeated+both.totals.Gap+both.totals.Skipped)
			assert.LessOrEqual(t, both.totals.RPCBytes, max(one.totals.RPCBytes, other.totals.RPCBytes))
		})
	}
	for _, name := range []string{"mirror.pcap.zst", "any-doubles.pcap.zst", "any-doubles-cooked1.pcap.gz", "two-ports.pcapng.zst"} {
		t.Run(name, func(t *testing.T) {
			v := look(t, pipeline.Limits{}, path(name))
			assert.Equal(t, v.totals.TCP.Stream, v.totals.TCP.Duplicate, "each byte was captured twice")
			assert.Zero(t, v.totals.TCP.Repeated)
		})
	}
}
