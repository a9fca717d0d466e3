package madeup

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/dev/bench/traffic"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// mixed returns the report of a capture of the dubbo protocol and a talk with calls of the same methods.
func mixed(t *testing.T, by sizes.By) *report.Report {
	const method = "org.dubbowire.rig.edge.EdgeService/"
	var talk []packet
	talk = append(talk, packet{0, []byte(greeting)}, packet{1, []byte(greeting)})
	for i := range 20 {
		name := method + []string{"echo", "twice"}[i%2]
		talk = append(talk,
			packet{0, piece(askPiece, byte(i), marked(ends, 0, name+";trace=a1b2c3", 10), []byte("0123456789"))},
			packet{1, piece(answerPiece, byte(i), marked(ends, 0, "", 30+i), bytes.Repeat([]byte("r"), 30+i))},
			packet{0, piece(pingPiece, 0, make([]byte, 46))},
		)
	}
	var segments []traffic.Segment
	for _, p := range talk {
		segments = append(segments, traffic.Segment{Side: p.side, Data: p.data})
	}
	made := filepath.Join(t.TempDir(), "made.pcap")
	require.NoError(t, os.WriteFile(made, traffic.Talk(segments), 0o600))
	files := []string{"../../../testdata/captures/edge-hessian2.pcap.zst", made}
	src, err := capture.Open(files, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	cfg := measure.Config{By: by, Filter: &measure.Filter{}, Sample: measure.AsNeeded}
	opt := pipeline.Options{Protocols: known(), Formats: formats.All(), Detail: rpc.Envelope}
	c := cfg.Collect(files, &opt)
	totals, err := pipeline.Run(src, opt, c)
	require.NoError(t, err)
	r, err := c.Report(src.Inputs(), totals)
	require.NoError(t, err)
	return r
}

// With two protocols ratios are those of frames, shown beside the bodies, and control bytes per call.
func TestTwoProtocols(t *testing.T) {
	r := mixed(t, sizes.DefaultBy())
	table := func(width int) string {
		var b strings.Builder
		require.NoError(t, r.Write(&b, "table", report.Style{Width: width}))
		return strings.Join(strings.Fields(b.String()), " ")
	}
	for _, width := range []int{80, 0} {
		text := table(width)
		assert.Regexp(t, `same method, frames against dubbo/hessian2: parley/plain 0.24 x`, text)
		assert.Regexp(t, `dubbo/hessian2 344 .* 3,237 3,205 0.8 `, text)
		assert.Regexp(t, `parley/plain 20 .* 74 51 51 `, text)
		assert.Contains(t, text, "against dubbo/hessian2, parley/plain has request frames of 0.24 x and response frames of 0.52 x.")
		assert.Contains(t, text, "100 % of dubbo and parley's bytes are in complete frames")
		assert.Contains(t, text, "Control bytes outside calls: parley greeting on 1 connection (16 B), parley ping on 1 connection (1.00 kB).")
	}
	var saved bytes.Buffer
	require.NoError(t, r.WriteJSON(&saved, true))
	require.True(t, r.KeepSameMethods())
	text := table(0)
	assert.Contains(t, text, "SAME METHODS, against parley/plain")
	assert.Contains(t, text, "dubbo/hessian2 1 2 10 74 304 4.11 x 51 98 1.92 x 10 288 40 82")
	assert.Contains(t, text, "parley/plain 10 0 0 74 51 10 40")

	again, err := report.Read(&saved)
	require.NoError(t, err)
	assert.Equal(t, r.Totals.Control, again.Totals.Control)
	merged, err := report.Merge([]*report.Report{again}, 0)
	require.NoError(t, err)
	assert.Equal(t, r.Totals.Control, merged.Totals.Control)
}
