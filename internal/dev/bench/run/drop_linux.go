package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// drop writes a file to its disk, and lets the kernel drop its cached pages.
func drop(f *os.File) error {
	if err := f.Sync(); err != nil {
		return err
	}
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}
