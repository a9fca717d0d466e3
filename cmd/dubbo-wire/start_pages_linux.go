package main

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// dropStartPages gives back the pages of the program's file that are in memory: starting needs some 18 MiB of them, and most of those
// are not needed again. The system loads a page again when it is used. Pages that were changed have no other copy and stay.
func dropStartPages() {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	var start, end uint64
	for line := range strings.Lines(string(smaps)) {
		f := strings.Fields(line)
		if from, to, ok := strings.Cut(f[0], "-"); ok {
			start, end = 0, 0
			if len(f) == 6 && f[5] == exe && (f[1] == "r-xp" || f[1] == "r--p") {
				start, _ = strconv.ParseUint(from, 16, 64)
				end, _ = strconv.ParseUint(to, 16, 64)
			}
		}
		if start < end && f[0] == "Anonymous:" && f[1] == "0" {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(start), uintptr(end-start), unix.MADV_DONTNEED)
		}
	}
}
