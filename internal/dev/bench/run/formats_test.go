package main

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/rpc"
)

var postsOnce = sync.OnceValues(func() ([]*workload, error) { return posts("../../../../" + captures) })

// Every serialization that is understood in full has a row, of which every body is read to its end.
func TestEveryFormatHasARow(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: the race detector finds nothing")
	}
	all, err := postsOnce()
	require.NoError(t, err)
	rows := map[string]*workload{}
	for _, w := range all {
		rows[w.name] = w
	}
	for _, f := range formats.All() {
		if f.Depth < decode.DepthFull {
			continue
		}
		w := rows[f.FullName()]
		if assert.NotNil(t, w, f.FullName()) {
			assert.Greater(t, w.values, 1000, "%s: posts are a list", f.FullName())
			assert.Zero(t, len(w.frames)%2, "%s: requests and their answers", f.FullName())
		}
	}
}

// What a walk allocates does not depend on how many values there are.
func TestWalksAllocateNothingPerValue(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector allocates")
	}
	all, err := postsOnce()
	require.NoError(t, err)
	for _, w := range all {
		if w.isWhole() && w.values > 1000 { // fewer tell nothing: the posts of avro are 32
			assert.Less(t, allocs(w.walk), float64(w.values)/100, w.name)
		}
	}
}

// The peer reads what is written on the benchmark's mix: all fields of all bodies.
func TestPeerReadsTheMix(t *testing.T) {
	w, err := mix()
	require.NoError(t, err)
	values, err := w.peer()
	require.NoError(t, err)
	fields := 0
	var dialects dubbo.Dialects
	for _, f := range w.frames {
		m := w.decoder.Decode(f, rpc.Values, &dialects)
		for i := 0; i < len(m.Tree.Nodes); i = int(m.Tree.Nodes[i].End) {
			if fields++; m.Tree.Nodes[i].Name == "args" {
				fields += len(m.Names.Types) - 1
			}
		}
	}
	assert.Equal(t, fields, values)
}

// The bar is 15 times as many bytes as by the peer.
func TestJudgePeer(t *testing.T) {
	for times, want := range map[float64]string{0: "MISSED", 14.9: "MISSED", 15: "ok", 40: "ok"} {
		verdict, held := judgePeer(times)
		assert.Equal(t, want, verdict, times)
		assert.Equal(t, want == "ok", held, times)
	}
}

func TestFormatTable(t *testing.T) {
	row := func(f decode.Format, walked ...float64) formatRow {
		printed := make(rate, len(walked))
		for i := range printed {
			printed[i] = walked[i] / 4
		}
		return formatRow{
			workload: &workload{name: f.FullName(), format: &f, frames: make([]*dubbo.Frame, 2), bytes: 2000, values: 50},
			walked:   walked, printed: printed, walkAllocs: 0.5, printedAllocs: 1.25,
		}
	}
	rows := []formatRow{
		row(decode.Format{Name: "slow", Depth: decode.DepthFull}, 100e6, 400e6, 100e6),
		row(decode.Format{Name: "hessian2", Depth: decode.DepthFull}, 1000e6, 2000e6, 400e6),
		row(decode.Format{Name: "half as fast", Depth: decode.DepthFull}, 500e6, 1000e6, 200e6),
		row(decode.Format{Name: "opaque", Depth: decode.DepthEnvelope}, 1e6, 1e6, 1e6),
	}
	var b strings.Builder
	writeFormats(&b, rows)
	assert.Equal(t, []string{
		"bodies of posts KB values walked MB/s × hessian2 allocs/body printed MB/s allocs/value",
		"slow 2 50 100 0.20 0.50 25 1.25",
		"hessian2 2 50 1000 1.00 0.50 250 1.25",
		"half as fast 2 50 500 0.50 0.50 125 1.25",
		"opaque 2 50 1 0.00 0.50 0 1.25",
	}, fieldsOf(b.String()))
}

func fieldsOf(s string) (lines []string) {
	for line := range strings.Lines(s) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}
