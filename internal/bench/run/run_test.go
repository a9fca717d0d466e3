package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/bench/traffic"
)

func TestCompareSaysWhatDiffers(t *testing.T) {
	truth := &traffic.Truth{Frames: 4, Methods: []traffic.Method{
		{Service: "a.S", Method: "m", Requests: 2, Responses: 2, RequestBytes: 10, ResponseBytes: 20},
	}}
	const same = `{"coverage": {"frames": 4}, "groups": [{"service": "a.S", "method": "m", "calls": 2,
		"request": {"count": 2, "bodyBytes": {"total": 10}}, "response": {"count": 2, "bodyBytes": {"total": 20}}}]}`
	assert.NoError(t, compare([]byte(same), truth))
	for from, to := range map[string]string{
		`"frames": 4`: `"frames": 3`, `"calls": 2`: `"calls": 1`, `"total": 10`: `"total": 11`, `"m"`: `"n"`, `}}}]`: `}}}`,
	} {
		assert.Error(t, compare([]byte(strings.Replace(same, from, to, 1)), truth), to)
	}
}

func TestTableAndBars(t *testing.T) {
	samples := func(ms ...int) (s []sample) {
		for _, n := range ms {
			s = append(s, sample{cpu: time.Duration(n) * time.Millisecond, peak: 8 << 20})
		}
		return s
	}
	base := row{args: []string{"tcpdump", "-nr", "/x/a.pcap"}, runs: samples(100, 200, 400)}
	analyze := row{args: []string{"/x/dubbo-wire", "analyze", "/x/a.pcap"}, barred: true, runs: samples(50, 80, 400)}
	var b strings.Builder
	assert.True(t, write(&b, []row{base, analyze}, 1e8))
	assert.Equal(t, `  CPU s  × tcpdump  peak MiB  MB per CPU s     command
  0.200       1.00       8.0           500     tcpdump -nr FILE
  0.080       0.50       8.0          1250  ok dubbo-wire analyze FILE

medians of 3 rounds (of frames and calls one); bars of analyze, default traffic: 1.0 × tcpdump, less than 64 MiB
`, b.String())
	analyze.runs[2].peak, analyze.runs[1].peak = maxPeak, maxPeak
	assert.False(t, write(&b, []row{base, analyze}, 1e8))
}
