package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/sizes"
)

func testInterval() *Interval {
	by, _ := sizes.ParseBy("service,method")
	g := &sizes.Group{Values: []string{"org.example.OrderQuery", "list"}, Calls: 20, Errors: 2}
	for range 20 {
		g.Request.Body.Add(100)
		g.Request.Frame.Add(116)
		g.Request.Wire.Add(182)
		g.ResponseOK.Body.Add(1000)
		g.ResponseOK.Frame.Add(1016)
		g.ResponseOK.Wire.Add(1082)
		g.Latency.Add(1_500_000)
	}
	return &Interval{
		From: 1_700_000_000_000_000_000, To: 1_700_000_010_000_000_000,
		Packets: 60, LinkBytes: 30_000, RPCBytes: 25_280, Protocols: []string{"dubbo"}, DroppedInAll: 3, Coverage: 99.5, RingPercent: 12.5,
		By: by, Groups: []*sizes.Group{g},
	}
}

// TestInterval: an interval says its rates over its own length, and what was dropped in it aloud.
func TestInterval(t *testing.T) {
	v := testInterval()
	var out bytes.Buffer
	require.NoError(t, v.WriteText(&out, Style{}))
	text := out.String()
	first, _, _ := strings.Cut(text, "\n")
	assert.Equal(t, "2023-11-14T22:13:20Z + 10.0 s, 20 calls, 10.0 % errors, dubbo 0.020 Mbit/s, other 0.004 Mbit/s, drops 0, ring 12 %, coverage 99.5 %", first)
	assert.Contains(t, text, "OrderQuery/list")
	v.Dropped, v.Groups = 2, nil
	out.Reset()
	require.NoError(t, v.WriteText(&out, Style{Width: 80}))
	assert.Contains(t, out.String(), "DROPPED by the kernel 2 packets")
	for line := range strings.SplitSeq(out.String(), "\n") {
		assert.LessOrEqual(t, len(line), 80)
	}
}

// TestIntervalJSON: one line, with the members of a report's groups.
func TestIntervalJSON(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, testInterval().WriteJSON(&out))
	assert.Equal(t, 1, strings.Count(out.String(), "\n"))
	var got struct {
		Schema, Time    string
		Seconds         float64
		Calls           int64
		CoveragePercent float64
		DroppedPackets  int64
		Groups          []struct {
			Service, Method string
			CallsPerSecond  float64
			Request         struct{ BodyBytes struct{ Mean float64 } }
		}
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	assert.Equal(t, IntervalSchema, got.Schema)
	assert.Equal(t, "2023-11-14T22:13:30.000000000Z", got.Time)
	assert.Equal(t, 10.0, got.Seconds)
	assert.Equal(t, int64(20), got.Calls)
	assert.Equal(t, 2.0, got.Groups[0].CallsPerSecond)
	assert.Equal(t, 100.0, got.Groups[0].Request.BodyBytes.Mean)
}
