//go:build !(linux && amd64)

package mapped

import "os"

// File is a mapped file.
type File struct{}

// Open returns nil: files are mapped on Linux and amd64 only.
func Open(*os.File) *File { return nil }

// Bytes returns the whole file.
func (*File) Bytes() []byte { return nil }

// Load returns 0.
func (*File) Load(_, _ int) int { return 0 }

// Cut returns -1.
func (*File) Cut() int64 { return -1 }

// Drop does nothing.
func (*File) Drop(int) {}

// Close does nothing.
func (*File) Close() {}
