package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/sizes"
)

// There is no report from totals that do not balance: nothing is printed, and no file is left.
func TestNoReportFromWrongBooks(t *testing.T) {
	for _, totals := range []*pipeline.Totals{{LinkBytes: 1}, {FrameBytes: 1}, {SegmentHeaders: 1}, {RPCBytes: 1}} {
		cfg := measure.Config{By: sizes.DefaultBy(), Filter: &measure.Filter{}}
		_, err := cfg.Collect(nil, new(pipeline.Options)).Report(nil, totals)
		require.ErrorContains(t, err, "do not balance")
		require.Equal(t, exit.Partly, exit.CodeOf(err))
	}
}
