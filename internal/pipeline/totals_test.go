package pipeline

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/rpc"
)

// TestControlShares: the protocols of a connection have shares of its control bytes by their calls, which add up to all of them.
func TestControlShares(t *testing.T) {
	a, b, c := &rpc.Protocol{Name: "a"}, &rpc.Protocol{Name: "b"}, &rpc.Protocol{Name: "c"}
	for _, k := range []struct {
		bytes int64
		used  []usedProtocol
		want  map[string]*Control
	}{
		{90, []usedProtocol{{a, 5}}, map[string]*Control{"a": {5, 90}}},
		{90, []usedProtocol{{a, 1}, {b, 8}}, map[string]*Control{"a": {1, 10}, "b": {8, 80}}},
		{100, []usedProtocol{{a, 1}, {b, 1}, {c, 1}}, map[string]*Control{"a": {1, 33}, "b": {1, 33}, "c": {1, 34}}},
		{100, []usedProtocol{{a, 0}, {b, 3}}, map[string]*Control{"a": {0, 0}, "b": {3, 100}}},
		{100, []usedProtocol{{a, 0}, {b, 0}}, map[string]*Control{"a": {0, 100}, "b": {0, 0}}},
		{math.MaxInt64, []usedProtocol{{a, 1 << 40}, {b, 1 << 40}}, map[string]*Control{"a": {1 << 40, math.MaxInt64 / 2}, "b": {1 << 40, math.MaxInt64/2 + 1}}},
	} {
		t1 := &Totals{Other: map[string]*Other{"x": {}, "y": {}}}
		t1.addControl(&connection{
			inUse: k.used[0], lane: &lane{worker: &worker{opt: &Options{}}},
			seldom: &seldom{used: k.used, unowned: []namedBytes{{"x", k.bytes / 3}, {"y", k.bytes - k.bytes/3}}},
		})
		assert.Equal(t, k.want, t1.Control)
		assert.True(t, t1.Other["x"].Control && t1.Other["y"].Control)
	}
}
