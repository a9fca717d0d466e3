package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// percentNow returns by how many percent the heap grows between two collections.
func percentNow() int {
	percent := debug.SetGCPercent(-1)
	debug.SetGCPercent(percent)
	return percent
}

// The first collection comes late, and later ones as usual. What the environment sets stays.
func TestCollections(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	tuneMemory()()
	// What tests before this one have left may have been collected already.
	assert.Contains(t, []int{firstCollection.percent, usualCollections.percent}, percentNow())
	require.Eventually(t, func() bool {
		runtime.GC()
		return percentNow() == usualCollections.percent && debug.SetMemoryLimit(-1) == usualCollections.limit
	}, time.Minute, time.Millisecond)

	debug.SetGCPercent(77)
	debug.SetMemoryLimit(1 << 40)
	tuneMemory()()
	redactCollections.set()
	assert.Equal(t, collection{77, 1 << 40}, collection{percentNow(), debug.SetMemoryLimit(-1)})
	ownPercent, ownLimit = false, false
}
