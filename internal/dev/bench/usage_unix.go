//go:build unix

package bench

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// CPUTime returns the processor time of this process.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// PeakMemory returns the largest resident memory of a process that ended, in bytes.
func PeakMemory(s *os.ProcessState) int64 {
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
