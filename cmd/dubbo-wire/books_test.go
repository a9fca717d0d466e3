package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/sizes"
)

// There is no report from totals that do not balance.
func TestNoReportFromWrongBooks(t *testing.T) {
	for _, totals := range []*pipeline.Totals{{LinkBytes: 1}, {FrameBytes: 1}, {SegmentHeaders: 1}, {RPCBytes: 1}} {
		cfg := measure.Config{By: sizes.DefaultBy(), Filter: &measure.Filter{}}
		r, err := cfg.Collect(nil, new(pipeline.Options)).Report(nil, totals)
		require.ErrorContains(t, err, "do not balance")
		require.Equal(t, exit.Partly, exit.CodeOf(err))
		require.Nil(t, r)
	}
}

// Where there is no report, nothing is printed and no file is left, although its targets are open by then. The saved report
// cannot be grouped by what it does not have, which analyze learns where it learns of wrong totals.
func TestNothingLeftWithoutReport(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "saved.json")
	must(t, "analyze", capturePath("bid-plain.pcap"), "--by", "service", "--format", "json", "--buckets", "-o", saved)
	dir := t.TempDir()
	old := filepath.Join(dir, "old.json")
	require.NoError(t, os.WriteFile(old, []byte("stays"), 0o666))
	for _, args := range [][]string{
		{"-o", filepath.Join(dir, "new.json")},
		{"-o", filepath.Join(dir, "new.json"), "-o", filepath.Join(dir, "new.html")},
		{"-o", old},
		{},
	} {
		stdout, stderr, code := dubboWire(append([]string{"analyze", saved, "--by", "method"}, args...)...)
		assert.Equal(t, exit.Usage, code, stderr)
		assert.Contains(t, stderr, "does not contain the method", args)
		assert.Empty(t, stdout, args)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
	text, err := os.ReadFile(old)
	require.NoError(t, err)
	assert.Equal(t, "stays", string(text))
}
