package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// collectionsNow returns when garbage is collected, and changes nothing: the first collection may end at any time.
func collectionsNow() collection {
	samples := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(samples)
	return collection{int(samples[0].Value.Uint64()), int64(samples[1].Value.Uint64())}
}

// The first collection comes late, and later ones as usual. What the environment sets stays.
func TestCollections(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	tuneMemory()()
	// What tests before this one have left may have been collected already.
	assert.Contains(t, []int{firstCollection.percent, usualCollections.percent}, collectionsNow().percent)
	require.Eventually(t, func() bool {
		runtime.GC()
		return collectionsNow() == usualCollections
	}, time.Minute, time.Millisecond)

	debug.SetGCPercent(77)
	debug.SetMemoryLimit(1 << 40)
	tuneMemory()()
	redactCollections.set()
	assert.Equal(t, collection{77, 1 << 40}, collectionsNow())
	ownPercent.Store(false)
	ownLimit.Store(false)
}
