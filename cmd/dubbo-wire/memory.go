package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// collection is when garbage is collected.
type collection struct {
	percent int   // by which the heap grows between two collections; the runtime collects no heap below percent % of 4 MB
	limit   int64 // the soft memory limit in bytes
}

var (
	// firstCollection comes when the heap has 32 MB. Most captures need less in all, however large they are, because almost nothing is allocated
	// per packet. The limit counts until it is known that the first collection has ended.
	firstCollection = collection{800, 48 << 20}
	// usualCollections come when the heap has doubled. Ordinary captures need a tenth of the limit. With more than that in use, the heap of a
	// capture with many connections would reach twice the memory in use.
	usualCollections = collection{100, 512 << 20}
	// redactCollections are those of redact. What is allocated for many connections stays: a garbage collection costs less than the memory that
	// it saves. A tenth would save more for hundreds of thousands of connections, and cost a twentieth of the time with few. redact keeps packets
	// and bodies besides what analyze has: with the limit of others their garbage would be collected all the time.
	redactCollections = collection{20, 1 << 30}
)

// laterCollections are those after the first one.
var laterCollections atomic.Pointer[collection]

// Whether GOGC and GOMEMLIMIT leave the percentage and the limit to the program.
var ownPercent, ownLimit atomic.Bool

// set makes the next collection come as c says.
func (c *collection) set() {
	if ownPercent.Load() {
		debug.SetGCPercent(c.percent)
	}
	if ownLimit.Load() {
		debug.SetMemoryLimit(c.limit)
	}
}

// tuneMemory gives back what starting needed, and sets when garbage is collected, until release is called.
func tuneMemory() (release func()) {
	dropStartPages()
	percent := debug.SetGCPercent(-1)
	debug.SetGCPercent(percent)
	ownPercent.Store(percent == 100)
	ownLimit.Store(debug.SetMemoryLimit(-1) == math.MaxInt64)
	laterCollections.Store(&usualCollections)
	firstCollection.set()
	// Nothing refers to this array, which the first collection finds.
	runtime.AddCleanup(new([64]byte), func(struct{}) { laterCollections.Load().set() }, struct{}{})
	return untouched(untouchedByAll)
}

// untouchedByAll is how many bytes count as part of the heap ([untouched]) of all commands. Without them a small heap would be collected
// every 2 MB, each time with everything that the program has in the first place.
const untouchedByAll = 8 << 20

// untouchedByRecords is as untouchedByAll, besides, for commands that print records, whose heap would be collected several times a second. Tests
// have a larger heap, where it would be cleared.
var untouchedByRecords = 8 << 20

// untouchedByRedact is as untouchedByAll, besides, for redact, whose collections come when the heap has grown by a fifth.
var untouchedByRedact = 64 << 20

// untouched makes n bytes count as part of the heap until release is called. They take no memory, since nothing touches them.
func untouched(n int) (release func()) {
	b := make([]byte, n)
	return func() { runtime.KeepAlive(b) }
}
