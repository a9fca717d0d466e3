package metrics

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"dubbo-wire/internal/dev/testkit"
)

// TestPush: a receiver gets what a scrape gets, and what is wrong with it is said once.
func TestPush(t *testing.T) {
	m, _, _ := read(t, testkit.Get(t, "mixed").Path(), DefaultSeries, nil)
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{m, "1.2.3"})
	var got otlp.MetricsData
	answer := []byte{}
	status := http.StatusOK
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/v1/metrics", r.URL.Path)
		assert.Equal(t, "application/x-protobuf", r.Header.Get("Content-Type"))
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.NoError(t, proto.Unmarshal(body, &got))
		w.WriteHeader(status)
		_, _ = w.Write(answer)
	}))
	defer receiver.Close()
	url, err := ReceiverURL(receiver.URL)
	require.NoError(t, err)
	s := &Server{pusher: newPusher(&Options{Receiver: url, Version: "1.2.3", Host: "web-1"}, registry)}
	s.pusher.push(t.Context())
	assert.Empty(t, s.Notice())

	text := func(list []*common.KeyValue) (s string) {
		for _, a := range list {
			s += a.Key + "=" + a.Value.GetStringValue() + ","
		}
		return s
	}
	require.Len(t, got.ResourceMetrics, 1)
	assert.Equal(t, "service.name=dubbo-wire,service.version=1.2.3,service.instance.id=web-1,host.name=web-1,", text(got.ResourceMetrics[0].Resource.Attributes))
	pushed := map[string]*otlp.Metric{}
	for _, one := range got.ResourceMetrics[0].ScopeMetrics[0].Metrics {
		pushed[one.Name] = one
	}
	families := scrape(t, m, "")
	assert.Len(t, pushed, len(families))
	for name, f := range families {
		one := pushed[name]
		require.NotNil(t, one, name)
		assert.Equal(t, f.GetHelp(), one.Description)
		points := one.GetGauge().GetDataPoints()
		if sum := one.GetSum(); sum != nil {
			assert.True(t, sum.IsMonotonic)
			points = sum.DataPoints
		}
		for i, metric := range f.Metric {
			labels := ""
			for _, l := range metric.Label {
				labels += l.GetName() + "=" + l.GetValue() + ","
			}
			if metric.Histogram == nil {
				assert.InDelta(t, metric.GetCounter().GetValue()+metric.GetGauge().GetValue(), points[i].GetAsDouble(), 1e-12, name)
				assert.Equal(t, labels, text(points[i].Attributes))
				continue
			}
			h := one.GetHistogram().DataPoints[i]
			assert.Equal(t, labels, text(h.Attributes))
			assert.Equal(t, metric.Histogram.GetSampleCount(), h.Count)
			assert.InDelta(t, metric.Histogram.GetSampleSum(), h.GetSum(), 1e-9)
			sum := uint64(0)
			require.Len(t, h.BucketCounts, len(h.ExplicitBounds)+1)
			for k, b := range metric.Histogram.Bucket { // the last one of a scrape is +Inf
				sum += h.BucketCounts[k]
				assert.Equal(t, b.GetCumulativeCount(), sum)
			}
		}
	}

	answer = []byte{0x0a, 0x02, 0x08, 0x07} // partial_success {rejected_data_points: 7}
	s.pusher.push(t.Context())
	assert.Equal(t, "--otlp "+url+": the receiver rejected 7 data points", s.Notice())
	assert.Empty(t, s.Notice())
	status = http.StatusServiceUnavailable
	s.pusher.push(t.Context())
	assert.Empty(t, s.Notice(), "one failure after the other is told once")
	status, answer = http.StatusOK, []byte("\x0a\xff\xff\xff\xff\xff\xff")
	s.pusher.push(t.Context())
	assert.Empty(t, s.Notice(), "an answer that is not a message")
	receiver.Close()
	s.pusher.client.CloseIdleConnections() // else the kept one may break first
	s.pusher.push(t.Context())
	assert.Contains(t, s.Notice(), "connection refused")
}

func TestReceiverURL(t *testing.T) {
	for text, url := range map[string]string{
		"http://c:4318": "http://c:4318/v1/metrics", "https://c/": "https://c/v1/metrics", "http://c/api/v1/otlp/v1/metrics": "http://c/api/v1/otlp/v1/metrics",
	} {
		got, err := ReceiverURL(text)
		assert.NoError(t, err)
		assert.Equal(t, url, got)
	}
	for _, bad := range []string{"", "c:4318", "grpc://c:4317", "http://", "http:// c", strings.Repeat("x", 10)} {
		_, err := ReceiverURL(bad)
		assert.Error(t, err, bad)
	}
	assert.Equal(t, "http://u:xxxxx@h/v1", withoutPassword("http://u:secret@h/v1"))
}
