package pipeline

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	_ "dubbo-wire/internal/dev/testkit" // the flag -update
)

// TestClock: what is due by time sees a clock that goes on, whatever is done to the recording machine's.
func TestClock(t *testing.T) {
	const s = int64(time.Second)
	for _, test := range []struct {
		name  string
		live  bool
		times []int64
		want  []int64
	}{
		{"forward", false, []int64{100, 100 + s, 100 + 3600*s}, []int64{100, 100 + s, 100 + 3600*s}},
		{"a little out of order", false, []int64{5 * s, 5*s - s/2, 5*s + 1}, []int64{5 * s, 5 * s, 5*s + 1}},
		{"a file with packets from before", false, []int64{60 * s, s, 2 * s, 61 * s, 3 * s, 62 * s}, []int64{60 * s, 60 * s, 60 * s, 61 * s, 61 * s, 62 * s}},
		{"set back by an hour", true, []int64{7200 * s, 3600 * s, 3601 * s, 3600*s + s/2}, []int64{7200 * s, 7200 * s, 7201 * s, 7201 * s}},
		{"set back twice", true, []int64{100 * s, 50 * s, 51 * s, 10 * s, 12 * s}, []int64{100 * s, 100 * s, 101 * s, 101 * s, 103 * s}},
		{"a pause in a file is a pause", false, []int64{s, 3600 * s}, []int64{s, 3600 * s}},
		{"set forward while packets are waited for", true, []int64{s, 3600 * s, 3601 * s}, []int64{s, s, 2 * s}},
		{"silence while packets are waited for", true, []int64{s, 9 * s, 18 * s}, []int64{s, 9 * s, 18 * s}},
	} {
		c := clock{live: test.live, checkedAt: time.Now()}
		var got []int64
		for _, at := range test.times {
			got = append(got, c.at(at))
		}
		assert.Equal(t, test.want, got, test.name)
	}
}

// TestClockOfFile: the clock of a file's machine was set back when many packets in a row say so.
func TestClockOfFile(t *testing.T) {
	const hour, s = int64(time.Hour), int64(time.Second)
	var c clock
	c.at(2 * hour)
	for i := range int64(minBackward) {
		assert.Equal(t, 2*hour, c.at(hour+i))
	}
	assert.Equal(t, 2*hour, c.at(hour+s))
	assert.Equal(t, 2*hour+s, c.at(hour+2*s))
}

// TestClockOfStopped: time that has passed is not a step, though nobody looked.
func TestClockOfStopped(t *testing.T) {
	const s = int64(time.Second)
	c := clock{live: true, checkedAt: time.Now()}
	c.at(s)
	c.checkedAt = time.Now().Add(-time.Minute)
	assert.Equal(t, 61*s, c.at(61*s))
	assert.Zero(t, c.steps)
	c.checkedAt = time.Now()
	assert.Equal(t, 61*s, c.at(3600*s))
	assert.Equal(t, int64(1), c.steps)
}
