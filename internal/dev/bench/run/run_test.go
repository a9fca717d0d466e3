package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/dev/bench/traffic"
	_ "dubbo-wire/internal/dev/testkit" // the flag -update
)

func TestCompareSaysWhatDiffers(t *testing.T) {
	truth := &traffic.Truth{Frames: 4, Methods: []traffic.Method{
		{Service: "a.S", Method: "m", Requests: 2, Responses: 2, RequestBytes: 10, ResponseBytes: 20},
	}}
	const same = `{"coverage": {"frames": 4}, "groups": [{"service": "a.S", "method": "m", "calls": 2,
		"request": {"count": 2, "bodyBytes": {"total": 10}}, "response": {"count": 2, "bodyBytes": {"total": 20}}}]}`
	compare := func(out string) error {
		r, err := parse([]byte(out))
		if err != nil {
			return err
		}
		return r.compare(truth)
	}
	assert.NoError(t, compare(same))
	for from, to := range map[string]string{
		`"frames": 4`: `"frames": 3`, `"calls": 2`: `"calls": 1`, `"total": 10`: `"total": 11`, `"m"`: `"n"`, `}}}]`: `}}}`,
	} {
		assert.Error(t, compare(strings.Replace(same, from, to, 1)), to)
	}
}

func samples(peak int64, ms ...int) (s []sample) {
	for _, n := range ms {
		d := time.Duration(n) * time.Millisecond
		s = append(s, sample{cpu: d, wall: 2 * d, peak: peak << 20})
	}
	return s
}

func TestTable(t *testing.T) {
	base := row{args: []string{"tcpdump", "-nr", "/x/a.pcap"}, runs: samples(8, 100, 200, 400)}
	analyze := row{args: []string{"/x/dubbo-wire", "analyze", "/x/a.pcap"}, runs: samples(8, 50, 80, 400)}
	var b strings.Builder
	write(&b, []row{base, analyze}, 1e8)
	assert.Equal(t, `  CPU s  × tcpdump  peak MiB  MB per CPU s  command
  0.200       1.00       8.0           500  tcpdump -nr a.pcap
  0.080       0.50       8.0          1250  dubbo-wire analyze a.pcap

medians of 3 rounds (of frames and calls one)
`, b.String())
}

// Every row of the budget is judged, by CPU or wall time and by memory.
func TestBudget(t *testing.T) {
	rows := []row{
		{name: "tcpdump", runs: samples(6, 400, 400)},
		{name: "sizes", runs: samples(20, 200, 200), messages: 1000},
		{name: "sizes 2", runs: samples(30, 120, 120)},
		{name: "parts", runs: samples(40, 700, 700), messages: 1000},
		{name: "parts 2", runs: samples(60, 400, 400)},
		{name: "sizes tenth", runs: samples(20, 20, 20)},
		{name: "tcpdump many", runs: samples(6, 500, 500)},
		{name: "sizes many", runs: samples(155, 1200, 1200)},
		{name: "sizes lossy", runs: samples(22, 230, 230)},
		{name: "tcpdump small", runs: samples(6, 100, 100)},
		{name: "sizes small", runs: samples(20, 300, 300)},
		{name: "tcpdump offload", runs: samples(6, 100, 100)},
		{name: "sizes offload", runs: samples(20, 50, 50)},
		{name: "sizes triple", runs: samples(20, 90, 90), messages: 300},
		{name: "parts triple", runs: samples(20, 300, 300), messages: 300},
		{name: "frames tenth", runs: samples(20, 900, 900), messages: 100},
		{name: "frames triple", runs: samples(20, 2700, 2700), messages: 300},
		{name: "screen", runs: samples(30, 250, 250)},
		{name: "sizes rest", runs: samples(20, 110, 110), messages: 300},
		{name: "sizes pcapng", runs: samples(20, 21, 21)},
		{name: "sizes zstd", runs: samples(20, 40, 40)},
		{name: "sizes gzip", runs: samples(20, 60, 60)},
	}
	byName := make(map[string]*row)
	for i := range rows {
		rows[i].args = []string{rows[i].name}
		byName[rows[i].name] = &rows[i]
	}
	var b strings.Builder
	assert.True(t, writeBudget(&b, rows), b.String())
	assert.Equal(t, 10, strings.Count(b.String(), "ok\n"))
	assert.Contains(t, b.String(), "1.50 × the dubbo protocol  1.50")
	for name, worse := range map[string][]sample{
		"sizes": samples(20, 301, 301), "sizes 2": samples(30, 125, 125), "parts": samples(65, 700, 700),
		"sizes many": samples(161, 1200, 1200), "sizes lossy": samples(26, 250, 250), "sizes tenth": samples(20, 18, 18),
		"sizes triple": samples(20, 91, 91), "screen": samples(30, 251, 251), "sizes rest": samples(20, 121, 121),
	} {
		good := byName[name].runs
		byName[name].runs = worse
		b.Reset()
		assert.False(t, writeBudget(&b, rows), name)
		assert.Contains(t, b.String(), "MISSED", name)
		byName[name].runs = good
	}
}

// What is lost is lost for good: the rest of the capture is as it was.
func TestLose(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "a.pcap"), filepath.Join(dir, "b.pcap")
	_, err := traffic.WriteFile(from, traffic.Config{Size: 3e6})
	require.NoError(t, err)
	n, err := lose(from, to, 0.01)
	require.NoError(t, err)
	count := func(name string) int {
		src, err := capture.Open([]string{name}, capture.Options{})
		require.NoError(t, err)
		defer src.Close()
		k := 0
		for p := (capture.Packet{}); src.Next(&p) == nil; k++ {
		}
		require.Empty(t, src.Problems())
		return k
	}
	assert.Equal(t, count(from), count(to)+n)
	assert.Greater(t, n, 5)
}
