package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// describe returns the description of a metric.
func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("dubbo_wire_"+name, help, labels, nil)
}

// Metrics of groups of calls.
var (
	callsDesc      = describe("calls_total", "Calls that ended: with a response, without one, or because they were one-way.", labels...)
	errorsDesc     = describe("errors_total", "Calls that failed: an error status, an exception or a reset. Unanswered calls are not among them.", labels...)
	unansweredDesc = describe("unanswered_total", "Calls that want a response and had none when they were given up, after --call-timeout.", labels...)
	bodyDesc       = describe("body_bytes_total", "Bytes of the bodies of complete messages, by direction (request, response).", append(labels, "dir")...)
	wireDesc       = describe("wire_bytes_total", "Bytes of complete messages on the link, with headers and retransmissions, by direction (request, response).", append(labels, "dir")...)
	latencyDesc    = describe("latency_seconds", "Time from the first byte of the request to the last byte of the response, at the capture point.", labels...)
)

// Metrics of the capture.
var (
	buildDesc    = describe("build_info", "The version of dubbo-wire; the value is 1.", "version")
	coverageDesc = describe("coverage_ratio", "Share of the bytes of calls that were measured, since the start: complete messages among the bytes of messages, skipped bytes and missing bytes.")
	droppedDesc  = describe("packets_dropped_total", "Packets that did not fit into the buffer of the kernel.")
	fillDesc     = describe("ring_fill_ratio", "Share of the buffer of the kernel that is in use.")
	limitedDesc  = describe("limited_total", "How often a limit was reached, by the flag that sets it.", "limit")

	packetsDesc         = describe("packets_total", "Packets that were captured.")
	linkBytesDesc       = describe("link_bytes_total", "Bytes of captured packets on the link.")
	coveredDesc         = describe("covered_bytes_total", "Bytes of complete messages.")
	uncoveredDesc       = describe("uncovered_bytes_total", "Bytes of incomplete messages, skipped bytes and missing bytes on connections with calls.")
	openConnectionsDesc = describe("open_connections", "Open connections that have carried payload.")
	openCallsDesc       = describe("open_calls", "Requests that wait for a response.")
	seriesDesc          = describe("series", "Groups of calls that have series of their own.")
	waitingDesc         = describe("series_waiting", "Groups of calls that are measured, but not shown before the heaviest are chosen.")
	foldedDesc          = describe("series_folded", "Groups of calls that are in the series other.")
)

// limits are the values of the label limit: flags of capture.
var limits = map[counter]string{
	expiredCalls: "max-open-calls", waitedCalls: "call-timeout", expiredConnections: "max-connections", idleConnections: "idle-timeout",
}

// collector passes snapshots on to Prometheus.
type collector struct {
	meter   *Meter
	version string
}

// Describe sends no descriptions, which saves the check of each metric against its own.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the metrics of a snapshot.
func (c collector) Collect(to chan<- prometheus.Metric) {
	s, err := c.meter.snapshot()
	if err != nil {
		to <- prometheus.NewInvalidMetric(callsDesc, err)
		return
	}
	counted := func(d *prometheus.Desc, n int64, values ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), values...)
	}
	gauge := func(d *prometheus.Desc, v float64, values ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, values...)
	}
	gauge(buildDesc, 1, c.version)
	gauge(coverageDesc, s.coverage)
	if s.dropsKnown {
		counted(droppedDesc, s.counters[droppedPackets])
		gauge(fillDesc, s.fill)
	}
	for i, name := range limits {
		counted(limitedDesc, s.counters[i], name)
	}
	counted(limitedDesc, int64(s.folded), "metrics-series")
	counted(packetsDesc, s.counters[packets])
	counted(linkBytesDesc, s.counters[linkBytes])
	counted(coveredDesc, s.counters[coveredBytes])
	counted(uncoveredDesc, s.counters[uncoveredBytes])
	gauge(openConnectionsDesc, float64(s.openConnections))
	gauge(openCallsDesc, float64(s.openCalls))
	gauge(seriesDesc, float64(s.shown))
	gauge(waitingDesc, float64(s.waiting))
	gauge(foldedDesc, float64(s.folded))
	for _, one := range s.series {
		counted(callsDesc, one.calls, one.values...)
		counted(errorsDesc, one.errors, one.values...)
		counted(unansweredDesc, one.unanswered, one.values...)
		for d, dir := range [...]string{request: "request", response: "response"} {
			values := append(one.values[:len(labels):len(labels)], dir)
			counted(bodyDesc, one.body[d], values...)
			counted(wireDesc, one.wire[d], values...)
		}
		to <- &histogram{&one.latency, one.values}
	}
}

// histogram is a metric with classic and native buckets. The package prometheus makes constant ones with only one of them.
type histogram struct {
	*latency
	values []string
}

func (*histogram) Desc() *prometheus.Desc { return latencyDesc }

// Write implements [prometheus.Metric].
func (h *histogram) Write(m *dto.Metric) error {
	native := make(map[int]int64)
	for i, n := range h.native {
		if n > 0 {
			native[h.first+i] = n
		}
	}
	seconds := float64(h.sum) / 1e9
	k, err := prometheus.NewConstNativeHistogram(latencyDesc, uint64(h.count), seconds, native, nil, uint64(h.zeros), schema, 0, time.Time{}, h.values...)
	if err != nil {
		return err
	}
	if err := k.Write(m); err != nil {
		return err
	}
	m.Histogram.CreatedTimestamp = nil // see docs/metrics.md: it is not the start of every series
	sum := int64(0)
	for i, bound := range bounds {
		sum += h.classic[i]
		m.Histogram.Bucket = append(m.Histogram.Bucket, &dto.Bucket{CumulativeCount: new(uint64(sum)), UpperBound: new(float64(bound) / 1e9)})
	}
	return nil
}
