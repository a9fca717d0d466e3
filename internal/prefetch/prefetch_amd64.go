package prefetch

import "unsafe"

// Places begins to load the memory that places point to.
//
//go:noescape
func Places(places []unsafe.Pointer)

// Bytes begins to load the bytes of b.
//
//go:noescape
func Bytes(b []byte)

// Write begins to load n bytes at p that will be written, which may be in the cache of another processor. Old processors do nothing.
//
//go:noescape
func Write(p unsafe.Pointer, n uintptr)

// Packet begins to load 256 bytes at p, and the first ones at two places after it, which are that many bytes apart. No byte need be there.
func Packet(p unsafe.Pointer, apart int)
