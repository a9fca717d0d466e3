package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"dubbo-wire/internal/dev/bench"
)

// The table of serializations: how many bytes of bodies a second are walked, which is what analyze --parts does with them,
// and read as values and printed, which is what calls does. All rows are measured in turn within a round, for a slice of
// processor time each; figures are medians of the rounds, ratios medians of the ratios within a round.

// leastOfPeer is the bar: how many times as many bytes as by dubbo-go-hessian2 are walked.
const leastOfPeer = 15.0

// formatRounds is how many rounds there are unless it is said.
const formatRounds = 21

// slice is how long a row is measured in a round.
const slice = 8 * time.Millisecond

// rate is one row's bytes per second in each round.
type rate []float64

func (r rate) median() float64 { return median(len(r), func(i int) float64 { return r[i] }) }

// over returns the median of the ratios to base within a round.
func (r rate) over(base rate) float64 {
	return median(len(r), func(i int) float64 { return r[i] / base[i] })
}

// formatRow is a serialization with what was measured of it.
type formatRow struct {
	*workload
	walked, printed           rate
	walkAllocs, printedAllocs float64 // per body, per value
}

// measureFormats measures and prints the table, and reports whether the bar was held.
func measureFormats(out io.Writer, dir string, rounds int) (bool, error) {
	all, err := posts(dir)
	if err != nil {
		return false, err
	}
	benchmark, err := mix()
	if err != nil {
		return false, err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the collector's time is time of the row that made it work
	rows := make([]formatRow, len(all))
	for i, w := range all {
		rows[i].workload = w
		rows[i].walkAllocs = allocs(w.walk) / float64(len(w.frames))
		rows[i].printedAllocs = allocs(w.print) / float64(w.values)
	}
	var walked, peer rate
	for range rounds {
		walked = append(walked, perSecond(benchmark.bytes, benchmark.walk))
		peer = append(peer, perSecond(benchmark.bytes, func() { _, _ = benchmark.peer() }))
		for i := range rows {
			r := &rows[i]
			r.walked = append(r.walked, perSecond(r.bytes, r.walk))
			r.printed = append(r.printed, perSecond(r.bytes, r.print))
		}
	}
	writeFormats(out, rows)
	times := walked.over(peer)
	verdict, held := judgePeer(times)
	fmt.Fprintf(out, "\nHessian2 on the benchmark's mix (%d bodies, %.1f MB): walked at %.0f MB/s, decoded by dubbo-go-hessian2 at %.0f MB/s: %.1f × (at least %.0f) %s\n",
		len(benchmark.frames), float64(benchmark.bytes)/1e6, walked.median()/1e6, peer.median()/1e6, times, leastOfPeer, verdict)
	if err := measureContents(out, dir, rounds); err != nil {
		return false, err
	}
	fmt.Fprintf(out, "\nmedians of %d rounds, in which all took turns; MB of bodies per second of processor time\n", rounds)
	return held, nil
}

// judgePeer returns the verdict on how many times as many bytes as by dubbo-go-hessian2 are walked, and whether the bar was held.
func judgePeer(times float64) (verdict string, held bool) {
	if times < leastOfPeer {
		return "MISSED", false
	}
	return "ok", true
}

// writeFormats prints the rows. How fast a serialization is walked beside hessian2 has no bar: what counters beside readers may
// gain is judged where they are, and most formats have none.
func writeFormats(out io.Writer, rows []formatRow) {
	base := slices.IndexFunc(rows, func(r formatRow) bool { return r.name == "hessian2" })
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "bodies of posts\tKB\tvalues\twalked MB/s\t× hessian2\tallocs/body\tprinted MB/s\tallocs/value\t")
	for i := range rows {
		r := &rows[i]
		fmt.Fprintf(w, "%s\t%.0f\t%d\t%.0f\t%.2f\t%.2f\t%.0f\t%.2f\t\n", r.name, float64(r.bytes)/1e3, r.values,
			r.walked.median()/1e6, r.walked.over(rows[base].walked), r.walkAllocs, r.printed.median()/1e6, r.printedAllocs)
	}
	_ = w.Flush()
}

// perSecond calls f for a slice of processor time and returns how many bytes a second that is, n being those of one call.
func perSecond(n int, f func()) float64 {
	calls := 0
	for begin := bench.CPUTime(); ; {
		f()
		calls++
		if took := bench.CPUTime() - begin; took >= slice {
			return float64(calls*n) / took.Seconds()
		}
	}
}

// allocs is how often a call of f allocates, once it has all that it keeps.
func allocs(f func()) float64 {
	const calls = 8
	f()
	f()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		f()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / calls
}
