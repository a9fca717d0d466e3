// Command dubbo-wire measures what Apache Dubbo calls weigh on the wire.
package main

import (
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
)

// gcPercent lets the heap grow by half between two collections. They are rare, because almost nothing is allocated per
// packet.
const gcPercent = 50

// softMemory is the soft memory limit in bytes. Ordinary captures need a tenth of it. Without it, the heap of a capture
// with hundreds of thousands of connections would reach twice the memory in use.
const softMemory = 512 << 20

// ballastSize is bytes of the heap that are never touched, so they take no memory, but count for the garbage collection: with a
// small heap it would come every 2 MB.
const ballastSize = 8 << 20

func main() {
	if before := debug.SetGCPercent(gcPercent); before != 100 { // GOGC is set
		debug.SetGCPercent(before)
	}
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // GOMEMLIMIT is not set
		debug.SetMemoryLimit(softMemory)
	}
	ballast := make([]byte, ballastSize)
	// Writing to a closed pipe returns an error, so that unfinished files are removed. The program does not print it.
	signal.Ignore(syscall.SIGPIPE)
	code := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	runtime.KeepAlive(ballast)
	os.Exit(code)
}
