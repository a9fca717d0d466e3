package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// booked requires that the packets which were read and the bytes which are accounted for are the same.
func booked(t *testing.T, r *Report) {
	t.Helper()
	bytes := int64(0)
	for _, in := range r.Inputs {
		bytes += in.Bytes
		if in.Dropped != nil {
			assert.Zero(t, *in.Dropped, "packets dropped by the kernel on %s", in.File)
		}
	}
	assert.Equal(t, bytes, r.Wire.LinkBytes, "bytes on the wire")
}

// lossless requires that a report lacks nothing of what was captured, and that its bytes add up.
func lossless(t *testing.T, r *Report) {
	t.Helper()
	c := r.Coverage
	assert.Equal(t, 100.0, c.Percent, "coverage")
	assert.Zero(t, c.GapBytes, "gap")
	assert.Zero(t, c.SkippedBytes, "skipped")
	assert.Zero(t, c.FramesIncomplete, "incomplete frames")
	assert.Zero(t, c.ResponsesWithoutRequest, "responses without request")
	booked(t, r)
}

// whole requires that a report has all that was sent, and nothing else.
func (truth *Truth) whole(t *testing.T, r *Report) {
	t.Helper()
	lossless(t, r)
	c := r.Coverage
	assert.Zero(t, c.ConnectionsJoinedMidway, "connections joined midway")
	assert.Equal(t, truth.Sent, c.Frames, "frames")
	assert.Equal(t, truth.Heartbeats, c.Heartbeats, "heartbeats")
	assert.Equal(t, truth.Events, c.Events, "events")
	assert.Equal(t, truth.RequestsWithoutResponse, c.RequestsWithoutResponse, "requests without response")
	assert.Equal(t, truth.Connections, c.Connections, "connections with data")
	got := groups(t, r)
	for k, want := range truth.Groups {
		if assert.Contains(t, got, k) {
			assert.Equal(t, *want, got[k], "%v", k)
		}
	}
	for k := range got {
		assert.Contains(t, truth.Groups, k, "invented")
	}
}

// part requires that a report has nothing that was not sent. Calls whose request was lost are in a group of unknown ones.
func (truth *Truth) part(t *testing.T, r *Report) {
	t.Helper()
	booked(t, r)
	c := r.Coverage
	assert.LessOrEqual(t, c.Frames, truth.Sent, "frames")
	assert.LessOrEqual(t, c.Heartbeats, truth.Heartbeats, "heartbeats")
	assert.LessOrEqual(t, c.Events, truth.Events, "events")
	for k, got := range groups(t, r) {
		if k.Service == "?" && k.Method == "?" {
			assert.Zero(t, got.Request.Count, "requests of unknown calls")
			continue
		}
		want := truth.Groups[k]
		if !assert.NotNil(t, want, "invented: %v", k) {
			continue
		}
		assert.LessOrEqual(t, got.Calls, want.Calls, "calls of %v", k)
		assert.LessOrEqual(t, got.OneWay, want.OneWay, "one-way calls of %v", k)
		assert.LessOrEqual(t, got.Errors, want.Errors, "errors of %v", k)
		assert.LessOrEqual(t, got.Exceptions, want.Exceptions, "exceptions of %v", k)
		within(t, got.Request, want.Request, fmt.Sprint("requests of ", k))
		within(t, got.Response, want.Response, fmt.Sprint("responses of ", k))
	}
}

func within(t *testing.T, got, want Sizes, what string) {
	t.Helper()
	assert.LessOrEqual(t, got.Count, want.Count, what)
	assert.LessOrEqual(t, got.Total, want.Total, what)
	if got.Count > 0 {
		assert.GreaterOrEqual(t, got.Min, want.Min, what)
		assert.LessOrEqual(t, got.Max, want.Max, what)
	}
}

// frames requires that a capture file has every frame that was sent, by its header, and no other.
func (truth *Truth) frames(t *testing.T, b *Bed, file string) {
	t.Helper()
	got, incomplete, err := b.Frames(file)
	require.NoError(t, err)
	assert.Zero(t, incomplete)
	assert.Equal(t, truth.Frames, got)
}

// groups are a report's groups, comparable with the truth's. Means are compared here: they follow from total and count.
func groups(t *testing.T, r *Report) map[Key]Group {
	t.Helper()
	all := map[Key]Group{}
	for i := range r.Groups {
		g := &r.Groups[i]
		k := Key{SerializationID: g.SerializationID, Service: g.Service, Method: g.Method}
		assert.NotContains(t, all, k, "a group twice")
		out := Group{Calls: g.Calls, OneWay: g.OneWay, Errors: g.Errors, Exceptions: g.Exceptions, Unanswered: g.Unanswered}
		for _, side := range []struct {
			from *ReportSide
			to   *Sizes
		}{{&g.Request, &out.Request}, {&g.Response, &out.Response}} {
			if b := side.from.BodyBytes; b != nil && side.from.Count > 0 {
				*side.to = Sizes{Count: side.from.Count, Total: b.Total, Min: b.Min, Max: b.Max}
				assert.InDelta(t, float64(b.Total)/float64(side.from.Count), b.Mean, 0.0006, "mean of %v", k)
			}
		}
		all[k] = out
	}
	return all
}

// apart is how far two sockets' times of one packet may differ: the kernel asks the clock for each of them (tpacket_rcv in
// net/packet/af_packet.c), and may do something else in between.
const apart = 100_000 // microseconds

// sameGroups requires that two reports have the same groups, to the last member, but for the name of the input, which is that of
// an interface or of a file. Times may differ by so many microseconds a packet. numbers says whether
// frames have the same numbers: not where packets were lost, because a live capture gives a hole up while no packet comes, and a
// file when one does, so that frames after it come out in another order.
func sameGroups(t *testing.T, report, other string, micros float64, numbers bool) {
	t.Helper()
	var both [2]struct {
		Seconds float64
		Groups  []map[string]any
	}
	for i, file := range []string{report, other} {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, &both[i]))
		require.NotEmpty(t, both[i].Groups)
		for _, g := range both[i].Groups {
			if largest, ok := g["largest"].(map[string]any); ok {
				delete(largest, "file")
				if !numbers {
					delete(largest, "frame")
				}
			}
		}
	}
	if micros == 0 {
		assert.InDelta(t, both[0].Seconds, both[1].Seconds, 1e-6)
	}
	require.Len(t, both[1].Groups, len(both[0].Groups))
	for i, g := range both[0].Groups {
		o := both[1].Groups[i]
		if micros > 0 {
			nearTimes(t, g, o, micros)
			// The rate is of the time between the report's own first and last packet.
			for k, group := range []map[string]any{g, o} {
				assert.InDelta(t, group["calls"].(float64)/both[k].Seconds, group["callsPerSecond"], 0.0006, "group %d", i+1)
				delete(group, "callsPerSecond")
			}
		}
		assert.Equal(t, g, o, "group %d", i+1)
	}
}

// nearTimes takes what depends on times out of two groups, after it was found near enough.
func nearTimes(t *testing.T, g, o map[string]any, micros float64) {
	t.Helper()
	for _, name := range []string{"latencyMicros", "waitMicros"} {
		a, _ := g[name].(map[string]any)
		b, _ := o[name].(map[string]any)
		require.Equal(t, len(a), len(b), "%s of %v %v", name, g["service"], g["method"])
		for k := range a {
			if a[k] == nil || b[k] == nil { // no answer, no time
				assert.Equal(t, a[k], b[k], "%s.%s", name, k)
				continue
			}
			limit := 2 * micros // two packets, and percentiles are those of a histogram
			if k == "total" {
				limit *= g["calls"].(float64)
			}
			assert.InDelta(t, a[k], b[k], limit, "%s.%s of %v %v", name, k, g["service"], g["method"])
		}
		delete(g, name)
		delete(o, name)
	}
}
