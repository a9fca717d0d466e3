//go:build !linux

package capture

import (
	"io"
	"os"
)

// newCachedReader returns a reader of a regular file, which stays the caller's to close.
func newCachedReader(f *os.File) io.Reader { return f }
