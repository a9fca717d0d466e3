package metrics

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

const (
	// pushEvery is the time between two pushes, pushTime how long one may take.
	pushEvery = 15 * time.Second
	pushTime  = 5 * time.Second
	// maxAnswer limits what is read of an answer.
	maxAnswer = 64 << 10
)

// A pusher sends all metrics to an OTLP receiver by HTTP, with messages of protobuf. The SDK of OpenTelemetry would add a tenth to the
// program.
type pusher struct {
	url      string
	resource *resource.Resource
	version  string
	began    time.Time
	from     prometheus.Gatherer
	client   *http.Client
	failed   bool                   // the last push did
	notice   atomic.Pointer[string] // why, until it is read
	stop     context.CancelFunc
	stopped  chan struct{}
}

// ReceiverURL returns the URL of the metrics of an OTLP receiver: its path is /v1/metrics if the user gave none.
func ReceiverURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("%q: must be a URL such as http://collector:4318", text)
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/metrics"
	}
	return u.String(), nil
}

// withoutPassword returns a URL that may be printed.
func withoutPassword(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return u.Redacted()
}

func newPusher(o *Options, from prometheus.Gatherer) *pusher {
	text := func(key, value string) *common.KeyValue {
		return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}}
	}
	r := &resource.Resource{Attributes: []*common.KeyValue{text("service.name", "dubbo-wire"), text("service.version", o.Version)}}
	if o.Host != "" {
		r.Attributes = append(r.Attributes, text("service.instance.id", o.Host), text("host.name", o.Host))
	}
	return &pusher{
		url: o.Receiver, resource: r, version: o.Version, began: time.Now(), from: from, stopped: make(chan struct{}),
		// The environment does not choose a proxy, and an answer no other receiver.
		client: &http.Client{Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// start pushes again and again until end is called.
func (p *pusher) start() {
	ctx, cancel := context.WithCancel(context.Background())
	p.stop = cancel
	go func() {
		defer close(p.stopped)
		tick := time.NewTicker(pushEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				p.push(ctx)
			}
		}
	}()
}

// end pushes what the capture was in the end.
func (p *pusher) end() {
	p.stop()
	<-p.stopped
	p.failed = false // say so at the end if it fails, too
	p.push(context.Background())
}

// push sends all metrics once. What cannot be sent is in the next ones, because counters are those since the start.
func (p *pusher) push(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, pushTime)
	defer cancel()
	err := p.send(ctx)
	if err != nil && !p.failed && ctx.Err() != context.Canceled {
		text := fmt.Sprintf("--otlp %s: %v", withoutPassword(p.url), err)
		p.notice.Store(&text)
	}
	p.failed = err != nil
}

func (p *pusher) send(ctx context.Context) error {
	families, err := p.from.Gather()
	if err != nil {
		return err
	}
	body, err := proto.Marshal(p.message(families, time.Now()))
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("User-Agent", "dubbo-wire/"+p.version)
	answer, err := p.client.Do(r)
	if err != nil {
		if u, ok := err.(*url.Error); ok {
			err = u.Err // it repeats the URL
		}
		return err
	}
	defer answer.Body.Close()
	data, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the receiver answers %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	}
	if n := rejected(data); n > 0 {
		return fmt.Errorf("the receiver rejected %d data points", n)
	}
	return nil
}

// rejected returns the number of data points that an ExportMetricsServiceResponse says were rejected. The package of that message needs
// gRPC.
func rejected(answer []byte) (n uint64) {
	partial, _ := field(answer, 1)
	_, n = field(partial, 1)
	return n
}

// field returns the content of a field of a message in protobuf: bytes or a number.
func field(message []byte, number protowire.Number) (text []byte, n uint64) {
	for len(message) > 0 {
		num, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return nil, 0
		}
		message = message[size:]
		switch {
		case num == number && kind == protowire.BytesType:
			text, _ = protowire.ConsumeBytes(message)
			return text, 0
		case num == number && kind == protowire.VarintType:
			n, _ = protowire.ConsumeVarint(message)
			return nil, n
		}
		if size = protowire.ConsumeFieldValue(num, kind, message); size < 0 {
			return nil, 0
		}
		message = message[size:]
	}
	return nil, 0
}

// message returns the metrics as a message of OTLP: MetricsData has the same bytes as an ExportMetricsServiceRequest.
func (p *pusher) message(families []*dto.MetricFamily, now time.Time) *otlp.MetricsData {
	start, at := uint64(p.began.UnixNano()), uint64(now.UnixNano())
	scope := &otlp.ScopeMetrics{Scope: &common.InstrumentationScope{Name: "dubbo-wire", Version: p.version}}
	const cumulative = otlp.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
	for _, f := range families {
		m := &otlp.Metric{Name: f.GetName(), Description: f.GetHelp()}
		var numbers []*otlp.NumberDataPoint
		var histograms []*otlp.HistogramDataPoint
		for _, one := range f.Metric {
			var attributes []*common.KeyValue
			for _, l := range one.Label {
				attributes = append(attributes, &common.KeyValue{Key: l.GetName(), Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: l.GetValue()}}})
			}
			switch f.GetType() {
			case dto.MetricType_COUNTER, dto.MetricType_GAUGE:
				v := one.GetCounter().GetValue() + one.GetGauge().GetValue() // one of them is not there
				numbers = append(numbers, &otlp.NumberDataPoint{Attributes: attributes, StartTimeUnixNano: start, TimeUnixNano: at, Value: &otlp.NumberDataPoint_AsDouble{AsDouble: v}})
			case dto.MetricType_HISTOGRAM:
				h := one.Histogram
				d := &otlp.HistogramDataPoint{Attributes: attributes, StartTimeUnixNano: start, TimeUnixNano: at, Count: h.GetSampleCount(), Sum: h.SampleSum}
				before := uint64(0)
				for _, b := range h.Bucket {
					d.ExplicitBounds = append(d.ExplicitBounds, b.GetUpperBound())
					d.BucketCounts = append(d.BucketCounts, b.GetCumulativeCount()-before)
					before = b.GetCumulativeCount()
				}
				d.BucketCounts = append(d.BucketCounts, d.Count-before)
				histograms = append(histograms, d)
			}
		}
		switch f.GetType() {
		case dto.MetricType_COUNTER:
			m.Data = &otlp.Metric_Sum{Sum: &otlp.Sum{DataPoints: numbers, AggregationTemporality: cumulative, IsMonotonic: true}}
		case dto.MetricType_GAUGE:
			m.Data = &otlp.Metric_Gauge{Gauge: &otlp.Gauge{DataPoints: numbers}}
		case dto.MetricType_HISTOGRAM:
			m.Data = &otlp.Metric_Histogram{Histogram: &otlp.Histogram{DataPoints: histograms, AggregationTemporality: cumulative}}
		default:
			continue // a summary of the Go runtime
		}
		scope.Metrics = append(scope.Metrics, m)
	}
	return &otlp.MetricsData{ResourceMetrics: []*otlp.ResourceMetrics{{Resource: p.resource, ScopeMetrics: []*otlp.ScopeMetrics{scope}}}}
}
