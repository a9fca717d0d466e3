// Package mapped maps files into memory, so that their bytes are read without being copied.
//
// If another process cuts the file, or a disk fails, an access to a missing page is a fault (SIGBUS), which ends a Go program. This package replaces the
// handler of the signal: its own handler puts a page of zeros there, which [File.Cut] reports. It passes faults of other memory to the handler of
// the Go runtime.
package mapped

// Unit is the number of bytes that are mapped or given back at once: a page of the larger kind on most processors.
const Unit = 2 << 20
