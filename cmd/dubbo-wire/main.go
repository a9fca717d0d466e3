// Command dubbo-wire measures what Apache Dubbo calls weigh on the wire.
package main

import (
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// gcPercent lets the heap grow by half between two collections: next to nothing is allocated per packet, so that there
// are few.
const gcPercent = 50

// softMemory is where the garbage collector starts to work harder, in bytes. Ordinary captures need a tenth of it; one
// that opens hundreds of thousands of connections would else reach twice what is in use.
const softMemory = 512 << 20

func main() {
	if before := debug.SetGCPercent(gcPercent); before != 100 { // GOGC says otherwise
		debug.SetGCPercent(before)
	}
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // GOMEMLIMIT does not say otherwise
		debug.SetMemoryLimit(softMemory)
	}
	// A closed pipe is an error like others, so that unfinished files are removed; nothing is said of it.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
