package pipeline

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/sizes"
)

// Connections are loaded ahead if there are many. That changes nothing, whatever the packets are, and whether one goroutine handles them or several do.
func TestPreloadConnections(t *testing.T) {
	defer func(n int) { manyConnections = n }(manyConnections)
	for _, name := range []string{"fleet", "loss", "triple-multiplexed-3.3.6", "rest-3.3.6", "thrift-2.7.23", "fragments-v4", "any-doubles"} {
		read := func(many, jobs int) (*Totals, *sink) {
			manyConnections = many
			src, err := capture.Open([]string{testkit.Get(t, name).Path()}, capture.Options{})
			require.NoError(t, err)
			defer src.Close()
			out := &sink{agg: sizes.New(sizes.DefaultBy(), 0, nil)}
			totals, err := Run(src, Options{Protocols: protocols.All(), Formats: formats.All(), Jobs: jobs}, out)
			require.NoError(t, err)
			return totals, out
		}
		want, wanted := read(1<<30, 1)
		require.NotEmpty(t, wanted.calls)
		for jobs := 1; jobs <= 2; jobs++ {
			totals, got := read(0, jobs)
			assert.Equal(t, wanted.calls, got.calls, "%s, %d jobs", name, jobs)
			assert.Equal(t, wanted.agg.Groups(), got.agg.Groups(), "%s, %d jobs", name, jobs)
			assert.Equal(t, want.TCP, totals.TCP, "%s, %d jobs", name, jobs)
		}
	}
}
