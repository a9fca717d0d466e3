// Package mapped maps files into memory, so that their bytes are read without being copied.
//
// An access to a page that is no longer part of its file, because another process has cut it, or that cannot be read from a disk, is a fault
// (SIGBUS) that would end the program. The signal's handler is replaced by one that puts a page of zeros there, and says so in [File.Cut]. Faults of other
// memory go to the handler of the Go runtime.
package mapped

// Unit is the number of bytes that are mapped or given back at once: a page of the larger kind on most processors.
const Unit = 2 << 20
