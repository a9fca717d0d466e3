package report

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/sizes"
)

// A saved report is the JSON report with buckets. Beside what the contract names it has an object "saved": what tables
// say and the sums of several reports rest on. It is read back by Read, and adds up by Merge.

// counter is a number of the books that several reports add up.
type counter struct {
	name string
	at   *int64
}

// savedCounters are the numbers of the books that only a saved report has. Counts, or bytes where the name says so.
func savedCounters(t *pipeline.Totals) []counter {
	return []counter{
		{"packets", &t.Packets},
		{"completeBytes", &t.CompleteBytes},
		{"calls", &t.Calls},
		{"oneWay", &t.OneWay},
		{"errors", &t.Errors},
		{"requestsExpiredByTime", &t.ExpiredByTime},
		{"packetsWithPayload", &t.TCP.Data},
		{"payloadBytes", &t.TCP.Payload},
		{"duplicatePackets", &t.TCP.Duplicates},
		{"differingPackets", &t.TCP.Differing},
		{"strayPackets", &t.TCP.Strays},
		{"strayBytes", &t.TCP.Stray},
		{"connectionsIdle", &t.TCP.Idle},
		{"connectionsForgotten", &t.TCP.Forgotten},
		{"betweenBytes", &t.Between},
		{"lostGaps", &t.LostGaps},
		{"lostBytes", &t.LostBytes},
		{"clockSteps", &t.ClockSteps},
	}
}

// otherCounters are the numbers of the books that every JSON report has.
func otherCounters(t *pipeline.Totals) []counter {
	return []counter{
		{"", &t.LinkBytes},
		{"", &t.RPCBytes},
		{"", &t.EventBytes},
		{"", &t.IncompleteBytes},
		{"", &t.TCP.Repeated},
		{"", &t.TCP.Duplicate},
		{"", &t.NotTCPBytes},
		{"", &t.FragmentBytes},
		{"", &t.OffloadedPackets},
		{"", &t.TCP.Stream},
		{"", &t.FrameBytes},
		{"", &t.Skipped},
		{"", &t.Gap},
		{"", &t.TCP.Connections},
		{"", &t.TCP.WithoutData},
		{"", &t.TCP.Joined},
		{"", &t.TCP.Expired},
		{"", &t.Frames},
		{"", &t.Incomplete},
		{"", &t.BodiesDecoded},
		{"", &t.BodiesPartly},
		{"", &t.BodiesOpaque},
		{"", &t.Unanswered},
		{"", &t.Orphans},
		{"", &t.Heartbeats},
		{"", &t.Events},
		{"", &t.Resynced},
		{"", &t.NegativeLengths},
		{"", &t.Expired},
	}
}

// saved is what a report needs beyond the contract to be read back.
func (r *Report) saved() object {
	o := object{}
	if r.Filter != "" {
		o = append(o, member{"filter", r.Filter})
	}
	for _, c := range savedCounters(r.Totals) {
		o = append(o, member{c.name, *c.at})
	}
	if r.Totals.ClockSteps > 0 {
		o = append(o, member{"steadyNanos", r.Totals.Steady})
	}
	kinds := []object{}
	for _, k := range slices.Sorted(maps.Keys(r.Totals.NotTCP)) {
		kinds = append(kinds, object{{"protocol", k}, {"packets", r.Totals.NotTCP[k]}})
	}
	snap := make([]int, len(r.Inputs))
	for i := range r.Inputs {
		snap[i] = r.Inputs[i].SnapLen
	}
	return append(o, member{"notTcp", kinds}, member{"snapLengths", snap})
}

// checkCounts holds a group that was read to what is so of every group: it has no more errors, messages or times than calls.
func checkCounts(g *sizes.Group) error {
	for _, n := range []struct {
		what  string
		n     int64
		whole string
		of    int64
	}{
		{"errors", g.Errors, "calls", g.Calls},
		{"exceptions", g.Exceptions, "errors", g.Errors},
		{"one-way or unanswered calls", g.OneWay + g.Unanswered, "calls", g.Calls},
		{"requests", g.Request.Body.Count, "calls", g.Calls},
		{"responses", g.Response.Body.Count, "calls", g.Calls},
		{"wire sizes of requests", g.Request.Wire.Count, "requests", g.Request.Body.Count},
		{"wire sizes of responses", g.Response.Wire.Count, "responses", g.Response.Body.Count},
		{"latencies", g.Latency.Count, "calls", g.Calls},
		{"waits", g.Wait.Count, "calls", g.Calls},
	} {
		if n.n > n.of {
			return fmt.Errorf("has %d %s of %d %s; save it again", n.n, n.what, n.of, n.whole)
		}
	}
	if g.Request.Frame.Count != g.Request.Body.Count || g.Response.Frame.Count != g.Response.Body.Count {
		return errors.New("has other counts of frames than of bodies; save it again")
	}
	return nil
}

// sum adds the groups up again, and puts them in order.
func (r *Report) sum() {
	r.By.Sort(r.Groups)
	r.Selected = sizes.Group{}
	for _, g := range r.Groups {
		r.Selected.Merge(g)
	}
}
