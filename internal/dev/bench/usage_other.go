//go:build !unix

package bench

import (
	"os"
	"time"
)

var begin = time.Now()

// CPUTime returns the time since the start of the program.
func CPUTime() time.Duration { return time.Since(begin) }

// PeakMemory returns 0: it is not known here.
func PeakMemory(*os.ProcessState) int64 { return 0 }
