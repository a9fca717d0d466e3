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

// Bytes that count as part of the heap ([untouched]) of all commands and, besides, of those that print records. Without them a small heap would be
// collected every 2 MB, and that of records several times a second, each time with everything that the program has in the first place. Tests have
// a larger heap, where those of records would be cleared.
const untouchedByAll = 8 << 20

var untouchedByRecords = 8 << 20

// untouched makes n bytes count as part of the heap until release is called. They take no memory, since nothing touches them.
func untouched(n int) (release func()) {
	b := make([]byte, n)
	return func() { runtime.KeepAlive(b) }
}

func main() {
	if before := debug.SetGCPercent(gcPercent); before != 100 { // GOGC is set
		debug.SetGCPercent(before)
	}
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // GOMEMLIMIT is not set
		debug.SetMemoryLimit(softMemory)
	}
	release := untouched(untouchedByAll)
	// Writing to a closed pipe returns an error, so that unfinished files are removed. The program does not print it.
	signal.Ignore(syscall.SIGPIPE)
	code := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	release()
	os.Exit(code)
}
