//go:build !linux

package record

import (
	"fmt"
	"os"
)

// Writable reports whether there is such a folder: rights are given up on Linux only.
func Writable(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("%s: no files can be created in this folder: %s", dir, reason(err))
	}
	if !info.IsDir() {
		return fmt.Errorf("%s: is no folder", dir)
	}
	return nil
}
