package findings_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/findings"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

const captures = "../../testdata/captures"

// sink hands calls to a collector, and to whoever looks at them beside it.
type sink struct {
	*findings.Collector
	also func(c *call.Call)
}

func (sink) Frame(*pipeline.Row) {}

func (s sink) Call(c *call.Call, _ bool) {
	if s.also != nil {
		s.also(c)
	}
	s.Collector.Call(c)
}

// read makes a report of a capture's findings.
func read(t testing.TB, path string, jobs int, also func(*call.Call)) *report.Report {
	t.Helper()
	src, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	k := findings.New()
	totals, err := pipeline.Run(src, pipeline.Options{
		Formats: formats.All(), Jobs: jobs, Sample: pipeline.Sample{Calls: 64, Bytes: 1 << 20, Bodies: true},
	}, sink{k, also})
	require.NoError(t, err)
	r := report.Build(src.Inputs(), totals, sizes.DefaultBy(), nil)
	r.Selected.Calls = totals.Calls
	r.Findings, r.Basis = k.Findings(totals), k.Basis()
	return r
}

func TestLook(t *testing.T) {
	for _, p := range filepath.SplitList(os.Getenv("LOOK")) {
		r := read(t, p, 1, nil)
		require.NoError(t, r.WriteFindings(os.Stdout, os.Getenv("AS"), report.Style{Width: 80}))
	}
}
