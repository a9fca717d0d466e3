//go:build unix

package main

import (
	"syscall"
	"time"
)

// cpu is the processor time that this process has taken: other programs do not count.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
