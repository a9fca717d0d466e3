package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/exit"
)

// needPrometheus skips a test where a real Prometheus cannot scrape a live capture.
func needPrometheus(t *testing.T) {
	testkit.Needs(t, "root, prometheus and promtool")
	if missing := noLive(); missing != "" {
		t.Skip("no live capture here: " + missing)
	}
	for _, tool := range []string{"prometheus", "promtool"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("not installed: ", err)
		}
	}
}

// example is a file of the folder examples.
func example(name ...string) string {
	path, _ := filepath.Abs(filepath.Join(append([]string{testkit.Root(), "examples"}, name...)...))
	return path
}

// promtool runs a check, which must find nothing.
func promtool(t *testing.T, stdin string, args ...string) {
	c := exec.Command("promtool", args...)
	c.Stdin = strings.NewReader(stdin)
	out, err := c.CombinedOutput()
	assert.NoError(t, err, string(out))
	if args[1] == "metrics" {
		assert.Empty(t, string(out))
	}
}

// A prometheus is a running server that scrapes a capture.
type prometheus struct{ url string }

// startPrometheus starts a server with the rules of the examples, which scrapes a port every second.
func startPrometheus(t *testing.T, target int, flags ...string) *prometheus {
	dir, port := t.TempDir(), freePort(t)
	config := fmt.Sprintf(`
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [%q]
scrape_configs:
- job_name: dubbo-wire
  static_configs: [{targets: ["127.0.0.1:%d"]}]
`, example("prometheus", "alerts.yml"), target)
	file := filepath.Join(dir, "prometheus.yml")
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	ctx, cancel := context.WithCancel(context.Background())
	address := "127.0.0.1:" + strconv.Itoa(port)
	c := exec.CommandContext(ctx, "prometheus", append([]string{"--config.file=" + file, "--storage.tsdb.path=" + dir, "--web.listen-address=" + address, "--log.level=error"}, flags...)...)
	log := new(strings.Builder)
	c.Stderr = log
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		cancel()
		_ = c.Wait()
		if t.Failed() {
			t.Log(log)
		}
	})
	p := &prometheus{"http://" + address}
	require.Eventually(t, func() bool {
		r, err := http.Get(p.url + "/-/ready")
		if err != nil {
			return false
		}
		_ = r.Body.Close()
		return r.StatusCode == http.StatusOK
	}, time.Minute, 50*time.Millisecond)
	return p
}

// A sample is a series with its newest value.
type sample struct {
	Metric    map[string]string
	Value     [2]any
	Histogram [2]any
}

func (s *sample) value(t *testing.T) float64 {
	v, err := strconv.ParseFloat(s.Value[1].(string), 64)
	require.NoError(t, err)
	return v
}

// query returns the series that answer an expression. After a scrape that took too long none do, until the next one.
func (p *prometheus) query(t *testing.T, expression string) []sample {
	for began := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		all := p.ask(t, expression)
		if len(all) > 0 {
			return all
		}
		require.Less(t, time.Since(began), time.Minute, expression)
	}
}

func (p *prometheus) ask(t *testing.T, expression string) []sample {
	r, err := http.Get(p.url + "/api/v1/query?query=" + url.QueryEscape(expression))
	require.NoError(t, err)
	defer r.Body.Close()
	var answer struct {
		Status, Error string
		Data          struct{ Result []sample }
	}
	require.NoError(t, json.NewDecoder(r.Body).Decode(&answer))
	require.Equal(t, "success", answer.Status, "%s: %s", expression, answer.Error)
	return answer.Data.Result
}

// number returns the only value that answers an expression.
func (p *prometheus) number(t *testing.T, expression string) float64 {
	all := p.query(t, expression)
	require.Len(t, all, 1, expression)
	return all[0].value(t)
}

// dashboardQueries returns the expressions of the panels of the dashboard, with values for its variables.
func dashboardQueries(t *testing.T) (list []string) {
	data, err := os.ReadFile(example("grafana", "dubbo-wire.json"))
	require.NoError(t, err)
	var board struct {
		Panels []struct {
			Type    string
			Targets []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Name, AllValue string }
		}
	}
	require.NoError(t, json.Unmarshal(data, &board))
	with := []string{"$__rate_interval", "1h"} // all of the test, however long it takes
	for _, v := range board.Templating.List {
		with = append(with, "$"+v.Name, v.AllValue)
	}
	for _, p := range board.Panels {
		assert.Equal(t, p.Type == "row", len(p.Targets) == 0)
		for _, target := range p.Targets {
			text := strings.NewReplacer(with...).Replace(target.Expr)
			assert.NotContains(t, text, "$")
			list = append(list, text)
		}
	}
	return list
}

// groupNumbers are the numbers of calls by service, method and serialization.
type groupNumbers map[string]map[string]float64

func (g groupNumbers) set(service, method, serialization, what string, n float64) {
	key := service + "/" + method + " " + serialization
	if g[key] == nil {
		g[key] = map[string]float64{}
	}
	g[key][what] += n
}

// TestPrometheus: a real Prometheus scrapes a capture under load. Its counters never decrease, every panel of the dashboard has an answer,
// and in the end all numbers are those of the report.
func TestPrometheus(t *testing.T) {
	needPrometheus(t)
	traffic, port := strconv.Itoa(freePort(t)), freePort(t)
	report := filepath.Join(t.TempDir(), "report.json")
	// Other tests may capture and send at the same time.
	r := start(t, "capture", "lo", "--plain", "--interval", "0", "--metrics", "127.0.0.1:"+strconv.Itoa(port), "--format", "json", "--buckets", "-o", report, "tcp port "+traffic)
	require.NoError(t, r.Start())
	metrics := fmt.Sprintf("http://127.0.0.1:%d/metrics", port)
	get := func() string {
		res, err := http.Get(metrics)
		if err != nil {
			return ""
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return string(text)
	}
	require.Eventually(t, func() bool { return get() != "" }, time.Minute, 50*time.Millisecond)
	second := start(t, "capture", "lo", "--duration", "1ms", "--metrics", "127.0.0.1:"+strconv.Itoa(port))
	assert.Error(t, second.Run())
	assert.Equal(t, exit.Usage, second.ProcessState.ExitCode())
	assert.Equal(t, fmt.Sprintf("dubbo-wire: --metrics 127.0.0.1:%d: another program listens there; choose another port\n", port), second.stderr.String())
	p, native := startPrometheus(t, port), startPrometheus(t, port, "--enable-feature=native-histograms")

	send := func() {
		c := exec.Command("replay", capturePath("fleet.pcap.zst"))
		c.Env = append(os.Environ(), "PORT="+traffic)
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	queries := dashboardQueries(t)
	require.Greater(t, len(queries), 15)
	// Rates need scrapes that differ in all series.
	for began := time.Now(); ; {
		send()
		if p.number(t, "min(increase(dubbo_wire_calls_total[1h])) or vector(0)") > 0 {
			break
		}
		require.Less(t, time.Since(began), 2*time.Minute)
	}
	for _, q := range queries {
		for _, s := range p.query(t, q) {
			assert.NotEqual(t, "NaN", s.Value[1], q)
		}
	}
	promtool(t, get(), "check", "metrics")

	// All calls have ended when nothing changes any more, and the servers have that.
	calls := func() (sum float64) {
		for line := range strings.Lines(get()) {
			if name, value, _ := strings.Cut(line, " "); strings.HasPrefix(line, "dubbo_wire_calls_total{") {
				value = value[strings.LastIndexByte(value, ' ')+1:] // a label's value may have spaces
				n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
				require.NoError(t, err, name)
				sum += n
			}
		}
		return sum
	}
	for last := -1.0; ; time.Sleep(2 * time.Second) {
		now := calls()
		if now == last {
			break
		}
		last = now
	}
	for _, one := range []*prometheus{p, native} {
		for began := time.Now(); one.number(t, "sum(dubbo_wire_calls_total)") != calls(); time.Sleep(200 * time.Millisecond) {
			require.Less(t, time.Since(began), time.Minute)
		}
	}
	for _, name := range p.query(t, `count by (__name__) ({__name__=~"dubbo_wire_.*_(total|count|sum|bucket)"})`) {
		assert.Zero(t, p.number(t, "sum(resets("+name.Metric["__name__"]+"[1h]))"), name)
	}
	assert.Zero(t, p.number(t, "sum(dubbo_wire_packets_dropped_total)"))
	assert.EqualValues(t, 1, p.number(t, "dubbo_wire_coverage_ratio"))
	assert.Equal(t, p.number(t, "sum(dubbo_wire_latency_seconds_count)"), native.number(t, "histogram_count(sum(dubbo_wire_latency_seconds))"))
	half := p.number(t, "histogram_quantile(0.5, sum by (le) (dubbo_wire_latency_seconds_bucket))")
	assert.InDelta(t, half, native.number(t, "histogram_quantile(0.5, sum(dubbo_wire_latency_seconds))"), 1.6*half, "the end of a classic bucket is up to 2.5 times its start")
	got := groupNumbers{}
	for what, name := range map[string]string{
		"calls": "calls_total", "errors": "errors_total", "unanswered": "unanswered_total", "request body": `body_bytes_total{dir="request"}`,
		"response body": `body_bytes_total{dir="response"}`, "request wire": `wire_bytes_total{dir="request"}`,
		"response wire": `wire_bytes_total{dir="response"}`, "latencies": "latency_seconds_count",
	} {
		for _, s := range p.query(t, "sum by (service, method, serialization) (dubbo_wire_"+name+")") {
			got.set(s.Metric["service"], s.Metric["method"], s.Metric["serialization"], what, s.value(t))
		}
	}

	sum := p.number(t, "sum(dubbo_wire_latency_seconds_sum)")

	require.NoError(t, r.Process.Signal(os.Interrupt))
	r.ends(t)
	require.Zero(t, r.ProcessState.ExitCode(), r.stderr.String())
	assert.Contains(t, r.stderr.String(), "\nserving metrics on "+metrics+"\n")
	data, err := os.ReadFile(report)
	require.NoError(t, err)
	type size struct {
		Total   float64
		Buckets [][2]float64
	}
	type direction struct{ BodyBytes, WireBytes size }
	var end struct {
		Groups []struct {
			Service, Method, Serialization string
			Calls, Errors, Unanswered      float64
			Request, Response              direction
			LatencyMicros                  size
		}
	}
	require.NoError(t, json.Unmarshal(data, &end))
	want, latency := groupNumbers{}, 0.0
	for _, g := range end.Groups {
		for what, n := range map[string]float64{
			"calls": g.Calls, "errors": g.Errors, "unanswered": g.Unanswered, "request body": g.Request.BodyBytes.Total, "response body": g.Response.BodyBytes.Total,
			"request wire": g.Request.WireBytes.Total, "response wire": g.Response.WireBytes.Total,
		} {
			want.set(g.Service, g.Method, g.Serialization, what, n)
		}
		for _, b := range g.LatencyMicros.Buckets {
			want.set(g.Service, g.Method, g.Serialization, "latencies", b[1])
		}
		latency += g.LatencyMicros.Total / 1e6
	}
	for key, numbers := range got {
		assert.Equal(t, want[key], numbers, key)
	}
	assert.InDelta(t, latency, sum, 1e-6*latency)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)))
}

// TestPrometheusExamples: the configuration and the rules of the examples are right, and fire when they should.
func TestPrometheusExamples(t *testing.T) {
	needPrometheus(t)
	promtool(t, "", "check", "config", example("prometheus", "prometheus.yml"))
	promtool(t, "", "check", "rules", example("prometheus", "alerts.yml"))
	promtool(t, "", "test", "rules", example("prometheus", "alerts_test.yml"))
}
