package live

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/findings"
	"dubbo-wire/internal/pipeline"
)

// each is a sink that passes closed calls to a function.
type each func(*call.Call)

func (each) Frame(*pipeline.Row)         {}
func (f each) Call(c *call.Call, _ bool) { f(c) }

func sum[T any](list []T, of func(*T) int64) (n int64) {
	for i := range list {
		n += of(&list[i])
	}
	return n
}

func forEachCall(t *testing.T, file string, f func(*call.Call)) {
	src, err := capture.Open([]string{"../../testdata/captures/" + file}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	_, err = pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All()}, each(f))
	require.NoError(t, err)
}

// newRing returns a ring of one second whose calls of a selection are aggregated.
func newRing(of Selection) *ring {
	r := &ring{}
	r.selects(of, 0)
	r.startSecond(0)
	return r
}

// TestSelection: the rows of a selection have the calls, errors and bytes of the row that was opened, in every grouping.
func TestSelection(t *testing.T) {
	const file = "fleet.pcap.zst"
	plain := newRing(Selection{})
	forEachCall(t, file, plain.call)
	rings := make(map[Selection]*ring)
	rows := make(map[Selection]Row)
	for by := ByService; by < groupings; by++ {
		for _, r := range plain.table(by, "", 1).rows[:2] {
			of, ok := Selection{}.And(by, r.Name)
			require.True(t, ok)
			rings[of], rows[of] = newRing(of), r
		}
	}
	forEachCall(t, file, func(c *call.Call) {
		for _, r := range rings {
			r.call(c)
		}
	})
	for of, r := range rings {
		want := rows[of]
		for by := ByMethod; by < groupings; by++ {
			if of.Decides(by) {
				continue
			}
			got := r.table(by, "", 1)
			name := fmt.Sprint(of, " by ", by)
			assert.Equal(t, want.Calls, sum(got.rows, func(r *Row) int64 { return r.Calls }), name)
			bits, failed := 0.0, 0.0
			for i := range got.rows {
				bits += got.rows[i].Number("Mbit/s")
				failed += max(got.rows[i].Number("errors"), 0) * float64(got.rows[i].Calls)
			}
			assert.InEpsilon(t, want.Number("Mbit/s"), bits, 1e-9, name)
			assert.InDelta(t, want.Number("errors")*float64(want.Calls), failed, 1e-6, name)
		}
	}
}

// TestSelectionSpan: rows that are counted since the row was opened cover the time since then.
func TestSelectionSpan(t *testing.T) {
	const s = int64(1e9)
	window := Window(0).Duration()
	r := &ring{}
	for at := range int64(20) {
		r.startSecond(at * s)
	}
	now := 20 * s
	assert.Equal(t, window, r.table(ByMethod, "", now).span)
	r.selects(Selection{Client: "10.0.0.1"}, now-s/2)
	assert.EqualValues(t, s/2, r.table(ByMethod, "", now).span)
	assert.Equal(t, window, r.table(ByServer, "", now).span, "the addresses of all calls are counted")
	r.selects(Selection{Serialization: "kryo"}, now)
	assert.Equal(t, window, r.table(ByMethod, "", now).span)
	assert.Equal(t, window, r.table(ByPair, "", now).span)
	for at := range int64(20) {
		r.startSecond(now + at*s)
	}
	assert.Equal(t, window, r.table(ByMethod, "", now+20*s).span)
}

// TestWindow: a longer window fills up with time and has as many parts; a shorter one drops what is older.
func TestWindow(t *testing.T) {
	const s = int64(1e9)
	r, now := &ring{}, int64(0)
	next := func(n int, w Window) (span time.Duration) {
		r.window = w
		for range n {
			r.startSecond(now)
			now += s
			r.call(&call.Call{Request: &call.Message{Details: &call.Details{}}, Conn: &call.Conn{Ends: [2]string{"a:1", "b:2"}}})
			assert.LessOrEqual(t, len(r.seconds), maxSeconds)
		}
		list, span := r.groups(ByMethod, now)
		calls := int64(0)
		for _, g := range list {
			calls += g.Calls
		}
		assert.Equal(t, int64(span.Seconds()), calls, "one call in each second")
		return span
	}
	assert.Equal(t, 10*time.Second, next(30, 0))
	assert.Equal(t, 30*time.Second, next(20, 1))
	assert.InDelta(t, 57, next(100, 1).Seconds(), 3)
	assert.InDelta(t, 157, next(100, 2).Seconds(), 3)
	assert.InDelta(t, 285, next(1000, 2).Seconds(), 15)
	assert.Len(t, r.seconds, perWindow)
	assert.LessOrEqual(t, next(1, 0), 31*time.Second)
	assert.Equal(t, 10*time.Second, next(60, 0))
}

// TestUnanswered: rows without a response have no share of errors.
func TestUnanswered(t *testing.T) {
	r := newRing(Selection{})
	forEachCall(t, "requests-only.pcap.zst", r.call)
	for _, row := range r.table(ByMethod, "", 1).rows {
		assert.InDelta(t, -1, row.Number("errors"), 0)
		assert.InDelta(t, -1, row.Number("response mean"), 0)
	}
}

// TestFailures: the failed calls of a capture by cause add up to its errors; kinds beyond the limit share one row.
func TestFailures(t *testing.T) {
	r := newRing(Selection{})
	forEachCall(t, "fleet.pcap.zst", r.call)
	list := r.failures()
	require.NotEmpty(t, list)
	assert.Equal(t, r.current().errors, sum(list, func(f *Failure) int64 { return f.Calls }))
	assert.True(t, slices.IsSortedFunc(list, func(a, b Failure) int { return cmp.Compare(b.Calls, a.Calls) }))
	share := 0.0
	for _, f := range list {
		assert.NotEmpty(t, f.Cause)
		assert.NotEmpty(t, f.Client)
		assert.Positive(t, f.Last)
		share += f.Percent
	}
	assert.InDelta(t, 100, share, 1e-6)

	for at := range int64(3) {
		r.startSecond(at)
		for i := range 2 * maxFailures {
			r.current().failures.add(failureKey{cause: fmt.Sprint(i)}, failureCount{1, at}, maxFailures)
		}
	}
	list = r.failures()
	assert.LessOrEqual(t, len(list), maxFailures+1)
	assert.Equal(t, r.seconds[0].errors+6*maxFailures, sum(list, func(f *Failure) int64 { return f.Calls }))
	assert.Empty(t, list[len(list)-1].Cause)

	// Different kinds in each second: the same rows however often they are asked for.
	for at := range int64(3) {
		r.startSecond(at + 3)
		for i := range maxFailures {
			r.current().failures.add(failureKey{cause: fmt.Sprint(at, i)}, failureCount{1, at}, maxFailures)
		}
	}
	list = r.failures()
	assert.Len(t, list, maxFailures+1)
	for range 5 {
		assert.Equal(t, list, r.failures())
	}
}

// TestCallLists: the lists have the newest calls, and those with the largest numbers of all.
func TestCallLists(t *testing.T) {
	var lists callLists
	var all []Call
	forEachCall(t, "fleet.pcap.zst", func(c *call.Call) {
		if c.Request != nil {
			lists.add(c)
			all = append(all, newCall(c))
		}
	})
	slices.Reverse(all)
	assert.Equal(t, all[:latestCalls], newest(lists.latest))
	failed := slices.DeleteFunc(slices.Clone(all), func(c Call) bool { return !c.Failed })
	assert.Equal(t, failed[:min(len(failed), listedCalls)], newest(lists.failed))
	for _, list := range []struct {
		calls  []Call
		number func(Call) int64
	}{{lists.slowest, latencyOf}, {lists.largest, sizeOf}} {
		var want, got []int64
		for _, c := range sorted(all, list.number)[:listedCalls] {
			want = append(want, list.number(c))
		}
		for _, c := range sorted(list.calls, list.number) {
			got = append(got, list.number(c))
		}
		assert.Equal(t, want, got)
	}
}

// TestErrorTexts: while failed calls are shown, the texts of statuses and the classes of exceptions are read, without values.
func TestErrorTexts(t *testing.T) {
	snapshots, _, _ := watch(t, "fleet.pcap.zst", func(int) Settings { return Settings{Errors: true} }, Probe{})
	known, all := int64(0), int64(0)
	for _, f := range snapshots[len(snapshots)-1].Failures {
		if all += f.Calls; f.Text != "" || f.Cause != "exception" {
			known += f.Calls
		}
		if f.Text != "" {
			assert.Equal(t, "BAD_REQUEST", f.Cause)
			assert.Equal(t, f.Text, findings.CauseOf(f.Text+" 4711"))
		}
	}
	require.Positive(t, all)
	assert.Greater(t, float64(known), 0.9*float64(all))
}
