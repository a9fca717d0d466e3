//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak is the largest resident memory of a process that ended, in bytes.
func peak(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	n := int64(u.Maxrss) // 32 bits on some systems
	if runtime.GOOS != "darwin" {
		n <<= 10
	}
	return n
}
