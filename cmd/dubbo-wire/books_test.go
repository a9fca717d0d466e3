package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// From books that do not balance nothing is printed, and no file is left.
func TestNoReportFromWrongBooks(t *testing.T) {
	dir := t.TempDir()
	out := output.Options{Formats: []string{"table", "json"}, Files: []string{filepath.Join(dir, "a.json")}}
	for _, totals := range []*pipeline.Totals{{LinkBytes: 1}, {FrameBytes: 1}, {SegmentHeaders: 1}, {RPCBytes: 1}} {
		var b strings.Builder
		r := report.Build(nil, totals, sizes.DefaultBy(), nil)
		screen := output.NewTarget("table", &b)
		files, err := out.Open(&output.Places{Stdout: &b})
		require.NoError(t, err)
		err = (&analyzeFlags{}).print(append(files, screen), r, "analyze a.pcap", "")
		require.ErrorContains(t, err, "do not balance")
		require.NoError(t, screen.W.Flush())
		require.Empty(t, b.String())
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
