package record

import (
	"fmt"
	"os"
	"syscall"
)

// Writable reports whether this process may create files in a folder, with the rights that it has now. It is asked
// once rights were given up, so that a recording that will need more files says so at its start.
func Writable(dir string) error {
	const writeAndSearch, effective = 2 | 1, 0x200 // W_OK, X_OK; AT_EACCESS
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s: is no folder", dir)
	}
	const here = -100 // AT_FDCWD
	if err := syscall.Faccessat(here, dir, writeAndSearch, effective); err != nil {
		return fmt.Errorf("%s: no files can be created in this folder: %w", dir, err)
	}
	return nil
}
