//go:build !amd64

package prefetch

import "unsafe"

// Places begins to load the memory that places point to, where that is known how.
func Places([]unsafe.Pointer) {}

// Bytes begins to load the bytes of b, where that is known how.
func Bytes([]byte) {}

// Write begins to load bytes that will be written.
func Write(unsafe.Pointer, uintptr) {}

// Packet begins to load what a packet at p needs.
func Packet(unsafe.Pointer, int) {}
