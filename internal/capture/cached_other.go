//go:build !linux

package capture

import (
	"io"
	"os"
)

// cachedFirst returns a reader of a regular file, which stays the caller's to close.
func cachedFirst(f *os.File) io.Reader { return f }
