package formattest

import (
	"runtime"
	"testing"
	"time"
)

// What all walks of one body together may allocate, in bytes, and take: so much at first, and so much per byte of the
// body. A walk with values allocates the most: each byte may be a value, of which the tree keeps 150 bytes, twice while
// it grows, and there are several walks.
const (
	allocatedAtFirst = 4 << 20
	allocatedPerByte = 4 << 10
	tookAtFirst      = 5 * time.Second
	tookPerByte      = 20 * time.Microsecond
)

// bounded checks that walk keeps to what a body of n bytes may cost: nothing is allocated that the body merely claims.
func bounded(tb testing.TB, n int, walk func()) {
	tb.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	walk()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > uint64(allocatedAtFirst+allocatedPerByte*n) {
		tb.Fatalf("%d bytes allocated for a body of %d", got, n)
	}
	if took > tookAtFirst+time.Duration(n)*tookPerByte {
		tb.Fatalf("%v taken for a body of %d bytes", took, n)
	}
}
