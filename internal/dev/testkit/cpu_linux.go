package testkit

import (
	"runtime"
	"syscall"
	"time"
)

// CPU starts a measurement of the processor time of the calling goroutine; the function that it returns ends it. Unlike the
// time on a clock, it does not depend on what else runs on the machine, so a test may hold it against a bound far above what
// is needed. Where the system cannot tell, it is 0.
func CPU() (used func() time.Duration) {
	runtime.LockOSThread()
	before := threadTime()
	return func() time.Duration {
		defer runtime.UnlockOSThread()
		return threadTime() - before
	}
}

func threadTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thread, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
